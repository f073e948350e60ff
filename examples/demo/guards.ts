/** Who may have which file: for each path a guard that believes the user's secrets and no others. */
import { createPublicKey } from 'node:crypto'
import { concealedGuard } from '../../test/servers/concealed-guard.ts'
import { digestServer } from '../../test/servers/digest-server.ts'
import { dpopResource } from '../../test/servers/dpop-resource.ts'
import { gnapGuard } from '../../test/servers/gnap-guard.ts'
import { basicGuard, type Guard, keyGuard, wordGuard } from '../../test/servers/guards.ts'
import { hobaGuard } from '../../test/servers/hoba-guard.ts'
import { thumbprintOf } from '../../test/servers/jws.ts'
import { mutualServer } from '../../test/servers/mutual-server.ts'
import { oauth1Guard } from '../../test/servers/oauth1-guard.ts'
import { scramServer } from '../../test/servers/scram-server.ts'
import { vapidGuard } from '../../test/servers/vapid-guard.ts'
import { CLIENT_ID, KEY_ID, PORTAL_WORD, USERNAME } from './addresses.ts'
import type { Secrets } from './secrets.ts'

type Guards = Readonly<Record<string, Guard>>

/** The guards of the files that need no other server. */
export function guardsFor(secrets: Secrets): Guards {
  const { portalText, headerKey, queryKey, cookieKey } = secrets
  return {
    ...passwordGuards(secrets),
    ...proofGuards(secrets),
    '/portal/data.bin': wordGuard(PORTAL_WORD, portalText),
    '/key/header.bin': keyGuard('header', 'X-Api-Key', headerKey),
    '/key/query.bin': keyGuard('query', 'apikey', queryKey),
    '/key/cookie.bin': keyGuard('cookie', 'session', cookieKey),
  }
}

/** The guards of the files behind encryption. */
export function sealedGuards({ concealedKey }: Secrets): Guards {
  return { '/concealed/data.bin': concealedGuard(new Map([[KEY_ID, createPublicKey(concealedKey)]])) }
}

function passwordGuards({ password }: Secrets): Guards {
  const users = { [USERNAME]: password }
  return {
    '/basic/data.bin': basicGuard(USERNAME, password),
    '/digest/data.bin': digestServer({ username: USERNAME, password, algorithms: ['SHA-256', 'MD5'] }),
    '/mutual/data.bin': mutualServer({ users }),
    '/scram-sha-1/data.bin': scramServer({ users, mechanism: 'SCRAM-SHA-1' }),
    '/scram-sha-256/data.bin': scramServer({ users, mechanism: 'SCRAM-SHA-256' }),
  }
}

/** Their requests carry a signature; no server knows the key that makes it, but that of OAuth 1.0. */
function proofGuards({ boundToken, consumerSecret, tokenSecret, dpopKey, gnapKey, hobaKey, vapidKey }: Secrets): Guards {
  return {
    '/dpop/data.bin': dpopResource({ token: boundToken, jkt: thumbprintOf(createPublicKey(dpopKey)) }),
    '/gnap/data.bin': gnapGuard({ token: boundToken, keyId: KEY_ID, key: createPublicKey(gnapKey) }),
    '/hoba/data.bin': hobaGuard(new Map([[KEY_ID, createPublicKey(hobaKey)]])),
    '/oauth/data.bin': oauth1Guard({
      consumer: { key: CLIENT_ID, secret: consumerSecret },
      token: { value: boundToken, secret: tokenSecret },
    }),
    '/vapid/data.bin': vapidGuard(createPublicKey(vapidKey)),
  }
}

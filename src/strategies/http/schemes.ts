/** The HTTP authentication schemes that compute their credentials: one line each. All others take a ready-made value. */
import { basic } from './basic.ts'
import { bearer } from './bearer.ts'
import { concealed } from './concealed/concealed.ts'
import { digest } from './digest/digest.ts'
import { dpop } from './dpop/dpop.ts'
import { gnap } from './gnap/gnap.ts'
import { hoba } from './hoba/hoba.ts'
import { mutual } from './mutual/mutual.ts'
import { negotiate } from './negotiate/negotiate.ts'
import { oauth } from './oauth/oauth.ts'
import { privateToken } from './private-token/private-token.ts'
import type { HttpAuthScheme } from './scheme.ts'
import { scramSha1, scramSha256 } from './scram/scram.ts'
import { vapid } from './vapid/vapid.ts'

export const schemes: readonly HttpAuthScheme[] = [
  basic,
  bearer,
  concealed,
  digest,
  dpop,
  gnap,
  hoba,
  mutual,
  negotiate,
  oauth,
  privateToken,
  scramSha1,
  scramSha256,
  vapid,
]

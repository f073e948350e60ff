import type { Credential } from '../../../auth/credential.ts'
import { octets } from '../../../crypto/octets.ts'
import type { ChallengeError } from '../../../errors.ts'
import { type Challenge, isUtf8 } from '../../../http/challenge.ts'
import type { HttpResponse } from '../../../http/message.ts'
import type { HashName } from '../../../platform/platform.ts'
import { unanswerable } from '../unanswerable.ts'
import { ALGORITHMS } from './algorithms.ts'

/** A challenge that can be answered (RFC 7616 §3.3); all texts are byte strings, one character for each byte. */
export interface DigestChallenge {
  readonly realm: string
  readonly nonce: string
  readonly opaque: string | undefined
  /** As the server writes it; absent where the server left it out, which means MD5. */
  readonly algorithm: string | undefined
  readonly hash: HashName
  /** The hash of the account is bound to the nonce (`-sess`). */
  readonly isSession: boolean
  /** Absent in the form of RFC 2069. */
  readonly qop: 'auth' | 'auth-int' | undefined
  readonly userhash: boolean
  /** The address list of the challenge. */
  readonly domain: string | undefined
  /** The server wants the octets of UTF-8; it does not say so in the form of RFC 2617. */
  readonly isUtf8: boolean
}

/**
 * The challenge with the strongest algorithm that the entry allows: a weaker one is not taken instead when it is broken.
 * Errors: `AUTH_CHALLENGE_UNSUPPORTED` naming the algorithms or the parameter.
 */
export function strongest(challenges: readonly Challenge[], response: HttpResponse, credential: Credential): DigestChallenge {
  const allowed = ALGORITHMS.filter((name) => allows(credential, name))
  const ranked = allowed.flatMap((hash) => challenges.filter((challenge) => algorithmOf(challenge).hash === hash))
  if (ranked[0]) return answerable(ranked[0], (why) => unanswerable(response, credential, why))
  const offered = challenges.map((challenge) => (challenge.params.get('algorithm') ?? 'MD5').slice(0, 64)).join(', ')
  throw unanswerable(response, credential, `it offers Digest with ${offered}, and the entry allows ${allowed.join(', ')}`)
}

function allows({ algorithms }: Credential, name: HashName): boolean {
  return algorithms === undefined || (algorithms as readonly string[]).includes(name)
}

function algorithmOf({ params }: Challenge): { hash?: HashName; isSession: boolean } {
  const [, name, session] = /^(.+?)(-sess)?$/i.exec(params.get('algorithm') ?? 'MD5') ?? []
  const hash = ALGORITHMS.find((known) => known === name?.toUpperCase())
  return { ...(hash && { hash }), isSession: session !== undefined }
}

function answerable(challenge: Challenge, refusal: (why: string) => ChallengeError): DigestChallenge {
  const { params } = challenge
  const text = (name: string) => (isUtf8(challenge) ? octets(params.get(name) ?? '') : params.get(name))
  for (const name of ['realm', 'nonce']) if (!params.has(name)) throw refusal(`it lacks "${name}"`)
  const { hash = 'MD5', isSession } = algorithmOf(challenge)
  const qop = qopOf(params.get('qop'))
  if (qop === 'unknown' || (isSession && !qop)) throw refusal('its "qop" is none of auth and auth-int')
  return {
    realm: text('realm') ?? '',
    nonce: text('nonce') ?? '',
    opaque: params.has('opaque') ? text('opaque') : undefined,
    algorithm: params.get('algorithm'),
    hash,
    isSession,
    qop,
    userhash: isTrue(params.get('userhash')),
    domain: params.get('domain'),
    isUtf8: params.get('charset')?.toLowerCase() === 'utf-8',
  }
}

/** `auth` where there is a choice: the other hashes the whole body. An empty list says as little as none. */
function qopOf(list: string | undefined): DigestChallenge['qop'] | 'unknown' {
  if (list === undefined || list.trim() === '') return undefined
  const offered = list.toLowerCase().split(/[\t ,]+/)
  return (['auth', 'auth-int'] as const).find((qop) => offered.includes(qop)) ?? 'unknown'
}

function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true'
}

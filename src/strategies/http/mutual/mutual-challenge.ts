/** What servers say (RFC 8120 §4): which realm they want the password of, their half of the exchange, and why not. */
import type { Credential } from '../../../auth/credential.ts'
import { base64 } from '../../../crypto/base64.ts'
import { fromBase64url } from '../../../crypto/base64url.ts'
import { octets } from '../../../crypto/octets.ts'
import { type Challenge, isUtf8, parseChallenges } from '../../../http/challenge.ts'
import type { HttpResponse } from '../../../http/message.ts'
import { unanswerable } from '../unanswerable.ts'
import { isInScope } from './auth-scope.ts'
import { ALGORITHM, groupNumber } from './kam3.ts'

/** Where one set of names and passwords is valid (RFC 8120 §5), as the server writes it. */
export interface MutualRealm {
  /** Absent where the server left it out. */
  readonly scope: string | undefined
  /** A byte string: one character for each byte. */
  readonly realm: string
}

/** The server's half of a key exchange (401-KEX-S1). */
export interface ServerExchange {
  readonly sid: string
  /** `K_s1`. */
  readonly value: bigint
  /** How often the session may be used. */
  readonly ncMax: number
  /** How long, in seconds. */
  readonly time: number
  /** The addresses it is for. */
  readonly path: string | undefined
}

/** The words for why not (§4.1); any other one means the same as the first. */
const REASONS = [
  'auth-failed',
  'initial',
  'stale-session',
  'reauth-needed',
  'invalid-parameters',
  'internal-error',
  'user-unknown',
  'invalid-credential',
  'authz-failed',
]

/** Greater numbers mean the same to us (§6). */
const MOST = 2 ** 31 - 1

/**
 * The realm of a 401-INIT or 401-STALE, from the challenge with the algorithm that we know. Errors: `AUTH_CHALLENGE_UNSUPPORTED`
 * naming the algorithms or the parameter.
 */
export function realmOf(challenges: readonly Challenge[], response: HttpResponse, credential: Credential): MutualRealm {
  const challenge = challenges.find(({ params }) => token(params, 'algorithm') === ALGORITHM)
  if (!challenge) throw unanswerable(response, credential, `it offers ${algorithms(challenges)}, and we know ${ALGORITHM} only`)
  const problem = challenge.params.has('reason') ? realmProblem(challenge, response.url) : 'it lacks "reason"'
  if (problem) throw unanswerable(response, credential, problem)
  return realmIn(challenge)
}

/** The server's half of an exchange for that realm; undefined when it gives none. Errors: `AUTH_CHALLENGE_UNSUPPORTED`. */
export function exchangeOf(response: HttpResponse, asked: MutualRealm, credential: Credential): ServerExchange | undefined {
  const challenge = challengesOf(response).find(({ params }) => params.has('ks1'))
  if (!challenge) return undefined
  const server = challenge.params.has('reason') ? 'it has "ks1" and "reason"' : readExchange(challenge, asked, response.url)
  if (typeof server === 'string') throw unanswerable(response, credential, server)
  return server
}

/** The server's word for why not, and never another text of its own; undefined when it gives none. */
export function reasonOf(response: HttpResponse): string | undefined {
  const reason = challengesOf(response)
    .map(({ params }) => token(params, 'reason'))
    .find((word) => word !== undefined)
  return reason === undefined || REASONS.includes(reason) ? reason : REASONS[0]
}

/** Base64 in its only right form, of that many bytes (§3.2.3). */
export function fixedNumber(text: string | undefined, length: number): Uint8Array | undefined {
  const bytes = fromBase64url(text ?? '')
  return bytes?.length === length && base64(bytes) === text ? bytes : undefined
}

type Params = Challenge['params']

function challengesOf({ headers }: HttpResponse): readonly Challenge[] {
  const { challenges } = parseChallenges(headers.get('www-authenticate') ?? '')
  return challenges.filter(({ scheme }) => scheme.toLowerCase() === 'mutual')
}

/** Tokens are compared in lower case (§3.2.1). */
function token(params: Params, name: string): string | undefined {
  return params.get(name)?.toLowerCase()
}

/** Only what looks like the name of an algorithm is repeated. */
function algorithms(challenges: readonly Challenge[]): string {
  const names = challenges.map(({ params }) => token(params, 'algorithm') ?? 'none')
  return names.map((name) => (/^[a-z0-9_.-]{1,64}$/.test(name) ? `algorithm ${name}` : 'an algorithm without a name')).join(', ')
}

function realmProblem({ params }: Challenge, url: string): string | undefined {
  for (const name of ['version', 'validation', 'realm']) if (!params.has(name)) return `it lacks "${name}"`
  if (params.get('version') !== '1') return 'its "version" is not 1'
  // The others bind the proof to the certificate or the key of a TLS connection, which our transports do not tell.
  if (token(params, 'validation') !== 'host') return 'its "validation" is not "host", the only one we know'
  const scope = params.get('auth-scope')
  return scope === undefined || isInScope(scope, url) ? undefined : 'its "auth-scope" is not that of the server'
}

function realmIn(challenge: Challenge): MutualRealm {
  const { params } = challenge
  const realm = params.get('realm') ?? ''
  return { scope: params.get('auth-scope'), realm: isUtf8(challenge) ? octets(realm) : realm }
}

/** A text says what is wrong. */
function readExchange(challenge: Challenge, asked: MutualRealm, url: string): ServerExchange | string {
  const { params } = challenge
  const { scope, realm } = realmIn(challenge)
  const problem = realmProblem(challenge, url)
  if (problem) return problem
  if (token(params, 'algorithm') !== ALGORITHM) return 'its "algorithm" is another one than before'
  if (scope !== asked.scope || realm !== asked.realm) return 'its realm is another one than before'
  const sid = params.get('sid') ?? ''
  if (!/^(?:[0-9a-f]{2}){1,128}$/i.test(sid)) return 'its "sid" is missing or no number'
  const value = groupNumber(fixedNumber(params.get('ks1'), 256))
  if (value === undefined) return 'its "ks1" is no number that the algorithm allows'
  const [ncMax, ncWindow, time] = ['nc-max', 'nc-window', 'time'].map((name) => integer(params.get(name)))
  if (ncWindow === undefined || time === undefined) return 'its "nc-window" or "time" is missing or no number'
  if (!ncMax) return 'its "nc-max" allows no request'
  return { sid, value, ncMax, time, path: params.get('path') }
}

function integer(text = ''): number | undefined {
  return /^(?:0|[1-9][0-9]*)$/.test(text) ? Math.min(Number(text), MOST) : undefined
}

import { platform } from '#platform'
import { type AuthFlow, type AuthStep, authorized, handshake } from '../../auth/strategy.ts'
import { isSharedSuffix } from '../../auth/url-pattern.ts'
import { base64, bytesOf, fromBase64url, octets, sameBytes } from '../../crypto/encoding.ts'
import { GENERATOR, GROUP_BYTES, inverse, modularPower, natural, naturalBytes, ORDER, PRIME } from '../../crypto/modp2048.ts'
import { saslprep } from '../../crypto/saslprep.ts'
import { type AuthParam, authParams, type Challenge, challengesOf, isUtf8, parseAuthenticationInfo } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, percentEncoded, withHeader } from '../../http/message.ts'
import { originOf } from '../../http/url.ts'
import { accountOf, challengesFor, originWithPort, Realms, refused, rootsOf, unanswerable, unproven } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'

/**
 * Mutual authentication (RFC 8120 with the algorithm of RFC 8121): both sides agree on a key that requires the password,
 * the exchange does not allow guessing it offline, and the server has to prove that it knows the password.
 */

/** The flow of RFC 8120 §10: an existing session is used; when it is refused or missing, keys are exchanged once. */
export async function* mutualFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const account = await accountOf(context.credential, prepared)
  const key = `mutual ${originOf(request.url)} ${account.user}`
  const { value: sessions } = await context.session.resolve(key, async () => ({ value: new Realms<MutualSession>() }))
  const usable = (kept: MutualSession | undefined) => (kept?.isUsable(context.clock.now()) ? kept : undefined)
  const known = usable(sessions.covering(request.url))
  let response = known ? yield* verify(request, known, sessions, context) : yield handshake(request)
  if (response.status !== 401) return
  let realm = realmOf(response, context)
  const begun = usable(sessions.of(nameOf(realm)))
  if (begun) {
    response = yield* verify(request, begun, sessions, context)
    if (response.status !== 401) return
    realm = realmOf(response, context)
  }
  const session = yield* exchange(request, realm, account, context)
  if (!session) return
  response = yield* verify(request, sessions.keep(session), sessions, context)
  if (response.status === 401) throw refused(response, context, reasonOf(response))
}

/** Agrees on a key (req-KEX-C1, 401-KEX-S1); undefined when the server fails for another reason. Errors: `AUTH_REJECTED`. */
async function* exchange(
  request: HttpRequest,
  realm: MutualRealm,
  { user, password }: { readonly user: string; readonly password: string },
  context: HttpContext,
): AsyncGenerator<AuthStep, MutualSession | undefined, HttpResponse> {
  const client = startExchange(context.random)
  // Text outside US-ASCII is written as in RFC 8187 (§3.1).
  const named: AuthParam = /^[\x20-\x7e]*$/.test(user) ? ['user', user, 'quoted'] : ['user*', `UTF-8''${percentEncoded(user)}`, 'token']
  const kc1 = base64(naturalBytes(client.value, GROUP_BYTES))
  const response = yield handshake(answering(request, realm, [named, ['kc1', kc1, 'quoted']]))
  if (response.status >= 500) return undefined
  if (response.status !== 401) throw refusedOrUnproven(response, context, 'skips the proof')
  const server = exchangeOf(response, realm, context)
  if (!server) throw refused(response, context, reasonOf(response))
  // A server that names no scope has its origin (§4.1) or its host (§5): the narrower one is used.
  const place = { scope: realm.scope ?? originOf(request.url), realm: bytesOf(realm.realm), user }
  const secret = await sharedSecret(client, server.value, await passwordNumber(password, place))
  return new MutualSession(realm, server, secret, { url: request.url, now: context.clock.now() })
}

/** Proves that the client knows the key (req-VFY-C) and checks the server's proof (200-VFY-S); a refused session is removed. */
async function* verify(
  request: HttpRequest,
  session: MutualSession,
  sessions: Realms<MutualSession>,
  context: HttpContext,
): AsyncGenerator<AuthStep, HttpResponse, HttpResponse> {
  const nc = session.take()
  const host = originWithPort(request.url)
  const params: readonly AuthParam[] = [
    ['sid', session.sid, 'token'],
    ['nc', String(nc), 'token'],
    ['vkc', base64(await proof(CLIENT_PROOF, session.secret, nc, host)), 'quoted'],
  ]
  const response = yield authorized(answering(request, session.realm, params), session.expiresAt)
  if (response.status === 401) sessions.forget(session)
  else checkServer(response, context, session, await proof(SERVER_PROOF, session.secret, nc, host))
  return response
}

/** Checks the server's proof; only server errors may lack it (RFC 8120 §10.1). Errors: `AUTH_SERVER_UNPROVEN`, `AUTH_REJECTED`. */
function checkServer(response: HttpResponse, context: HttpContext, { sid }: MutualSession, expected: Uint8Array): void {
  const line = response.headers.get('authentication-info')
  if (line === null && response.status >= 500) return
  if (line === null) throw refusedOrUnproven(response, context, 'does not prove that it knows the password')
  const info = parseAuthenticationInfo(line)
  const proven = fixedNumber(info.get('vks'), expected.length)
  const isOurs = info.get('version') === '1' && info.get('sid')?.toLowerCase() === sid.toLowerCase()
  if (isOurs && proven && sameBytes(proven, expected)) return
  throw unproven(response, context, 'sends a wrong proof that it knows the password')
}

/** Returns the error of a response without proof: refusals other than 401 may have a challenge with the reason (§4.1). */
function refusedOrUnproven(response: HttpResponse, context: HttpContext, what: string) {
  const reason = response.status >= 400 ? reasonOf(response) : undefined
  return reason === undefined ? unproven(response, context, what) : refused(response, context, reason)
}

/** Returns the request with the parameters that every message has. */
function answering(request: HttpRequest, { scope, realm }: MutualRealm, params: readonly AuthParam[]): HttpRequest {
  const common: readonly AuthParam[] = [
    ['version', '1', 'token'],
    ['algorithm', ALGORITHM, 'token'],
    ['validation', 'host', 'token'],
    ...(scope === undefined ? [] : [['auth-scope', scope, 'quoted'] as const]),
    ['realm', realm, 'quoted'],
  ]
  return withHeader(request, 'authorization', `Mutual ${authParams([...common, ...params])}`)
}

/**
 * Prepares text. §9 names the profiles of RFC 7613, servers may use SASLprep: text is accepted only if both give the same
 * result, as they do for all but rare characters.
 */
function prepared(text: string): string | undefined {
  const opaque = text.replace(/\p{Zs}/gu, ' ').normalize('NFC')
  return saslprep(text) === opaque ? opaque : undefined
}

/** The result of an exchange: requests of one realm are authenticated with it, each number once. */
class MutualSession {
  readonly name: string
  readonly realm: MutualRealm
  readonly sid: string
  readonly secret: Uint8Array
  readonly roots: readonly string[]
  /** Epoch milliseconds. */
  readonly expiresAt: number
  readonly #ncMax: number
  #nc = 0

  /** @param url where the exchange took place; `now` in epoch milliseconds */
  constructor(
    realm: MutualRealm,
    { sid, ncMax, time, path }: ServerExchange,
    secret: Uint8Array,
    { url, now }: { url: string; now: number },
  ) {
    this.name = nameOf(realm)
    this.realm = realm
    this.sid = sid
    this.secret = secret
    this.roots = rootsOf(path, url)
    this.expiresAt = now + time * 1000
    this.#ncMax = ncMax
  }

  /** Returns the number of the next request; counted immediately, so that parallel requests differ. */
  take(): number {
    return ++this.#nc
  }

  /** False when it was used as often or as long as the server allows. */
  isUsable(now: number): boolean {
    return this.#nc < this.#ncMax && now < this.expiresAt
  }
}

function nameOf({ scope, realm }: MutualRealm): string {
  return JSON.stringify([scope, realm])
}

/** The realm and scope of an account (RFC 8120 §5), as the server writes it. */
interface MutualRealm {
  /** Absent where the server left it out. */
  readonly scope: string | undefined
  /** A byte string: one character for each byte. */
  readonly realm: string
}

/** The server's half of a key exchange (401-KEX-S1). */
interface ServerExchange {
  readonly sid: string
  /** `K_s1`. */
  readonly value: bigint
  /** Maximum number of uses of the session. */
  readonly ncMax: number
  /** Lifetime in seconds. */
  readonly time: number
  /** The URLs it is for. */
  readonly path: string | undefined
}

/** Reason tokens (§4.1); unknown ones are treated as the first. */
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

/** Greater numbers are treated as this one (§6). */
const MOST = 2 ** 31 - 1

/**
 * Returns the realm of a 401-INIT or 401-STALE (§4), from the challenge with the supported algorithm. Errors: `AUTH_CHALLENGE_UNSUPPORTED`
 * naming the algorithms or the parameter.
 */
function realmOf(response: HttpResponse, context: HttpContext): MutualRealm {
  const challenges = challengesFor(response, 'Mutual', context)
  const challenge = challenges.find(({ params }) => token(params, 'algorithm') === ALGORITHM)
  if (!challenge) throw unanswerable(response, context, `it offers ${algorithms(challenges)}, but only ${ALGORITHM} is supported`)
  const problem = challenge.params.has('reason') ? realmProblem(challenge, response.url) : 'it lacks "reason"'
  if (problem) throw unanswerable(response, context, problem)
  return realmIn(challenge)
}

/** Returns the server's half of an exchange for that realm; undefined when it sends none. Errors: `AUTH_CHALLENGE_UNSUPPORTED`. */
function exchangeOf(response: HttpResponse, asked: MutualRealm, context: HttpContext): ServerExchange | undefined {
  const challenge = challengesOf(response, 'mutual').find(({ params }) => params.has('ks1'))
  if (!challenge) return undefined
  const server = challenge.params.has('reason') ? 'it has "ks1" and "reason"' : readExchange(challenge, asked, response.url)
  if (typeof server === 'string') throw unanswerable(response, context, server)
  return server
}

/** Returns the server's reason token, and never other text; undefined when it sends none. */
function reasonOf(response: HttpResponse): string | undefined {
  const reason = challengesOf(response, 'mutual')
    .map(({ params }) => token(params, 'reason'))
    .find((word) => word !== undefined)
  return reason === undefined || REASONS.includes(reason) ? reason : REASONS[0]
}

/** Decodes canonical base64 of that many bytes (§3.2.3). */
function fixedNumber(text: string | undefined, length: number): Uint8Array | undefined {
  const bytes = fromBase64url(text ?? '')
  return bytes?.length === length && base64(bytes) === text ? bytes : undefined
}

type Params = Challenge['params']

/** Tokens are compared in lower case (§3.2.1). */
function token(params: Params, name: string): string | undefined {
  return params.get(name)?.toLowerCase()
}

/** Repeats only names that look like an algorithm. */
function algorithms(challenges: readonly Challenge[]): string {
  const names = challenges.map(({ params }) => token(params, 'algorithm') ?? 'none')
  return names.map((name) => (/^[a-z0-9_.-]{1,64}$/.test(name) ? `algorithm ${name}` : 'an algorithm without a name')).join(', ')
}

function realmProblem({ params }: Challenge, url: string): string | undefined {
  for (const name of ['version', 'validation', 'realm']) if (!params.has(name)) return `it lacks "${name}"`
  if (params.get('version') !== '1') return 'its "version" is not 1'
  // The others bind the proof to the certificate or key of a TLS connection, which our transports do not expose.
  if (token(params, 'validation') !== 'host') return 'its "validation" is not "host", the only supported one'
  const scope = params.get('auth-scope')
  return scope === undefined || isInScope(scope, url) ? undefined : 'its "auth-scope" does not include the server'
}

function realmIn(challenge: Challenge): MutualRealm {
  const { params } = challenge
  const realm = params.get('realm') ?? ''
  return { scope: params.get('auth-scope'), realm: isUtf8(challenge) ? octets(realm) : realm }
}

/** Returns the exchange; a text says what is wrong. */
function readExchange(challenge: Challenge, asked: MutualRealm, url: string): ServerExchange | string {
  const { params } = challenge
  const problem = realmProblem(challenge, url)
  if (problem) return problem
  if (token(params, 'algorithm') !== ALGORITHM) return 'its "algorithm" differs from the first challenge'
  if (nameOf(realmIn(challenge)) !== nameOf(asked)) return 'its realm differs from the first challenge'
  const sid = params.get('sid') ?? ''
  if (!/^(?:[0-9a-f]{2}){1,128}$/i.test(sid)) return 'its "sid" is missing or not a number'
  const value = groupNumber(fixedNumber(params.get('ks1'), 256))
  if (value === undefined) return 'its "ks1" is not a number that the algorithm allows'
  const [ncMax, ncWindow, time] = ['nc-max', 'nc-window', 'time'].map((name) => integer(params.get(name)))
  if (ncWindow === undefined || time === undefined) return 'its "nc-window" or "time" is missing or not a number'
  if (!ncMax) return 'its "nc-max" allows no request'
  return { sid, value, ncMax, time, path: params.get('path') }
}

function integer(text = ''): number | undefined {
  return /^(?:0|[1-9][0-9]*)$/.test(text) ? Math.min(Number(text), MOST) : undefined
}

/** The only supported algorithm. */
const ALGORITHM = 'iso-kam3-dl-2048-sha256'

/** The client's half of a key exchange. */
interface ClientExchange {
  /** `S_c1`, for this exchange alone. */
  readonly secret: bigint
  /** `K_c1`. */
  readonly value: bigint
}

/** nIterPi. */
const ITERATIONS = 16_384

/** Smaller exponents give powers below the prime (RFC 8121 §3.2), which reveal them. */
const LEAST_EXPONENT = 2048n

/** Draws a new secret with enough extra bits to avoid modulo bias. */
function startExchange(random: (bytes: number) => Uint8Array): ClientExchange {
  const secret = LEAST_EXPONENT + (natural(random(GROUP_BYTES + 8)) % (ORDER - LEAST_EXPONENT))
  return { secret, value: modularPower(GENERATOR, secret) }
}

/** Decodes a number of the group; undefined when its length is wrong or it would reveal the secret. */
function groupNumber(bytes: Uint8Array | undefined): bigint | undefined {
  if (bytes?.length !== GROUP_BYTES) return undefined
  const value = natural(bytes)
  return value > 1n && value < PRIME - 1n ? value : undefined
}

/** Returns `pi` of a password: bound to the account and its scope. The realm is a byte string. */
async function passwordNumber(password: string, place: { scope: string; realm: Uint8Array; user: string }): Promise<bigint> {
  const { scope, realm, user } = place
  const salt = Uint8Array.of(...vs(utf8.encode(ALGORITHM)), ...vs(utf8.encode(scope)), ...vs(realm), ...vs(utf8.encode(user)))
  const key = await crypto.subtle.importKey('raw', utf8.encode(password), 'PBKDF2', false, ['deriveBits'])
  const salting = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: ITERATIONS }
  return natural(new Uint8Array(await crypto.subtle.deriveBits(salting, key, 256)))
}

/** Computes `z = K_s1^((S_c1 + t_2) / (S_c1 * t_1 + pi) mod r) mod q`; returns `OCTETS(K_c1) | OCTETS(K_s1) | OCTETS(z)`. */
async function sharedSecret({ secret, value }: ClientExchange, server: bigint, password: bigint): Promise<Uint8Array> {
  const [kc1, ks1] = [naturalBytes(value, GROUP_BYTES), naturalBytes(server, GROUP_BYTES)]
  const first = natural(await sha256(1, ...kc1))
  const second = natural(await sha256(2, ...kc1, ...ks1))
  const exponent = ((secret + second) * inverse(secret * first + password)) % ORDER
  return Uint8Array.of(...kc1, ...ks1, ...naturalBytes(modularPower(server, exponent), GROUP_BYTES))
}

/** `VK_c`, which proves to the server that the client knows the secret, and `VK_s`, which proves to the client that the server does. */
const [SERVER_PROOF, CLIENT_PROOF] = [3, 4]

const utf8 = new TextEncoder()

/** @param host `vh` of RFC 8120 §7 */
async function proof(tag: number, secret: Uint8Array, nc: number, host: string): Promise<Uint8Array> {
  return sha256(tag, ...secret, ...vi(nc), ...vs(utf8.encode(host)))
}

async function sha256(...bytes: readonly number[]): Promise<Uint8Array> {
  return platform.digest('SHA-256', Uint8Array.from(bytes))
}

/** Encodes `VI`: digits of seven bits, all but the last with the eighth bit set. */
function vi(value: number): readonly number[] {
  const digits = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift(128 + (rest % 128))
  return digits
}

/** Encodes `VS`: bytes prefixed by their length. */
function vs(bytes: Uint8Array): readonly number[] {
  return [...vi(bytes.length), ...bytes]
}

/**
 * True when an authentication scope includes the server of that URL (RFC 8120 §5): its origin, its host, or `*.` and a domain
 * of the host. Shared domains are not accepted. The scope limits where a password is tried again, never where it may be sent.
 */
function isInScope(scope: string, url: string): boolean {
  const { origin, hostname } = new URL(url)
  if (!scope.startsWith('*.')) return scope === origin || scope === hostname
  const domain = scope.slice(2)
  // A domain of one label is shared, and a number has no names below it.
  const isOwned = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(domain) && !isSharedSuffix(domain)
  return isOwned && (hostname === domain || hostname.endsWith(`.${domain}`))
}

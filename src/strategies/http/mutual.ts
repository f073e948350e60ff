import { platform } from '#platform'
import type { Credential } from '../../auth/credential.ts'
import { type AuthFlow, type AuthStep, authorized, handshake } from '../../auth/strategy.ts'
import { isSharedSuffix } from '../../auth/url-pattern.ts'
import { base64, bytesOf, fromBase64url, octets, sameBytes } from '../../crypto/encoding.ts'
import { GENERATOR, GROUP_BYTES, inverse, modularPower, natural, naturalBytes, ORDER, PRIME } from '../../crypto/modp2048.ts'
import { saslprep } from '../../crypto/saslprep.ts'
import { type AuthParam, authParams, type Challenge, challengesOf, isUtf8, parseAuthenticationInfo } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, percentEncoded, withHeader } from '../../http/message.ts'
import { type Account, accountOf, challengesFor, closeness, refused, rootsOf, unanswerable, unproven } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'

/**
 * Mutual authentication (RFC 8120 with the algorithm of RFC 8121): both sides agree on a key that requires the password,
 * the exchange does not allow guessing it offline, and the server has to prove that it knows the password.
 */

type Attempt = AsyncGenerator<AuthStep, HttpResponse, HttpResponse>

/** The flow of RFC 8120 §10: an existing session is used; when it is refused or missing, keys are exchanged once. */
export async function* mutualFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const { clock } = context
  const account = await accountOf(context.credential, prepared)
  const sessions = await sessionsOf(request, account, context)
  const known = sessions.covering(request.url, clock.now())
  let response = known ? yield* verify(request, known, sessions, context) : yield handshake(request)
  if (response.status !== 401) return
  let realm = realmOf(challengesFor(response, 'Mutual', context), response, context.credential)
  const begun = sessions.of(realm, clock.now())
  if (begun) {
    response = yield* verify(request, begun, sessions, context)
    if (response.status !== 401) return
    realm = realmOf(challengesFor(response, 'Mutual', context), response, context.credential)
  }
  const session = yield* exchange(request, realm, account, context)
  if (!session) return
  sessions.keep(session)
  response = yield* verify(request, session, sessions, context)
  if (response.status === 401) throw refused(response, context, reasonOf(response))
}

/** Agrees on a key (req-KEX-C1, 401-KEX-S1); undefined when the server fails for another reason. Errors: `AUTH_REJECTED`. */
async function* exchange(
  request: HttpRequest,
  realm: MutualRealm,
  { user, password }: Account,
  context: HttpContext,
): AsyncGenerator<AuthStep, MutualSession | undefined, HttpResponse> {
  const { credential, clock, random } = context
  const client = startExchange(random)
  const params: readonly AuthParam[] = [userParam(user), ['kc1', base64(groupBytes(client.value)), 'quoted']]
  const response = yield handshake(answering(request, realm, params))
  if (response.status >= 500) return undefined
  if (response.status !== 401) throw refusedOrUnproven(response, context, 'skips the proof')
  const server = exchangeOf(response, realm, credential)
  if (!server) throw refused(response, context, reasonOf(response))
  const place = { scope: realm.scope ?? defaultScope(request.url), realm: bytesOf(realm.realm), user }
  const shared = await sharedSecret(client, server.value, await passwordNumber(password, place))
  return new MutualSession(realm, server, shared, { url: request.url, now: clock.now() })
}

/** Proves that the client knows the key (req-VFY-C) and checks the server's proof (200-VFY-S); a refused session is removed. */
async function* verify(request: HttpRequest, session: MutualSession, sessions: MutualSessions, context: HttpContext): Attempt {
  const nc = session.take()
  const host = hostOf(request.url)
  const vkc = base64(await clientProof(session.shared, nc, host))
  const params: readonly AuthParam[] = [
    ['sid', session.sid, 'token'],
    ['nc', String(nc), 'token'],
    ['vkc', vkc, 'quoted'],
  ]
  const response = yield authorized(answering(request, session.realm, params), session.expiresAt)
  if (response.status === 401) sessions.forget(session)
  else checkServer(response, context, session, await serverProof(session.shared, nc, host))
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

/** Encodes text outside US-ASCII as RFC 8187 (§3.1). */
function userParam(user: string): AuthParam {
  return /^[\x20-\x7e]*$/.test(user) ? ['user', user, 'quoted'] : ['user*', `UTF-8''${percentEncoded(user)}`, 'token']
}

/** Returns `vh` of the validation by host (§7), always with the port. */
function hostOf(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  return `${protocol}//${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

/**
 * Prepares text. §9 names the profiles of RFC 7613, servers may use SASLprep: text is accepted only if both give the same
 * result, as they do for all but rare characters.
 */
function prepared(text: string): string | undefined {
  const opaque = text.replace(/\p{Zs}/gu, ' ').normalize('NFC')
  return saslprep(text) === opaque ? opaque : undefined
}

async function sessionsOf({ url }: HttpRequest, { user }: Account, { session }: HttpContext): Promise<MutualSessions> {
  const entry = await session.resolve(`mutual ${new URL(url).origin} ${user}`, async () => ({ value: new MutualSessions() }))
  return entry.value
}

/** The result of an exchange: requests of one realm are authenticated with it, each number once. */
class MutualSession {
  readonly realm: MutualRealm
  readonly sid: string
  readonly shared: SharedSecret
  /** Epoch milliseconds. */
  readonly expiresAt: number
  readonly #roots: readonly string[]
  readonly #ncMax: number
  #nc = 0

  /** @param url where the exchange took place; `now` in epoch milliseconds */
  constructor(
    realm: MutualRealm,
    { sid, ncMax, time, path }: ServerExchange,
    shared: SharedSecret,
    { url, now }: { url: string; now: number },
  ) {
    this.realm = realm
    this.sid = sid
    this.shared = shared
    this.expiresAt = now + time * 1000
    this.#roots = rootsOf(path, url)
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

  /** Returns the length of the URL prefix that it is for; -1 when it is for other URLs. */
  covers(url: string): number {
    return closeness(this.#roots, url)
  }
}

/** Above the number of realms of any server. */
const MAX_SESSIONS = 32

/** The sessions of one user with one server. */
class MutualSessions {
  #sessions: readonly MutualSession[] = []

  /** Returns the session for a URL: the most specific one, or the latest. */
  covering(url: string, now: number): MutualSession | undefined {
    const usable = this.#sessions.filter((session) => session.isUsable(now))
    const [best] = usable.map((session) => ({ session, length: session.covers(url) })).sort((a, b) => b.length - a.length)
    return best && best.length >= 0 ? best.session : undefined
  }

  /** Returns the session of a realm. */
  of(realm: MutualRealm, now: number): MutualSession | undefined {
    return this.#sessions.find((session) => isSame(session.realm, realm) && session.isUsable(now))
  }

  /** Replaces the session of the realm. */
  keep(session: MutualSession): void {
    const others = this.#sessions.filter((other) => !isSame(other.realm, session.realm))
    this.#sessions = [session, ...others].slice(0, MAX_SESSIONS)
  }

  /** Removes a refused session. */
  forget(session: MutualSession): void {
    this.#sessions = this.#sessions.filter((other) => other !== session)
  }
}

function isSame(one: MutualRealm, other: MutualRealm): boolean {
  return one.scope === other.scope && one.realm === other.realm
}

/** Parses messages of servers (RFC 8120 §4): the realm, their half of the exchange, and the reason of a refusal. */

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
 * Returns the realm of a 401-INIT or 401-STALE, from the challenge with the supported algorithm. Errors: `AUTH_CHALLENGE_UNSUPPORTED`
 * naming the algorithms or the parameter.
 */
function realmOf(challenges: readonly Challenge[], response: HttpResponse, credential: Credential): MutualRealm {
  const challenge = challenges.find(({ params }) => token(params, 'algorithm') === ALGORITHM)
  if (!challenge) throw unanswerable(response, credential, `it offers ${algorithms(challenges)}, but only ${ALGORITHM} is supported`)
  const problem = challenge.params.has('reason') ? realmProblem(challenge, response.url) : 'it lacks "reason"'
  if (problem) throw unanswerable(response, credential, problem)
  return realmIn(challenge)
}

/** Returns the server's half of an exchange for that realm; undefined when it sends none. Errors: `AUTH_CHALLENGE_UNSUPPORTED`. */
function exchangeOf(response: HttpResponse, asked: MutualRealm, credential: Credential): ServerExchange | undefined {
  const challenge = challengesOf(response, 'mutual').find(({ params }) => params.has('ks1'))
  if (!challenge) return undefined
  const server = challenge.params.has('reason') ? 'it has "ks1" and "reason"' : readExchange(challenge, asked, response.url)
  if (typeof server === 'string') throw unanswerable(response, credential, server)
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
  const { scope, realm } = realmIn(challenge)
  const problem = realmProblem(challenge, url)
  if (problem) return problem
  if (token(params, 'algorithm') !== ALGORITHM) return 'its "algorithm" differs from the first challenge'
  if (scope !== asked.scope || realm !== asked.realm) return 'its realm differs from the first challenge'
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

/** The shared result of an exchange; it does not contain the password. */
interface SharedSecret {
  /** `OCTETS(K_c1) | OCTETS(K_s1) | OCTETS(z)`. */
  readonly octets: Uint8Array
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

/** Encodes a number of the group as bytes of fixed length (RFC 8120 §3.2.3). */
function groupBytes(value: bigint): Uint8Array {
  return naturalBytes(value, GROUP_BYTES)
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
  const salt = Uint8Array.of(...vs(ascii(ALGORITHM)), ...vs(ascii(scope)), ...vs(realm), ...vs(utf8.encode(user)))
  const key = await crypto.subtle.importKey('raw', utf8.encode(password), 'PBKDF2', false, ['deriveBits'])
  const salting = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: ITERATIONS }
  return natural(new Uint8Array(await crypto.subtle.deriveBits(salting, key, 256)))
}

/** Returns `z = K_s1^((S_c1 + t_2) / (S_c1 * t_1 + pi) mod r) mod q`, with the values it is used with. */
async function sharedSecret({ secret, value }: ClientExchange, server: bigint, password: bigint): Promise<SharedSecret> {
  const [kc1, ks1] = [groupBytes(value), groupBytes(server)]
  const first = natural(await hash(Uint8Array.of(1, ...kc1)))
  const second = natural(await hash(Uint8Array.of(2, ...kc1, ...ks1)))
  const exponent = ((secret + second) * inverse(secret * first + password)) % ORDER
  const z = groupBytes(modularPower(server, exponent))
  return { octets: Uint8Array.of(...kc1, ...ks1, ...z) }
}

/** Returns `VK_c`, which proves to the server that the client knows the secret; `host` is `vh` of RFC 8120 §7. */
function clientProof(shared: SharedSecret, nc: number, host: string): Promise<Uint8Array> {
  return proof(4, shared, nc, host)
}

/** Returns `VK_s`, which proves to the client that the server knows it. */
function serverProof(shared: SharedSecret, nc: number, host: string): Promise<Uint8Array> {
  return proof(3, shared, nc, host)
}

const utf8 = new TextEncoder()

const ascii = (text: string) => utf8.encode(text)

async function proof(tag: number, { octets: secret }: SharedSecret, nc: number, host: string): Promise<Uint8Array> {
  return hash(Uint8Array.of(tag, ...secret, ...vi(nc), ...vs(ascii(host))))
}

async function hash(bytes: Uint8Array): Promise<Uint8Array> {
  return platform.digest('SHA-256', bytes)
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
  return (hostname === domain || hostname.endsWith(`.${domain}`)) && isOwned(domain)
}

/** Returns the scope when a server names none: §4.1 says its origin, §5 its host; the narrower one is used. */
function defaultScope(url: string): string {
  return new URL(url).origin
}

/** False for a domain of one label, and for a number, which has no names below it. */
function isOwned(domain: string): boolean {
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(domain) && !isSharedSuffix(domain)
}

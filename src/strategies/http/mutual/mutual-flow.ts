/**
 * Mutual authentication (RFC 8120 with the algorithm of RFC 8121): both sides agree on a key that requires the password,
 * the exchange does not allow guessing it offline, and the server has to prove that it knows the password.
 */
import { type AuthFlow, type AuthStep, authorized, handshake } from '../../../auth/strategy.ts'
import { base64, bytesOf, sameBytes } from '../../../crypto/encoding.ts'
import { saslprep } from '../../../crypto/saslprep.ts'
import { type AuthParam, authParams, parseAuthenticationInfo } from '../../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, percentEncoded, withHeader } from '../../../http/message.ts'
import { challengesFor, closeness, refused, rootsOf, unproven } from '../challenge-response.ts'
import type { HttpContext } from '../scheme.ts'
import { type Account, accountOf } from '../secret-fields.ts'
import {
  ALGORITHM,
  clientProof,
  defaultScope,
  exchangeOf,
  fixedNumber,
  groupBytes,
  type MutualRealm,
  passwordNumber,
  realmOf,
  reasonOf,
  type ServerExchange,
  type SharedSecret,
  serverProof,
  sharedSecret,
  startExchange,
} from './mutual-challenge.ts'

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
  const proof = fixedNumber(info.get('vks'), expected.length)
  const isOurs = info.get('version') === '1' && info.get('sid')?.toLowerCase() === sid.toLowerCase()
  if (isOurs && proof && sameBytes(proof, expected)) return
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

import { platform } from '#platform'
import type { Credential, Secret } from '../../auth/credential.ts'
import { type AuthFlow, type AuthStep, authorized, handshake } from '../../auth/strategy.ts'
import { base64, bytesOf, hex, octets } from '../../crypto/encoding.ts'
import { ProtocolError } from '../../errors.ts'
import { type AuthParam, authParams, type Challenge, challengesOf, isUtf8, parseAuthenticationInfo } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, percentEncoded, withHeader } from '../../http/message.ts'
import { originOf } from '../../http/url.ts'
import { unlessAborted } from '../../net/cancellation.ts'
import type { HashName } from '../../platform/platform.ts'
import { reveal, unfit } from '../credential-values.ts'
import { hasLatin1Form } from './basic.ts'
import { challengesFor, Realms, rootsOf, unanswerable } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'
import { ALGORITHMS } from './schemes.ts'

/** An account in each encoding that a server may expect. */
type Accounts = { readonly 'UTF-8': Account; readonly 'ISO-8859-1'?: Account }

/** Why a refusal is answered; each reason is used once per request. */
type Reason = 'challenge' | 'stale' | 'alone' | 'charset'

interface Attempt {
  readonly space: ProtectionSpace
  readonly turn: Turn
  readonly response: HttpResponse
}

/** The values that the answers to one request share. */
interface Login {
  readonly request: HttpRequest
  readonly context: HttpContext
  readonly accounts: Accounts
  readonly spaces: ProtectionSpaces
  readonly tried: Set<Reason>
}

/** Answers challenges, and sends later requests of a protection space preemptively (RFC 7616 §3). */
export async function* digestFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const accounts = await accountsOf(context.credential)
  const key = `digest ${originOf(request.url)} ${accounts['UTF-8'].name}`
  const { value: spaces } = await context.session.resolve(key, async () => ({ value: new ProtectionSpaces() }))
  const login: Login = { request, context, accounts, spaces, tried: new Set() }
  let stay = await spaces.lock.enter(spaces.isOrdered, context.signal)
  try {
    const known = spaces.realms.covering(request.url)
    let last = known && (yield* attempt(login, known))
    let response = last?.response ?? (yield handshake(request))
    for (let why = reasonToAnswer(login, stay, response, last); why; why = reasonToAnswer(login, stay, response, last)) {
      login.tried.add(why)
      if (why === 'alone') {
        const { refusals } = spaces
        if (!stay.isAlone) {
          stay.leave()
          stay = await spaces.lock.enter(true, context.signal)
        }
        if (spaces.refusals !== refusals) return
        response = yield handshake(request)
        if (response.status !== 401) return
      }
      last = yield* attempt(login, spaceOf(login, response))
      response = last.response
    }
    if (last && response.status === 401) {
      if (stay.isAlone) spaces.refusals++
      spaces.realms.forget(last.space)
      spaces.charset = undefined
    } else if (login.tried.has('alone')) spaces.isOrdered = true
  } finally {
    stay.leave()
  }
}

/** Returns the space of a challenge; a realm may not require a weaker algorithm than before. */
function spaceOf({ request, context, spaces }: Login, response: HttpResponse): ProtectionSpace {
  const challenge = strongest(challengesFor(response, 'Digest', context), response, context)
  const before = spaces.realms.of(challenge.realm)?.challenge.hash
  if (before && ALGORITHMS.indexOf(challenge.hash) > ALGORITHMS.indexOf(before))
    throw unanswerable(response, context, `it required a stronger algorithm than ${challenge.hash} before`)
  return spaces.realms.keep(new ProtectionSpace(challenge, request.url, spaces.nonces))
}

/** Sends the answer for the nonce of the space and checks the response before it is returned. */
async function* attempt(
  { request, context, accounts, spaces, tried }: Login,
  space: ProtectionSpace,
): AsyncGenerator<AuthStep, Attempt, HttpResponse> {
  const { isUtf8: inUtf8 } = space.challenge
  const charset = inUtf8 ? 'UTF-8' : (spaces.charset ?? (tried.has('charset') ? 'ISO-8859-1' : 'UTF-8'))
  const turn = space.take(context.random)
  const sent = await answer(request, space.challenge, accounts[charset] ?? accounts['UTF-8'], turn)
  const response = yield authorized(withHeader(request, 'authorization', sent.header))
  if (response.status !== 401) {
    const info = parseAuthenticationInfo(response.headers.get('authentication-info') ?? '')
    await checkProof(info.get('rspauth'), sent, response, context)
    if (!inUtf8 && response.status < 400) spaces.charset = charset
    const nonce = info.get('nextnonce')
    if (nonce) space.renew(nonce)
  }
  return { space, turn, response }
}

/**
 * Returns why a challenge is answered, or undefined. A challenge is answered once, and once more
 * - when the nonce was too old (RFC 7616 §3.3, `stale`);
 * - alone, when other requests may be why it was refused: servers see a count for a second time or out of order, or have
 *   reused the slot of the nonce, and not all of them say `stale`;
 * - when the server may expect the other encoding of the account (§4).
 *
 * Anything else is a refusal of the account, which is not tried again: servers lock accounts.
 */
function reasonToAnswer(
  { accounts, spaces, tried }: Login,
  stay: Stay,
  response: HttpResponse,
  last: Attempt | undefined,
): Reason | undefined {
  if (response.status !== 401) return undefined
  if (!last || !tried.has('challenge')) return 'challenge'
  const stale = paramsOf(response, 'stale').some(isTrue)
  if (stale && !tried.has('stale')) return 'stale'
  const { space, turn } = last
  const isDisturbed = !stay.isAlone && (stay.wasCrowded || spaces.nonces.get(space.name, turn.nonce).isShared)
  if (!tried.has('alone') && (isDisturbed || paramsOf(response, 'nonce').includes(turn.nonce))) return 'alone'
  const isSettled = stale || space.challenge.isUtf8 || spaces.charset !== undefined || !accounts['ISO-8859-1']
  return isSettled || tried.has('charset') ? undefined : 'charset'
}

/** Returns the values of a parameter in the challenges of this scheme. */
function paramsOf(response: HttpResponse, name: string): readonly string[] {
  return challengesOf(response, 'digest').flatMap(({ params }) => params.get(name) ?? [])
}

/** Checks the server's proof (RFC 7616 §3.5): a wrong one is refused, a missing one when the credential says so. */
async function checkProof(proof: string | undefined, sent: Answer, response: HttpResponse, { credential }: HttpContext): Promise<void> {
  const isRight = proof === undefined || !sent.proof ? undefined : proof.toLowerCase() === (await sent.proof())
  if (isRight === false) throw unproven(response, credential, 'could not prove')
  if (isRight === undefined && credential.requireServerProof && response.status < 400) throw unproven(response, credential, 'did not prove')
}

function unproven({ url, status }: HttpResponse, { id }: Credential, what: string): ProtocolError {
  const message = `${originOf(url)} ${what} that it knows the password of "${id}". Its response was discarded`
  return new ProtocolError('AUTH_SERVER_UNPROVEN', message, { url, status, credential: id })
}

async function accountsOf(credential: Credential): Promise<Accounts> {
  const name = (await reveal(credential.username as Secret, 'username', credential)).normalize('NFC')
  const password = (await reveal(credential.password as Secret, 'password', credential)).normalize('NFC')
  if (name.includes(':')) throw unfit('username', credential.id, 'contains a colon, which Digest does not support')
  if (/[\u0000-\u001f\u007f]/.test(name + password)) throw unfit('username or password', credential.id, 'contains a control character')
  return {
    'UTF-8': { name, username: octets(name), password: octets(password) },
    // A byte string of ISO-8859-1 is the text itself.
    ...(hasLatin1Form(name + password) && { 'ISO-8859-1': { name, username: name, password } }),
  }
}

/** Name and password as byte strings of one charset, and the name as text. */
interface Account {
  readonly name: string
  readonly username: string
  readonly password: string
}

/** The value of `Authorization`, and the expected proof of the server. */
interface Answer {
  readonly header: string
  /** Returns `rspauth`; undefined when it needs the body of the response (`auth-int`) or is not defined (RFC 2069). */
  readonly proof: (() => Promise<string>) | undefined
}

/** Computes the answer to a challenge (RFC 7616 §3.4; without `qop` as RFC 2069 §2.1.2). Errors: `AUTH_CHALLENGE_UNSUPPORTED`. */
async function answer(request: HttpRequest, challenge: DigestChallenge, account: Account, turn: Turn): Promise<Answer> {
  const { hash: name, qop } = challenge
  const { pathname, search } = new URL(request.url)
  const uri = pathname + search
  const secret = await secretOf(challenge, account, turn)
  const response = async (action: string) => {
    const uses = qop ? [turn.nonce, turn.nc, turn.cnonce, qop] : [turn.nonce]
    return hash(name, [secret, ...uses, await hash(name, action)].join(':'))
  }
  const content = typeof request.body === 'string' ? new TextEncoder().encode(request.body) : (request.body ?? '')
  const body = qop === 'auth-int' ? `:${await hash(name, content)}` : ''
  const header = authParams([
    ...(await userParams(challenge, account)),
    ['realm', challenge.realm, 'quoted'],
    ['uri', uri, 'quoted'],
    ...given('algorithm', challenge.algorithm, 'token'),
    ['nonce', turn.nonce, 'quoted'],
    ...given('qop', qop, 'token'),
    ...given('nc', qop && turn.nc, 'token'),
    ...given('cnonce', qop && turn.cnonce, 'quoted'),
    ['response', await response(`${request.method}:${uri}${body}`), 'quoted'],
    ...given('opaque', challenge.opaque, 'quoted'),
  ])
  return { header: `Digest ${header}`, proof: qop === 'auth' ? () => response(`:${uri}`) : undefined }
}

/** Returns H(A1) of §3.4.2. */
async function secretOf(
  { hash: name, realm, isSession }: DigestChallenge,
  { username, password }: Account,
  { session }: Turn,
): Promise<string> {
  const secret = await hash(name, `${username}:${realm}:${password}`)
  return isSession ? hash(name, `${secret}:${session.nonce}:${session.cnonce}`) : secret
}

/**
 * Encodes the user name (§3.4, §3.4.4): hashed when the server requires it; otherwise as RFC 8187 outside US-ASCII. Servers of RFC 2617
 * read the octets and do not support `username*`: they have MD5 only, and name no charset.
 */
async function userParams(
  { userhash, hash: name, realm, isUtf8: inUtf8 }: DigestChallenge,
  account: Account,
): Promise<readonly AuthParam[]> {
  if (userhash) {
    return [
      ['username', await hash(name, `${account.username}:${realm}`), 'quoted'],
      ['userhash', 'true', 'token'],
    ]
  }
  const isPlain = /^[\x20-\x7e]*$/.test(account.name) || account.username === account.name || (name === 'MD5' && !inUtf8)
  if (isPlain) return [['username', account.username, 'quoted']]
  return [['username*', `UTF-8''${percentEncoded(account.name)}`, 'token']]
}

function given(name: string, value: string | undefined, form: AuthParam[2]): readonly AuthParam[] {
  return value === undefined ? [] : [[name, value, form]]
}

/** @param data bytes, or a byte string */
async function hash(name: HashName, data: string | Uint8Array): Promise<string> {
  return hex(await platform.digest(name, typeof data === 'string' ? bytesOf(data) : data))
}

/** A supported challenge (RFC 7616 §3.3); all texts are byte strings, one character for each byte. */
export interface DigestChallenge {
  readonly realm: string
  readonly nonce: string
  readonly opaque: string | undefined
  /** As the server writes it; absent when omitted, which means MD5. */
  readonly algorithm: string | undefined
  readonly hash: HashName
  /** True when the hash of the account is bound to the nonce (`-sess`). */
  readonly isSession: boolean
  /** Absent in the form of RFC 2069. */
  readonly qop: 'auth' | 'auth-int' | undefined
  readonly userhash: boolean
  /** The URL list of the challenge. */
  readonly domain: string | undefined
  /** True when the server requires UTF-8; RFC 2617 has no such parameter. */
  readonly isUtf8: boolean
}

/**
 * Returns the challenge with the strongest algorithm that the credential allows; there is no fallback to a weaker one.
 * Errors: `AUTH_CHALLENGE_UNSUPPORTED` naming the algorithms or the parameter.
 */
function strongest(challenges: readonly Challenge[], response: HttpResponse, context: HttpContext): DigestChallenge {
  const { algorithms = ALGORITHMS } = context.credential as { readonly algorithms?: readonly string[] }
  const allowed = ALGORITHMS.filter((name) => algorithms.includes(name))
  const [best] = allowed.flatMap((preferred) => challenges.filter((one) => algorithmOf(one).hash === preferred))
  if (!best) {
    const offered = challenges.map(({ params }) => (params.get('algorithm') ?? 'MD5').slice(0, 64)).join(', ')
    throw unanswerable(response, context, `it offers Digest with ${offered}, and the credential allows ${allowed.join(', ')}`)
  }
  const challenge = readChallenge(best)
  if (typeof challenge === 'string') throw unanswerable(response, context, challenge)
  return challenge
}

function algorithmOf({ params }: Challenge): { hash?: HashName; isSession: boolean } {
  const [, name, session] = /^(.+?)(-sess)?$/i.exec(params.get('algorithm') ?? 'MD5') ?? []
  const algorithm = ALGORITHMS.find((known) => known === name?.toUpperCase())
  return { ...(algorithm && { hash: algorithm }), isSession: session !== undefined }
}

/** Returns the challenge; a text says what is wrong. */
function readChallenge(challenge: Challenge): DigestChallenge | string {
  const { params } = challenge
  const text = (name: string) => (isUtf8(challenge) ? octets(params.get(name) ?? '') : (params.get(name) ?? ''))
  const missing = ['realm', 'nonce'].find((name) => !params.has(name))
  if (missing) return `it lacks "${missing}"`
  const { hash: known = 'MD5', isSession } = algorithmOf(challenge)
  const qop = qopOf(params.get('qop'))
  if (qop === 'unknown' || (isSession && !qop)) return 'its "qop" has neither auth nor auth-int'
  return {
    realm: text('realm'),
    nonce: text('nonce'),
    opaque: params.has('opaque') ? text('opaque') : undefined,
    algorithm: params.get('algorithm'),
    hash: known,
    isSession,
    qop,
    userhash: isTrue(params.get('userhash')),
    domain: params.get('domain'),
    isUtf8: params.get('charset')?.toLowerCase() === 'utf-8',
  }
}

/** Prefers `auth`, because `auth-int` hashes the whole body. An empty list counts as absent. */
function qopOf(list: string | undefined): DigestChallenge['qop'] | 'unknown' {
  if (list === undefined || list.trim() === '') return undefined
  const offered = list.toLowerCase().split(/[\t ,]+/)
  return (['auth', 'auth-int'] as const).find((qop) => offered.includes(qop)) ?? 'unknown'
}

function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true'
}

/** The values that make one answer unique. */
interface Turn {
  readonly nonce: string
  /** The number of uses of the nonce, including this one: eight hex digits. */
  readonly nc: string
  readonly cnonce: string
  /** Nonces that an account is bound to by `-sess`: those of the first answer to the challenge (RFC 7616 §3.4.2). */
  readonly session: { readonly nonce: string; readonly cnonce: string }
}

/**
 * A nonce and its uses. It belongs to the realm and not to one challenge: servers send the same nonce to several requests, and
 * refuse a count that they have seen (RFC 7616 §3.4, `nc`).
 */
class Nonce {
  readonly value: string
  session: Turn['session'] | undefined
  #count = 0

  constructor(value: string) {
    this.value = value
  }

  /** Returns the next count, synchronously, so that parallel requests differ. */
  next(): string {
    return (++this.#count).toString(16).padStart(8, '0')
  }

  /** True when it was used more than once. */
  get isShared(): boolean {
    return this.#count > 1
  }
}

/** One realm of an origin: its challenge, and the nonce in use. */
class ProtectionSpace {
  readonly name: string
  readonly challenge: DigestChallenge
  /** The URLs that the challenge names (RFC 7616 §3.3, `domain`). */
  readonly roots: readonly string[]
  readonly #nonces: Nonces
  #nonce: Nonce
  #session: Turn['session'] | undefined

  /** @param url where the challenge came from */
  constructor(challenge: DigestChallenge, url: string, nonces: Nonces) {
    this.name = challenge.realm
    this.challenge = challenge
    this.roots = rootsOf(challenge.domain, url)
    this.#nonces = nonces
    this.#nonce = nonces.get(challenge.realm, challenge.nonce)
  }

  /** Returns the next use of the nonce. */
  take(random: (bytes: number) => Uint8Array): Turn {
    const nonce = this.#nonce
    const known = this.#session ?? nonce.session
    const cnonce = (this.challenge.isSession && known?.cnonce) || base64(random(16))
    const session = known ?? { nonce: nonce.value, cnonce }
    nonce.session ??= session
    this.#session = session
    return { nonce: nonce.value, nc: nonce.next(), cnonce, session }
  }

  /** Replaces the nonce with one that the server sent ahead (`nextnonce`). */
  renew(nonce: string): void {
    this.#nonce = this.#nonces.get(this.name, nonce)
  }
}

/** Above the number of nonces that a server keeps for one user. */
const MAX_NONCES = 1024

/** The most recently used nonces of an origin. */
class Nonces {
  readonly #nonces = new Map<string, Nonce>()

  get(realm: string, value: string): Nonce {
    const key = JSON.stringify([realm, value])
    const nonce = this.#nonces.get(key) ?? new Nonce(value)
    // A Map iterates in insertion order: reinserting marks a value as most recently used.
    this.#nonces.delete(key)
    this.#nonces.set(key, nonce)
    if (this.#nonces.size > MAX_NONCES) this.#nonces.delete(this.#nonces.keys().next().value ?? key)
    return nonce
  }
}

/** What is known of an origin for one user. */
export class ProtectionSpaces {
  readonly realms = new Realms<ProtectionSpace>()
  readonly nonces = new Nonces()
  /** The encoding of an accepted answer, which servers may leave unnamed. */
  charset: keyof Accounts | undefined
  /** Held while a request is sent. */
  readonly lock = new SharedLock()
  /** True when the server does not support parallel requests: each is sent alone. */
  isOrdered = false
  /** How many answers were refused that no other request can have disturbed. */
  refusals = 0
}

/** A held {@link SharedLock}. */
interface Stay {
  readonly isAlone: boolean
  /** True when another holder was present at the same time. */
  readonly wasCrowded: boolean
  leave(): void
}

/** A lock that any number may share or one may hold alone; exclusive waiters go before all later ones. */
class SharedLock {
  readonly #together = new Map<{ wasCrowded: boolean }, Promise<void>>()
  #lastAlone: Promise<void> | undefined

  /** Errors: `ABORTED` while waiting. */
  async enter(isAlone: boolean, signal?: AbortSignal): Promise<Stay> {
    const before = [this.#lastAlone, ...(isAlone ? this.#together.values() : [])]
    let leave = () => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    const stay = { isAlone, wasCrowded: false, leave: () => leave() }
    // Without its results: each would hold those of all before it.
    if (isAlone) this.#lastAlone = Promise.all([...before, left]).then(() => undefined)
    else this.#join(stay, left)
    try {
      await unlessAborted(Promise.all(before), signal)
    } catch (error) {
      leave()
      throw error
    }
    return stay
  }

  #join(stay: { wasCrowded: boolean }, left: Promise<void>): void {
    stay.wasCrowded = this.#together.size > 0
    for (const other of this.#together.keys()) other.wasCrowded = true
    this.#together.set(stay, left)
    void left.then(() => this.#together.delete(stay))
  }
}

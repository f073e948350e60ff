/**
 * Sends a request and follows redirects. Every hop starts without credentials and selects them by its own URL; alternatives are
 * tried in order when a server refuses one. The context of a strategy is made here: its token and signing requests go only to endpoints
 * of the credential.
 */

import { platform } from '#platform'
import {
  AbortedError,
  type AuthError,
  ConfigurationError,
  CredentialError,
  SelectionError,
  TrustError,
  UnsupportedError,
} from '../errors.ts'
import {
  type Connection,
  type CredentialUse,
  type HttpRequest,
  type HttpResponse,
  isRedirect,
  type Send,
  type SendOptions,
  type Transport,
  withHeader,
} from '../http/message.ts'
import { harmlessHeaders, locationOf, redirected } from '../http/redirect.ts'
import type { ServerMessage } from '../http/server-message.ts'
import { LastOrigin } from '../http/url.ts'
import { endedAt, urlSignature } from '../http/url-signature.ts'
import { unlessAborted } from '../net/cancellation.ts'
import type { Clock } from '../net/clock.ts'
import type { Target } from '../stac/target.ts'
import { inputIdOf } from './credential.ts'
import { type CredentialSelector, type Selection, Unusable } from './credential-selection.ts'
import type { CookieChain, LoginCookies } from './login-cookies.ts'
import { openFlow } from './open-flow.ts'
import { withRereadSecrets } from './reread-secrets.ts'
import { bestOf, type CredentialMatch, checkReach } from './scheme-matching.ts'
import type { EngineMemory, MemorySessions, SessionStore } from './session.ts'
import {
  type AuthContext,
  type AuthStep,
  type Input,
  type Origin,
  type Resource,
  runFlow,
  type SessionChange,
  type Token,
  type Warning,
} from './strategy.ts'
import { matchesAny } from './url-pattern.ts'

/** The dependencies of an engine. */
export interface EngineContext {
  readonly transport: Transport
  readonly sessions: MemorySessions
  readonly stores: { readonly persistent: SessionStore; readonly inMemory: SessionStore }
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  readonly warn: (warning: Warning) => void
  /** Called when the token of a credential changes. */
  readonly changed: (change: SessionChange) => void
  /** Called with the credential that was accepted and the URL. */
  readonly used: (credential: string, url: string) => void
  /** Origins that the user wrote in credentials. */
  readonly named: ReadonlySet<string>
  /** Ids of credentials that were removed while requests are under way. */
  readonly removed: EngineMemory['removed']
  /** Returns the match for the credential with that id. */
  readonly credential: (id: string) => CredentialMatch | undefined
}

const MAX_HOPS = 10

/** Error codes after which the next reference is tried. */
const NEXT = new Set(['AUTH_REJECTED', 'LOGIN_REQUIRED'])

/** Members that are `undefined` are ignored, as in the standard `fetch`. */
export interface ExchangeOptions {
  readonly signal?: AbortSignal | null | undefined
  readonly redirect?: RequestInit['redirect'] | undefined
  /** Called with the id of each credential that a server accepted. */
  readonly onUse?: ((credential: string) => void) | undefined
  readonly anonymous?: 'allow' | undefined
}

/** Error codes of a secret that cannot be read. */
const UNREADABLE = new Set(['CREDENTIAL_SOURCE', 'CREDENTIAL_VALUE_INVALID'])

/** The target of a request, and the references that may be used. */
interface Purpose {
  readonly target?: Target
  readonly selections: readonly Selection[]
}

/** One redirect hop and its transport options. */
interface Hop {
  readonly target?: Target
  readonly hop: number
  readonly signal?: AbortSignal
  readonly followHidden: boolean
  readonly login: Login
  readonly onUse: ExchangeOptions['onUse']
  readonly anonymous: ExchangeOptions['anonymous']
}

/** The logins of one chain of redirects: without cookies before a server sets the first one. */
interface Login {
  cookies?: CookieChain
}

interface Answer {
  readonly response: HttpResponse
  /** The URL was replaced by a signed URL: no credentials are added from here on. */
  readonly replaced: boolean
}

export class Exchange {
  readonly #engine: EngineContext
  readonly #selector: CredentialSelector
  readonly #redirects: 'follow' | 'error'
  /** Loaded with the first cookie. */
  #cookies: LoginCookies | undefined
  /** Credentials whose secrets could not be read, after the warning. */
  readonly #unused = new Set<string>()

  constructor(engine: EngineContext, selector: CredentialSelector, redirects: 'follow' | 'error') {
    this.#engine = engine
    this.#selector = selector
    this.#redirects = redirects
  }

  /** Deletes the cookies that hosts set for the credential. */
  forget(credential: string): void {
    this.#cookies?.forget(credential)
  }

  /** Returns the credential with the narrowest pattern that matches a URL without references, or nothing; nothing for a signed URL. */
  byAddress(url: URL): readonly Selection[] {
    const best = urlSignature(url.href) ? undefined : bestOf(this.#selector.own, url)
    return best ? [{ type: best.credential.type, match: best, warnings: [] }] : []
  }

  /** Returns the last response after all redirects, or the first one when `redirect` is `manual`. */
  async send(first: HttpRequest, purpose: Purpose, init: ExchangeOptions): Promise<HttpResponse> {
    const signal = init.signal ?? undefined
    const followHidden = init.redirect !== 'manual' && init.redirect !== 'error' && this.#redirects === 'follow'
    if (signal?.aborted) throw new AbortedError(signal.reason)
    let seen: Set<string> | undefined
    let request = first
    let selections = purpose.selections
    let replaced = false
    const login: Login = {}
    for (let hop = 0; ; hop++) {
      const at = { target: purpose.target, hop, signal, followHidden, login, onUse: init.onUse, anonymous: init.anonymous }
      const asSent = this.#stateOf(request, login)
      const answer = await this.#attempt(request, selections, at)
      const { response } = answer
      if (!isRedirect(response.status) || init.redirect === 'manual') {
        if (response.status < 400) login.cookies?.settle()
        return response
      }
      await response.discard()
      seen = (seen ?? new Set()).add(asSent)
      const next = locationOf(response.headers.get('location'), response.url, this.#engine.named, hop)
      this.#checkHop(response.url, next, hop, init.redirect)
      request = redirected(asked(request, response.url), response.status, next, hop)
      // A request with a new cookie is a different request.
      if (seen.has(this.#stateOf(request, login))) throw circle(response.url, next, hop)
      replaced ||= answer.replaced
      selections = replaced ? [] : this.#forHop(purpose.target, next)
    }
  }

  #checkHop(from: string, next: URL, hop: number, redirect: RequestInit['redirect']): void {
    const { origin } = new URL(from)
    if (hop >= MAX_HOPS)
      throw new TrustError('REDIRECT_TOO_MANY', `too many redirects: the limit is ${MAX_HOPS}, the last one came from ${origin}`, {
        url: from,
        hop,
      })
    const refused = redirect === 'error' || (this.#redirects === 'error' && next.origin !== origin)
    if (refused)
      throw new TrustError(
        'REDIRECT_CROSS_ORIGIN',
        `redirect from ${origin} to ${next.origin} refused: ${redirect === 'error' ? 'this request follows no redirects' : 'redirects to other origins are not allowed'}`,
        { url: from, hop },
      )
  }

  /** Selects credentials for a hop only if its own URL is allowed; otherwise it is sent without. */
  #forHop(target: Target | undefined, url: URL): readonly Selection[] {
    if (url.protocol === 'http:' && !this.#engine.named.has(url.origin)) return []
    if (!target) return this.byAddress(url)
    const selections = this.#selector.select(target, url)
    return selections instanceof Unusable ? [] : selections
  }

  /** Sends one hop with each reference in order until a server accepts one. */
  async #attempt(request: HttpRequest, selections: readonly Selection[], hop: Hop): Promise<Answer> {
    let refusal: AuthError | undefined
    for (const selection of selections) {
      if (!selection.match) return this.#bare(request, hop)
      for (const warning of selection.warnings) this.#engine.warn(warning)
      try {
        const answer = await this.#authorized(request, selection.match, hop)
        if (answer) return answer
      } catch (error) {
        if (!(error instanceof CredentialError) || !(NEXT.has(error.code) || (hop.anonymous && UNREADABLE.has(error.code)))) throw error
        refusal ??= error
      }
    }
    if (refusal) return this.#withoutCredential(request, hop, refusal)
    return this.#bare(request, hop)
  }

  /** Sends a request without the credential that cannot be used, if the caller allows it. Errors: that of the credential. */
  async #withoutCredential(request: HttpRequest, hop: Hop, refusal: AuthError): Promise<Answer> {
    const isUnreadable = UNREADABLE.has(refusal.code)
    if (!hop.anonymous || !(isUnreadable || refusal.code === 'LOGIN_REQUIRED')) throw refusal
    const answer = await this.#bare(request, hop)
    const { status } = answer.response
    if (status === 401 || status === 403) {
      await answer.response.discard()
      throw refusal
    }
    const id = refusal.credential ?? ''
    if (isUnreadable && !this.#unused.has(id)) {
      this.#unused.add(id)
      this.#engine.warn({ code: refusal.code, message: `${refusal.message}. Public documents are read without this credential` })
    }
    return answer
  }

  async #authorized(
    request: HttpRequest,
    match: CredentialMatch,
    { target, hop, login, onUse, anonymous: _, ...options }: Hop,
  ): Promise<Answer | undefined> {
    const context = contextOf(this.#engine, match, { url: request.url, target }, { signal: options.signal })
    const began = context.clock.now()
    const send = async (taken: AuthStep) => {
      const sent = this.#withCookies(login, match, taken)
      const response = await sendStep(this.#engine, match, sent, options)
      if (isRedirect(response.status) || response.status === 401) await this.#keepCookies(login, match, sent, response)
      return response
    }
    const running = withRereadSecrets(this.#engine, match, () => runFlow(match.strategy.authorize(request, context), send))
    // A secret that is never read, such as one that nobody types, does not keep the call waiting.
    const result = await unlessAborted(running, options.signal)
    if (!result) return undefined
    const { response, step } = result
    if (response.status === 401 || response.status === 403) {
      const ended = step.expiresAt !== undefined && step.expiresAt > began && step.expiresAt <= context.clock.now()
      const said = (await response.serverMessage?.()) ?? {}
      await response.discard()
      throw rejected(response, match.credential.id, hop, ended, said)
    }
    this.#engine.used(match.credential.id, request.url)
    onUse?.(match.credential.id)
    return { response, replaced: step.replaces === true }
  }

  /** Differs between requests of a chain unless a redirect has led back. */
  #stateOf({ method, url }: HttpRequest, login: Login): string {
    return `${method} ${url} ${this.#cookiesOf(login)?.state ?? ''}`
  }

  #cookiesOf(login: Login): CookieChain | undefined {
    login.cookies ??= this.#cookies?.chain()
    return login.cookies
  }

  #withCookies(login: Login, match: CredentialMatch, step: AuthStep): AuthStep {
    const chain = this.#cookiesOf(login)
    if (!chain || !maySeeCookies(match, step)) return step
    const cookies = chain.header(match.credential.id, step.request.url, step.request.headers.cookie)
    return cookies === undefined ? step : { ...step, request: withHeader(step.request, 'cookie', cookies) }
  }

  /** Stores the cookies that a redirect sets; a refused request deletes those of that origin. */
  async #keepCookies(login: Login, match: CredentialMatch, step: AuthStep, { status, headers, url }: HttpResponse): Promise<void> {
    if (!maySeeCookies(match, step)) return
    const { id } = match.credential
    if (status === 401) this.#cookiesOf(login)?.refused(id, url)
    const fields = isRedirect(status) ? (headers.getSetCookie?.() ?? []) : []
    if (fields.length === 0) return
    const { LoginCookies: Cookies } = await import('./login-cookies.ts')
    this.#cookies ??= new Cookies(this.#engine.clock)
    this.#cookiesOf(login)?.keep(id, url, fields)
  }

  async #bare(request: HttpRequest, { target, signal, followHidden, hop }: Hop): Promise<Answer> {
    const send = ({ request: pageRequest }: { readonly request: HttpRequest }) =>
      this.#engine.transport(pageRequest, sendOptionsFor(this.#engine, pageRequest, { signal, followHidden }))
    if (/^https?:/.test(request.url)) {
      const response = await send({ request })
      await this.#checkSignature(request.url, response, hop)
      return { response, replaced: false }
    }
    const flow = await openFlow(request, this.#selector, target)
    const result = flow && (await runFlow(flow, send))
    if (result) return { response: result.response, replaced: false }
    throw new UnsupportedError('SCHEME_UNSUPPORTED', 'an s3: URL can be fetched only with the s3 strategy', { url: request.url })
  }

  /** Errors: `AUTH_REJECTED` for a refused URL whose own signature has expired; Google answers 400, others 403. */
  async #checkSignature(url: string, response: HttpResponse, hop: number): Promise<void> {
    const { status } = response
    if (status !== 400 && status !== 401 && status !== 403) return
    const signature = urlSignature(url)
    const end = signature && endedAt(signature, this.#engine.clock.now())
    if (end === undefined) return
    await response.discard()
    const message = `${new URL(url).origin} refused a signed URL (${signature?.kind}) with ${status}: it expired at ${new Date(end).toISOString()}`
    const hint = 'obtain a new URL: read the document again, or ask its publisher for URLs without a signature'
    throw new CredentialError('AUTH_REJECTED', message, { url, hop, status, hint })
  }
}

/** True unless the URL is signed or not in `sendTo`: cookies are sent to hosts in `sendTo` only. */
function maySeeCookies({ credential }: CredentialMatch, { request, replaces }: AuthStep): boolean {
  return replaces !== true && matchesAny(credential.sendTo, new URL(request.url))
}

function circle(from: string, next: URL, hop: number): TrustError {
  const { origin } = new URL(from)
  const isLogin = origin !== next.origin
  return new TrustError('REDIRECT_LOOP', `redirect loop: from ${origin} back to ${next.origin}`, {
    url: next.href,
    hop,
    ...(isLogin && { hint: 'for a login that sets cookies, list each of its hosts in "sendTo" of one credential' }),
  })
}

/** Returns the caller's request for the URL that answered; at another origin it has safelisted headers only. */
function asked({ method, url, headers, body }: HttpRequest, answered: string): HttpRequest {
  if (new URL(url).origin !== new URL(answered).origin) return { method, url: answered, headers: harmlessHeaders(headers) }
  return body === undefined ? { method, url: answered, headers } : { method, url: answered, headers, body }
}

/** Error codes of RFC 6750 §3.1, RFC 9449 §7.1 and RFC 9470 §3; other text of a server may repeat secrets from the request. */
const ERROR =
  /\berror="?(invalid_request|invalid_token|insufficient_scope|invalid_dpop_proof|use_dpop_nonce|insufficient_user_authentication)\b/

/**
 * Returns `AUTH_REJECTED`. It is retryable when the credential was valid at the start of the call and has expired since (`ended`),
 * as happens with tokens that live for seconds.
 */
function rejected(
  { status, url, headers }: HttpResponse,
  credential: string,
  hop: number,
  ended: boolean,
  { message: words, address }: ServerMessage,
): CredentialError {
  const { origin } = new URL(url)
  const error = ERROR.exec(headers.get('www-authenticate') ?? '')?.[1]
  const says = words ? `. The server says: ${words}` : ''
  const advice = status === 403 ? 'check that the account has access and accepted the terms' : 'check its value and whether it has expired'
  return new CredentialError('AUTH_REJECTED', `${origin} refused "${credential}" with ${status}${error ? ` (${error})` : ''}${says}`, {
    credential,
    url,
    hop,
    status,
    retryable: ended,
    hint: address ? `the server names ${address}; ${advice}` : advice,
  })
}

/** Timeout of a token or signing request, in milliseconds. */
const SIDE_TIMEOUT = 60_000

/** Caches the origin: consecutive requests usually go to the same one. */
const ORIGIN = new LastOrigin()

/** Options of one run of a flow. */
interface FlowOptions {
  readonly signal?: AbortSignal
  /** The authorized request is returned instead of sent. */
  readonly unsent?: boolean
}

/** Returns the context of one request. */
export function contextOf(
  engine: EngineContext,
  match: CredentialMatch,
  resource: Resource,
  { signal, unsent = false }: FlowOptions = {},
): AuthContext {
  const { scheme, credential, strategy } = match
  checkPresent(engine, credential.id)
  const endpoints = strategy.endpoints?.(credential, resource) ?? []
  const side =
    (through: Send): Send =>
    (request, options) => {
      if (!endpoints.some((endpoint) => sameEndpoint(endpoint, request.url))) throw foreignEndpoint(credential.id, request)
      return through(request, { signal, timeout: SIDE_TIMEOUT, use: useOf(match, 'endpoint'), ...options })
    }
  const { sessions, stores, clock, random, warn } = engine
  if (signal) platform.shareSignal(signal)
  const session = sessions.view(credential.id, signal)
  const send = side((request, options) => engine.transport(request, sendOptionsFor(engine, request, options)))
  const connect = (url: string) => connectionTo(url, engine, match, { signal, unsent })
  const changed: AuthContext['changed'] = (change) => engine.changed({ credential: credential.id, change })
  const context = { scheme, credential, resource, session, stores, send, connect, clock, random, signal, warn, changed }
  const via = inputIdOf(credential)
  if (via === undefined) return context
  const input: Input = {
    token: (url) => tokenOf(engine, via, url, signal),
    send: side(sendAs(engine, via)),
    type: chosen(engine, via).credential.type,
    credential: chosen(engine, via).credential,
  }
  return { ...context, input }
}

/**
 * Sends a step of the request for a target. Last check before sending: a secret is only sent to allowed URLs.
 * Errors: `CREDENTIAL_TARGET_UNTRUSTED`.
 */
export function sendStep(
  engine: EngineContext,
  match: CredentialMatch,
  { request, connection }: AuthStep,
  options: SendOptions = {},
): Promise<HttpResponse> {
  checkReach(match, request.url)
  const send = connection ? connection.send : engine.transport
  return send(request, sendOptionsFor(engine, request, { ...options, use: useOf(match, 'resource') }))
}

function useOf({ credential: { id, type } }: CredentialMatch, to: CredentialUse['to']): CredentialUse {
  return { credential: id, type, to }
}

async function connectionTo(
  url: string,
  engine: EngineContext,
  match: CredentialMatch,
  { signal, unsent }: FlowOptions,
): Promise<Connection> {
  checkReach(match, url)
  const { id } = match.credential
  if (unsent) {
    const message = `authorize is not possible with "${id}": its authorization is bound to a connection`
    throw new UnsupportedError('SCHEME_UNSUPPORTED', message, { credential: id, url, hint: 'send the request with fetch' })
  }
  if (engine.transport.connect) return engine.transport.connect(url, sendOptionsFor(engine, { url }, { signal }))
  const message = `"${id}" needs a dedicated connection, which this transport does not support`
  throw new UnsupportedError('SCHEME_UNSUPPORTED', message, { credential: id, url, hint: 'use undiciTransport of stac-auth/node' })
}

/** Returns the options, with private networks allowed when the user named that origin. Errors: `NO_CREDENTIAL` for one that was removed. */
function sendOptionsFor(engine: EngineContext, request: Pick<HttpRequest, 'url'>, options: SendOptions = {}): SendOptions {
  const id = options.use?.credential
  if (id !== undefined) checkPresent(engine, id)
  return { ...options, allowPrivateNetwork: engine.named.has(ORIGIN.of(request.url)) }
}

/** Returns the token of another credential for one URL, which must be among that credential's allowed URLs. */
async function tokenOf(engine: EngineContext, id: string, url: string, signal?: AbortSignal): Promise<Token> {
  const match = chosen(engine, id)
  checkReach(match, url)
  if (!match.strategy.token) throw new ConfigurationError('CONFIG_INVALID', `credential "${id}" cannot provide a token`)
  return match.strategy.token(contextOf(engine, match, { url }, { signal }))
}

/** Errors: `NO_CREDENTIAL` for a credential that was removed while the request was under way. */
export function checkPresent({ removed }: Pick<EngineContext, 'removed'>, id: string): void {
  if (!removed.has(id)) return
  throw new SelectionError('NO_CREDENTIAL', `credential "${id}" was removed while the request was under way`, { credential: id })
}

function chosen(engine: EngineContext, id: string): CredentialMatch {
  const match = engine.credential(id)
  if (!match) throw new ConfigurationError('CONFIG_INVALID', `there is no credential "${id}"`)
  return match
}

/** Returns a function that sends requests authorized by another credential; its allowed URLs are checked as for any request. */
function sendAs(engine: EngineContext, id: string): Send {
  return async (request, options) => {
    const match = chosen(engine, id)
    const context = contextOf(engine, match, { url: request.url }, { signal: options?.signal })
    const result = await runFlow(match.strategy.authorize(request, context), (step) => sendStep(engine, match, step, options))
    if (!result) throw new ConfigurationError('CONFIG_INVALID', `credential "${id}" cannot authorize signing requests`)
    return result.response
  }
}

function sameEndpoint(endpoint: string | Origin, url: string): boolean {
  const { origin, pathname } = new URL(url)
  if (typeof endpoint === 'object') return endpoint.origin === origin
  const own = new URL(endpoint)
  return own.origin === origin && own.pathname === pathname
}

function foreignEndpoint(id: string, { url }: HttpRequest): TrustError {
  return new TrustError(
    'CREDENTIAL_ENDPOINT_UNTRUSTED',
    `${new URL(url).origin} is not an endpoint of credential "${id}". Nothing was sent`,
    {
      credential: id,
      url,
    },
  )
}

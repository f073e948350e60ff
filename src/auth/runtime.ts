/** The part of the engine that sends requests: loaded with the first request that needs it. */

import { platform } from '#platform'
import { type AuthError, ConfigurationError, CredentialError, isAuthError, SelectionError, TrustError } from '../errors.ts'
import type { HttpRequest, HttpResponse, ReplayableBody, Send, SendOptions, Transport } from '../http/message.ts'
import { failure } from '../http/network-error.ts'
import { type AddressProblem, addressOf, isAddressProblem, RELATIVE } from '../http/url.ts'
import { unlessAborted } from '../net/cancellation.ts'
import type { Clock } from '../net/clock.ts'
import type { Target } from '../stac/target.ts'
import {
  type AuthorizedCall,
  type AuthorizedRequest,
  type AuthorizeOptions,
  authorizedRequest,
  type CredentialStatus,
  type Interaction,
  type LogoutChoice,
  plainRequest,
  type Service,
  type TargetSendOptions,
} from './auth.ts'
import type { EngineOptions } from './create-engine.ts'
import { inputIdOf } from './credential.ts'
import { type CredentialSelector, type Selection, Unusable } from './credential-selection.ts'
import { checkPresent, contextOf, type EngineContext, Exchange, type ExchangeOptions, sendStep } from './exchange.ts'
import { openFlow } from './open-flow.ts'
import { withRereadSecrets } from './reread-secrets.ts'
import { hintFor, hrefOf, plainHeaders } from './resource.ts'
import { type CredentialMatch, checkReach, coversTarget } from './scheme-matching.ts'
import { engineMemory, type Session } from './session.ts'
import { type AuthContext, type AuthFlow, type AuthStep, authorizedStep, runFlow } from './strategy.ts'

export { readCredentials } from './parse-credentials.ts'

export class Runtime {
  readonly #engine: EngineContext
  readonly #selector: CredentialSelector
  readonly #exchange: Exchange
  readonly #anonymous: 'allow' | undefined

  constructor(selector: CredentialSelector, clock: Clock, options: EngineOptions) {
    platform.checkOptions?.(options)
    const {
      transport,
      redirects = 'follow',
      anonymous,
      minValidity,
      onWarning = () => {},
      onUse = () => {},
      onSession = () => {},
      session,
    } = options
    const { sessions, store: inMemory, removed } = options.memory ?? engineMemory(clock, minValidity)
    this.#selector = selector
    this.#anonymous = anonymous
    this.#engine = {
      transport: transport ? withOurErrors(transport) : lazyTransport(),
      sessions,
      stores: { persistent: session ?? inMemory, inMemory },
      clock,
      random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
      warn: onWarning,
      used: onUse,
      changed: onSession,
      named: selector.named,
      removed,
      credential: (id) => selector.own.find(({ credential }) => credential.id === id),
    }
    this.#exchange = new Exchange(this.#engine, selector, redirects)
  }

  /** Returns the session of a credential. */
  session(credential: string): Session {
    return this.#engine.sessions.view(credential)
  }

  /**
   * Runs the flow of the first usable credential up to its authorized step; no step when the server requested no authentication.
   * Credentials that need a login are skipped.
   */
  async authorize(
    request: HttpRequest,
    selections: readonly Selection[],
    target: Target,
    { signal, presign, keys }: AuthorizeOptions,
  ): Promise<{ selection: Selection; step?: AuthStep }> {
    let refusal: unknown
    for (const selection of selections) {
      const { match } = selection
      if (!match) return { selection }
      const context = contextOf(this.#engine, match, { url: request.url, target, presign, keys }, { signal, unsent: true })
      try {
        const flow = match.strategy.authorize(request, context)
        const step = await unlessAborted(
          authorizedStep(flow, (next) => sendStep(this.#engine, match, next, { signal })),
          signal,
        )
        return step ? { selection, step } : { selection }
      } catch (error) {
        if (!isAuthError(error) || error.code !== 'LOGIN_REQUIRED') throw error
        refusal ??= error
      }
    }
    throw refusal
  }

  /** Returns the request without credentials for a URL that is not http(s), resolved by its strategy, or unchanged when none supports it. */
  async open(request: HttpRequest, target: Target, selection?: Selection): Promise<AuthorizedRequest> {
    const flow = await openFlow(request, this.#selector, target)
    const step = flow && (await authorizedStep(flow, (ready) => this.#engine.transport(ready.request)))
    const plain = plainRequest(step?.request ?? request, target, selection)
    return step?.location ? { ...plain, location: step.location } : plain
  }

  /** Returns why a selection needs a login first; sends no request. */
  async loginRequired({ match }: Selection): Promise<AuthError | undefined> {
    for (let next = match; next; next = this.#inputOf(next)) {
      const found = await next.strategy.loginRequired?.(this.#alone(next)).catch(asAuthError)
      if (found) return found
      // What was obtained with a login is used without it.
      if (this.#inputOf(next) && (await next.strategy.tokenState?.(this.#alone(next)))?.state === 'valid') return undefined
    }
    return undefined
  }

  /** Returns the credential that another one names in `with` or `subject`; such chains are finite. */
  #inputOf({ credential }: CredentialMatch): CredentialMatch | undefined {
    const id = inputIdOf(credential)
    return id === undefined ? undefined : this.#engine.credential(id)
  }

  /** Errors: `CONFIG_INVALID` for an id without a credential that has a login. */
  async login(id: string, interaction: Interaction, { signal }: Pick<SendOptions, 'signal'>): Promise<void> {
    const match = this.#engine.credential(id)
    if (!match?.strategy.login) throw noLogin(id, match)
    await match.strategy.login(this.#alone(match, signal), interaction)
    // Keys that an earlier login obtained may be another user's; a provider deletes those of the same user.
    for (const other of this.#selector.own) {
      if (other.credential.with !== id || !other.strategy.logout || !(await other.strategy.tokenState?.(this.#alone(other)))) continue
      await this.logout(other.credential.id, signal ? { signal } : {}).catch((error: unknown) => {
        const { code, message } = asAuthError(error)
        this.#engine.warn({ code, message })
      })
    }
  }

  async logout(id: string, { signal, end, revoke }: Pick<SendOptions, 'signal'> & LogoutChoice): Promise<void> {
    const match = this.#engine.credential(id)
    if (!match?.strategy.logout) throw noLogin(id, match)
    this.#exchange.forget(id)
    const choice = revoke === undefined ? {} : { revoke }
    try {
      // Tokens derived from this login are removed with it.
      for (const other of this.#selector.own) {
        if (other.strategy.logout && this.#inputOf(other) === match && (await other.strategy.tokenState?.(this.#alone(other))))
          await this.logout(other.credential.id, { ...(signal && { signal }), ...choice })
      }
    } finally {
      await match.strategy.logout(this.#alone(match, signal), { ...choice, ...(end && { end }) })
    }
  }

  async status(): Promise<readonly CredentialStatus[]> {
    const known = await Promise.all(this.#selector.own.map((match) => statusOf(match, this.#alone(match))))
    return known.filter((status) => status !== undefined)
  }

  /** Returns the context for operations on the credential itself, without a URL. */
  #alone(match: CredentialMatch, signal?: AbortSignal): AuthContext {
    return contextOf(this.#engine, match, { url: 'about:blank' }, { signal })
  }

  /** `given`: defaults for what `init` does not set. */
  async fetchTarget(target: Target, init: RequestInit, given?: Request): Promise<Response> {
    return (await this.#sendTo(target, (url) => requestOf(url, given, init), waysOf(init, given))).toResponse()
  }

  /** Like `fetchTarget`, with plain objects. Errors: as for sending, `USAGE` for a header that HTTP does not allow. */
  async sendTarget(target: Target, { headers, method = 'GET', body, ...init }: TargetSendOptions): Promise<HttpResponse> {
    const plain = plainHeaders(headers)
    return this.#sendTo(target, (url) => ({ method, url, headers: plain, ...(body !== undefined && { body }) }), init)
  }

  async #sendTo(
    target: Target,
    requestAt: (url: string) => HttpRequest | Promise<HttpRequest>,
    init: ExchangeOptions,
  ): Promise<HttpResponse> {
    const url = this.#selector.addressOf(target)
    const selections = this.#selector.select(target, url, this.#anonymous)
    if (selections instanceof Unusable) throw await selections.error()
    return this.#exchange.send(await requestAt(hrefOf(url)), { target, selections }, init)
  }

  /** Errors: `NO_CREDENTIAL`, `URL_*`. */
  service(base: string): Service {
    const url = addressOf(base, { secure: true, named: this.#selector.named })
    if (isAddressProblem(url)) throw refusedUrl('the URL of the service', url)
    const [selection] = this.#exchange.byAddress(url)
    if (selection?.match) return new ServiceOf(this.#engine, selection.match, url)
    const hint = `add "${url.origin}/" to "sendTo" of the credential for this service`
    throw new SelectionError('NO_CREDENTIAL', `no credential may be sent to ${url.origin}`, { url: base, hint })
  }

  /** Like `fetchAddress`, for what is known without waiting. Errors: `URL_*`, `CREDENTIAL_TARGET_UNTRUSTED`. */
  peek(address: string): AuthorizedRequest | undefined {
    const url = this.#written(address)
    const request: HttpRequest = { method: 'GET', url: hrefOf(url), headers: {} }
    const [selection] = this.#exchange.byAddress(url)
    if (!selection?.match) return url.protocol === 's3:' ? undefined : { ...request, secretIn: { headers: [], url: false } }
    const { strategy, scheme, credential } = selection.match
    const known = { scheme, credential, session: this.session(credential.id), clock: this.#engine.clock, resource: { url: request.url } }
    const step = strategy.peek?.(request, known)
    if (!step || step.connection) return undefined
    if (step.request.url !== request.url) checkReach(selection.match, step.request.url)
    const { pointer: _, ...authorized } = authorizedRequest(request, step, {} as Target, selection)
    return authorized
  }

  /** For a URL from the caller, not from a catalog. Errors: `URL_*`. */
  async fetchAddress(input: string | URL | Request, init: RequestInit): Promise<Response> {
    const request = typeof input === 'object' && !(input instanceof URL) ? input : undefined
    const url = this.#written(request ? request.url : String(input))
    const selections = this.#exchange.byAddress(url)
    return (await this.#exchange.send(await requestOf(hrefOf(url), request, init), { selections }, waysOf(init, request))).toResponse()
  }

  /** Like `fetchAddress`, with plain objects. Errors: `URL_*`, `USAGE` for a header that HTTP does not allow. */
  async send({ method, url: address, headers, body }: HttpRequest, options: ExchangeOptions): Promise<HttpResponse> {
    const { signal, redirect, onUse, anonymous } = options
    const url = this.#written(address)
    const request = { method, url: hrefOf(url), headers: plainHeaders(headers) }
    const selections = this.#exchange.byAddress(url)
    return this.#exchange.send(body === undefined ? request : { ...request, body }, { selections }, { signal, redirect, onUse, anonymous })
  }

  #written(address: string): URL {
    const url = addressOf(address, { secure: false, named: this.#selector.named, objects: true })
    if (isAddressProblem(url)) throw refusedUrl('the URL', url)
    return url
  }
}

/** A URL of the caller has no document that it could be relative to. */
function refusedUrl(what: string, problem: AddressProblem): TrustError {
  if (problem === RELATIVE)
    return new TrustError(problem.code, `${what} is relative`, { hint: 'give an absolute URL, or a target: assetOf(item, key)' })
  const advice =
    problem.code === 'URL_ADDRESS_FORBIDDEN'
      ? { hint: 'if you trust that host: type its URL, add it to "sendTo" of a credential, or in code to "typed"' }
      : hintFor(problem)
  return new TrustError(problem.code, `${what} ${problem.message}`, advice)
}

/** Returns the send options; members that are `undefined` are ignored, as in the standard `fetch`. */
function waysOf(init: RequestInit, given?: Request): Pick<RequestInit, 'signal' | 'redirect'> {
  return { signal: init.signal ?? given?.signal, redirect: init.redirect ?? given?.redirect }
}

/** Returns the error; a store that cannot be read also prevents the use of a credential. */
function asAuthError(error: unknown): AuthError {
  if (isAuthError(error)) return error
  throw error
}

async function statusOf({ credential, strategy }: CredentialMatch, context: AuthContext): Promise<CredentialStatus | undefined> {
  const { id, type, flow } = credential
  const found = await strategy.tokenState?.(context)
  if (!found) return undefined
  const { expiresAt, ...known } = found
  return {
    credential: id,
    type,
    ...(typeof flow === 'string' && { flow }),
    ...known,
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
  }
}

function noLogin(id: string, match: CredentialMatch | undefined): ConfigurationError {
  if (!match) return new ConfigurationError('CONFIG_INVALID', `there is no credential "${id}"`)
  const { type, with: via } = match.credential
  const message = `credential "${id}" of type ${type} has no login: it needs only ${typeof via === 'string' ? `that of "${via}"` : 'its secret'}`
  return new ConfigurationError('CONFIG_INVALID', message, {
    credential: id,
    ...(typeof via === 'string' && { hint: `stac-auth login ${via}` }),
  })
}

/** Replaces errors of the caller's transport, which may contain the request. Errors: also `CONFIG_INVALID` if it returns no response. */
function withOurErrors(theirs: Transport): Transport {
  const send = async (request: HttpRequest, options?: SendOptions): Promise<HttpResponse> => {
    let response: HttpResponse | undefined
    try {
      response = await theirs(request, options)
    } catch (error) {
      throw failure(error, options?.signal, request.url)
    }
    if (!response?.headers) throw new ConfigurationError('CONFIG_INVALID', 'the transport returned no response')
    return response
  }
  return Object.assign(send, theirs.connect && { connect: theirs.connect })
}

/** Loads the platform's transport with the first request. */
function lazyTransport(): Transport {
  let transport: Transport | undefined
  let loading: Promise<Transport> | undefined
  const load = async () => {
    loading ??= platform.defaultTransport()
    transport = await loading
    return transport
  }
  const send = (request: HttpRequest, options?: SendOptions) =>
    transport ? transport(request, options) : load().then((loaded) => loaded(request, options))
  return Object.assign(send, platform.connect && { connect: platform.connect })
}

/** Returns the plain request for the arguments of `fetch`; a body is read so that it can be sent again. */
async function requestOf(url: string, input: Request | undefined, init: RequestInit): Promise<HttpRequest> {
  const headers = plainHeaders(init.headers ?? input?.headers)
  const method = String(init.method ?? input?.method ?? 'GET').toUpperCase()
  const body = await bodyOf(input, init, headers)
  return body === undefined ? { method, url, headers } : { method, url, headers, body }
}

async function bodyOf(
  input: Request | undefined,
  { body = null }: RequestInit,
  headers: Record<string, string>,
): Promise<ReplayableBody | undefined> {
  if (body === null) return input?.body ? new Uint8Array(await input.arrayBuffer()) : undefined
  const standard = new Response(body)
  const type = standard.headers.get('content-type')
  if (type) headers['content-type'] ??= type
  return new Uint8Array(await standard.arrayBuffer())
}

/** The credential for the URLs below one base URL. */
class ServiceOf implements Service {
  readonly credential: string
  readonly allowPrivateNetwork: boolean
  readonly #engine: EngineContext
  readonly #match: CredentialMatch
  readonly #session: Session
  /** Prefix of all URLs of an allowed origin; empty when each URL has to be checked. */
  readonly #allowedPrefix: string

  constructor(engine: EngineContext, match: CredentialMatch, base: URL) {
    this.credential = match.credential.id
    this.allowPrivateNetwork = engine.named.has(base.origin)
    this.#engine = engine
    this.#match = match
    this.#session = engine.sessions.view(match.credential.id)
    this.#allowedPrefix = coversTarget(match, new URL('/', base)) ? `${base.origin}/` : ''
  }

  peek(request: HttpRequest): HttpRequest | undefined {
    const { strategy, scheme, credential } = this.#match
    const { clock } = this.#engine
    const step = strategy.peek?.(request, { scheme, credential, session: this.#session, clock, resource: { url: request.url } })
    if (!step || step.connection) return undefined
    this.#checkReach(step.request.url)
    return step.request
  }

  async send(request: HttpRequest, send: Send, { signal, refused }: AuthorizedCall = {}): Promise<HttpResponse> {
    const match = this.#match
    const context = contextOf(this.#engine, match, { url: request.url }, { signal })
    const sent = (step: AuthStep) => {
      checkPresent(this.#engine, this.credential)
      this.#checkReach(step.request.url)
      const by = step.connection ? step.connection.send : send
      return by(step.request, { allowPrivateNetwork: this.allowPrivateNetwork, ...(signal && { signal }) })
    }
    let first = refused
    const result = await withRereadSecrets(this.#engine, match, () => {
      const flow = match.strategy.authorize(request, context)
      const resuming = first && resumed(flow, first)
      first = undefined
      return runFlow(resuming ?? flow, sent)
    })
    if (result) return result.response
    if (refused) return refused.response
    throw new CredentialError('CREDENTIAL_SOURCE', `"${this.credential}" gave no authorization for ${new URL(request.url).origin}`, {
      credential: this.credential,
    })
  }

  #checkReach(url: string): void {
    if (this.#allowedPrefix === '' || !url.startsWith(this.#allowedPrefix)) checkReach(this.#match, url)
  }
}

/** Returns the flow with its first response given, because that request was already sent and refused; a flow that begins differently is sent. */
async function* resumed(flow: AuthFlow, { request, response }: NonNullable<AuthorizedCall['refused']>): AuthFlow {
  try {
    let step = await flow.next(undefined as never)
    if (!step.done && sameRequest(step.value.request, request)) step = await flow.next(response)
    while (!step.done) step = await flow.next(yield step.value)
  } finally {
    await flow.return()
  }
}

function sameRequest(one: HttpRequest, other: HttpRequest): boolean {
  const names = Object.keys(one.headers)
  return (
    one.url === other.url &&
    names.length === Object.keys(other.headers).length &&
    names.every((name) => one.headers[name] === other.headers[name])
  )
}

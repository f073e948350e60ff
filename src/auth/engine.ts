/** The engine: what `Auth` offers, from the selection of a credential to the response. Loaded with the first call. */

import { platform } from '#platform'
import { type AuthError, abortedBy, ConfigurationError, CredentialError, isAuthError, SelectionError, TrustError } from '../errors.ts'
import type { HttpRequest, HttpResponse, ReplayableBody, Send, SendOptions, Transport } from '../http/message.ts'
import { failure } from '../http/network-error.ts'
import { type AddressProblem, addressOf, isAddressProblem, RELATIVE } from '../http/url.ts'
import { unlessAborted } from '../net/cancellation.ts'
import { isObject } from '../stac/document.ts'
import type { Target } from '../stac/target.ts'
import type {
  Anonymous,
  AuthorizedCall,
  AuthorizedRequest,
  AuthorizeOptions,
  CredentialStatus,
  Explanation,
  FetchOptions,
  Interaction,
  LogoutChoice,
  Service,
  TargetSendOptions,
} from './auth.ts'
import {
  authorizedRequest,
  checkPresent,
  contextOf,
  type EngineContext,
  openFlow,
  plainRequest,
  sendStep,
  withRereadSecrets,
} from './authorize.ts'
import type { EngineOptions, StrategyTable } from './create-engine.ts'
import { inputIdOf } from './credential.ts'
import { below, givenTarget, hintFor, hrefOf, plainHeaders } from './resource.ts'
import { type CredentialMatch, checkReach, coversTarget, type Selection, type Selector, type UsableReference } from './select.ts'
import { isUnreadable, type RequestOptions, Sender } from './send.ts'
import { engineMemory } from './session.ts'
import { type AuthContext, type AuthFlow, type AuthStep, authorizedStep, type Resource, runFlow } from './strategy.ts'

export { readCredentials } from './parse-credentials.ts'

/** Loaded when a target is refused or explained. */
const refusals = () => import('./refusals.ts')

export class Engine {
  readonly #engine: EngineContext
  readonly #strategies: StrategyTable
  readonly #selector: Selector
  readonly #sender: Sender
  readonly #anonymous: Anonymous['anonymous']

  /** Errors: `CONFIG_INVALID`. */
  constructor(selector: Selector, strategies: StrategyTable, options: EngineOptions) {
    platform.checkOptions?.(options)
    const { clock = { now: Date.now }, transport, anonymous, redirects = 'follow' } = options
    const { sessions, store: inMemory, removed, unstored } = options.memory ?? engineMemory(clock, options.minValidity)
    this.#strategies = strategies
    this.#selector = selector
    this.#anonymous = anonymous
    this.#engine = {
      transport: transport ? withOurErrors(transport) : lazyTransport(),
      sessions,
      stores: { persistent: options.session ?? inMemory, inMemory },
      clock,
      random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
      warn: options.onWarning ?? (() => {}),
      used: options.onUse ?? (() => {}),
      changed: options.onSession ?? (() => {}),
      named: selector.named,
      removed,
      unstored,
      credential: (id) => selector.credential(id),
      objectStore: async (url) => {
        const type = url.protocol.slice(0, -1)
        await strategies.load([type])
        const own = selector.own.find((match) => match.credential.type === type && coversTarget(match, url))
        return { strategy: strategies.get(type), credential: own?.credential }
      },
    }
    this.#sender = new Sender(this.#engine, selector, redirects)
  }

  async authorize(input: Target | undefined, options: AuthorizeOptions): Promise<AuthorizedRequest> {
    const { signal, method = 'GET', headers, presign, keys, anonymous = this.#anonymous } = options
    const target = givenTarget(input)
    if (signal?.aborted) throw abortedBy(signal)
    const selection = await this.#selection(target, anonymous)
    const request: HttpRequest = { method, url: hrefOf(selection.url), headers: plainHeaders(headers) }
    let refusal: AuthError | undefined
    for (const reference of selection.usable) {
      const { match, warnings } = reference
      for (const warning of warnings) this.#engine.warn(warning)
      if (!match) return this.#open(request, reference, target)
      try {
        const step = await this.#authorizedStep(request, match, { url: request.url, target, presign, keys }, signal)
        if (!step) return plainRequest(request, reference, target)
        checkStep(match, step, request)
        return authorizedRequest(request, step, reference, target)
      } catch (error) {
        if (!isAuthError(error) || !(error.code === 'LOGIN_REQUIRED' || (anonymous === 'allow' && isUnreadable(error)))) throw error
        refusal ??= error
      }
    }
    if (refusal && anonymous !== 'allow') throw refusal
    return this.#open(request, undefined, target)
  }

  /** Runs the flow of a credential up to its authorized step; no step when the server requested no authentication. */
  async #authorizedStep(request: HttpRequest, match: CredentialMatch, resource: Resource, signal: AbortSignal | undefined) {
    const flow = match.strategy.authorize(request, contextOf(this.#engine, match, resource, { signal, unsent: true }))
    return unlessAborted(
      authorizedStep(flow, (step) => sendStep(this.#engine, match, step, { signal })),
      signal,
    )
  }

  /** Returns the request without credentials; for a URL that is not http(s) as its strategy resolves it, or unchanged when none supports it. */
  async #open(request: HttpRequest, reference: UsableReference | undefined, target: Target): Promise<AuthorizedRequest> {
    const flow = /^https?:/.test(request.url) ? undefined : await openFlow(this.#engine, request, target)
    const step = flow && (await authorizedStep(flow, (ready) => this.#engine.transport(ready.request)))
    const plain = plainRequest(step?.request ?? request, reference, target)
    return step?.location ? { ...plain, location: step.location } : plain
  }

  async fetch(input: Target | string | URL | Request | undefined, init: FetchOptions): Promise<Response> {
    if (!isAddress(input)) return this.#fetch(await this.#selection(givenTarget(input), init.anonymous), init)
    const given = typeof input === 'object' && !(input instanceof URL) ? input : undefined
    return this.#fetch(this.#selector.selectUrl(this.#written(given?.url ?? String(input))), init, given)
  }

  /** Fetches a URL below a target. */
  async fetchBelow(target: Target | undefined, input: string | URL | Request, init: FetchOptions): Promise<Response> {
    const given = input instanceof Request ? input : undefined
    return this.#fetch(await this.#selection(below(givenTarget(target), given?.url ?? String(input)), init.anonymous), init, given)
  }

  /** `given`: defaults for what `init` does not set. Members that are `undefined` are ignored, as in the standard `fetch`. */
  async #fetch(selection: Selection, init: FetchOptions, given?: Request): Promise<Response> {
    const request = await requestOf(hrefOf(selection.url), given, init)
    const { signal = given?.signal, redirect = given?.redirect, anonymous } = init
    return (await this.#send(request, selection, { signal, redirect, anonymous })).toResponse()
  }

  /** Errors: also why nothing in the selection can be used, if the server refuses the request without a credential. */
  async #send(request: HttpRequest, selection: Selection, options: RequestOptions): Promise<HttpResponse> {
    const response = await this.#sender.send(request, selection, { ...options, anonymous: options.anonymous ?? this.#anonymous })
    const isWithout = selection.usable.length === 0 && selection.rejected.length > 0
    if (!isWithout || (response.status !== 401 && response.status !== 403)) return response
    await response.discard()
    throw (await refusals()).refusalOf(selection)
  }

  async send(input: HttpRequest | Target | undefined, options: TargetSendOptions): Promise<HttpResponse> {
    const { method = 'GET', headers, body, ...rest } = options
    if (isRequest(input)) {
      const { signal, redirect, onUse, anonymous }: RequestOptions = rest
      const selection = this.#selector.selectUrl(this.#written(input.url))
      const request = { ...input, url: hrefOf(selection.url), headers: plainHeaders(input.headers) }
      return this.#send(request, selection, { signal, redirect, onUse, anonymous })
    }
    const selection = await this.#selection(givenTarget(input), rest.anonymous)
    const request = { method, url: hrefOf(selection.url), headers: plainHeaders(headers), ...(body !== undefined && { body }) }
    return this.#send(request, selection, rest)
  }

  /** Returns what is selected for a target, after loading what it needs. Errors: `SelectionError` when nothing may be sent. */
  async #selection(target: Target, anonymous = this.#anonymous): Promise<Selection> {
    const pending = this.#selector.pendingTypes(target)
    if (pending.length > 0) await this.#strategies.load(pending)
    const selection = this.#selector.select(target, this.#selector.addressOf(target))
    if (selection.usable.length > 0 || selection.rejected.length === 0 || anonymous === 'allow') return selection
    throw (await refusals()).refusalOf(selection)
  }

  /** Returns the URL that the caller wrote. Errors: `URL_*`. */
  #written(address: string): URL {
    const url = addressOf(address, { secure: false, named: this.#selector.named, objects: true })
    if (isAddressProblem(url)) throw refusedUrl('the URL', url)
    return url
  }

  peek(input: Target | string | undefined): AuthorizedRequest | undefined {
    const target = typeof input === 'string' ? undefined : givenTarget(input)
    if (target && this.#selector.pendingTypes(target).length > 0) return undefined
    const selection = target
      ? this.#selector.select(target, this.#selector.addressOf(target))
      : this.#selector.selectUrl(this.#written(String(input)))
    const { usable, rejected, url } = selection
    const [reference] = usable
    if (!reference && rejected.length > 0 && this.#anonymous !== 'allow') return undefined
    const request: HttpRequest = { method: 'GET', url: hrefOf(url), headers: {} }
    const { match } = reference ?? {}
    if (!match) return url.protocol === 's3:' ? undefined : plainRequest(request, reference, target)
    const step = peekStep(this.#engine, match, request, target)
    return step && authorizedRequest(request, step, reference, target)
  }

  async explain(input: Target | undefined): Promise<Explanation> {
    const target = givenTarget(input)
    await this.#strategies.load(this.#selector.pendingTypes(target))
    const { explain, explainUrl } = await refusals()
    let url: URL
    try {
      url = this.#selector.addressOf(target)
    } catch (error) {
      return explainUrl(target, asAuthError(error))
    }
    const loginRequired = ({ match }: UsableReference) => this.#loginRequired(match)
    return explain(target, this.#selector.select(target, url), { loginRequired, now: this.#engine.clock.now() })
  }

  /** Returns why a credential needs a login first; sends no request. */
  async #loginRequired(match: CredentialMatch | undefined): Promise<AuthError | undefined> {
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

  /** Returns the context for operations on the credential itself, without a URL. */
  #alone(match: CredentialMatch, signal?: AbortSignal): AuthContext {
    return contextOf(this.#engine, match, { url: 'about:blank' }, { signal })
  }

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
    this.#sender.forget(id)
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
    const { unstored } = this.#engine
    const known = await Promise.all(this.#selector.own.map((match) => statusOf(match, this.#alone(match))))
    return known.flatMap((status) => (status ? [unstored.has(status.credential) ? { ...status, persistent: false } : status] : []))
  }

  async service(base: string): Promise<Service> {
    const url = addressOf(base, { secure: true, named: this.#selector.named })
    if (isAddressProblem(url)) throw refusedUrl('the URL of the service', url)
    const [{ match } = {}] = this.#selector.selectUrl(url).usable
    if (match) return new CredentialService(this.#engine, match, this.#selector.named.has(url.origin))
    const hint = `run stac-auth credentials trust ID ${url.origin}/ with the id of the credential for this service`
    throw new SelectionError('NO_CREDENTIAL', `no credential may be sent to ${url.origin}`, { url: base, hint })
  }
}

/** True for what a standard `fetch` takes. No document has a function, so its author cannot choose the request. */
function isAddress(input: unknown): input is string | URL | Request {
  return typeof input === 'string' || input instanceof URL || (isObject(input) && typeof input.arrayBuffer === 'function')
}

/** True for a request of the caller. A document, an asset or a link may have members of these names as well, but has one of its own. */
function isRequest(given: HttpRequest | Target | undefined): given is HttpRequest {
  return isObject(given) && 'url' in given && !['href', 'type', 'links'].some((name) => name in given)
}

/** Errors: `CREDENTIAL_TARGET_UNTRUSTED` for a step whose URL differs from that of the request and is not allowed. */
function checkStep(match: CredentialMatch, step: AuthStep, request: HttpRequest): void {
  if (step.request.url !== request.url) checkReach(match, step.request.url)
}

/** Returns the authorized step when everything it needs is already known. Errors: `CREDENTIAL_TARGET_UNTRUSTED`. */
function peekStep(engine: EngineContext, match: CredentialMatch, request: HttpRequest, target?: Target): AuthStep | undefined {
  const { strategy, scheme, credential } = match
  const session = engine.sessions.view(credential.id)
  const step = strategy.peek?.(request, { scheme, credential, session, clock: engine.clock, resource: { url: request.url, target } })
  if (!step || step.connection) return undefined
  checkStep(match, step, request)
  return step
}

/** A URL of the caller has no document that it could be relative to. */
function refusedUrl(what: string, problem: AddressProblem): TrustError {
  if (problem === RELATIVE)
    return new TrustError(problem.code, `${what} is relative`, { hint: 'give an absolute URL, or a target: assetOf(item, key)' })
  const advice =
    problem.code === 'URL_ADDRESS_FORBIDDEN'
      ? {
          hint: 'if you trust that host: type its URL, or stac-auth credentials trust ID URL; in code, "sendTo" of a credential, or "typed"',
        }
      : hintFor(problem)
  return new TrustError(problem.code, `${what} ${problem.message}`, advice)
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
async function requestOf(url: string, input: Request | undefined, init: FetchOptions): Promise<HttpRequest> {
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
class CredentialService implements Service {
  readonly credential: string
  readonly allowPrivateNetwork: boolean
  readonly #engine: EngineContext
  readonly #match: CredentialMatch

  constructor(engine: EngineContext, match: CredentialMatch, allowPrivateNetwork: boolean) {
    this.credential = match.credential.id
    this.allowPrivateNetwork = allowPrivateNetwork
    this.#engine = engine
    this.#match = match
  }

  peek(request: HttpRequest): HttpRequest | undefined {
    checkReach(this.#match, request.url)
    return peekStep(this.#engine, this.#match, request)?.request
  }

  async send(request: HttpRequest, send: Send, { signal, refused }: AuthorizedCall = {}): Promise<HttpResponse> {
    const match = this.#match
    const context = contextOf(this.#engine, match, { url: request.url }, { signal })
    const sent = (step: AuthStep) => {
      checkPresent(this.#engine, this.credential)
      checkReach(match, step.request.url)
      const by = step.connection ? step.connection.send : send
      const use = { credential: this.credential, type: match.credential.type, to: 'resource' } as const
      return by(step.request, { allowPrivateNetwork: this.allowPrivateNetwork, use, ...(signal && { signal }) })
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

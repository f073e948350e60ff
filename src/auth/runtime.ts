/** The half of the engine that sends: loaded with the first request that needs it. */
import { platform } from '#platform'
import { type AuthError, ConfigurationError, CredentialError, isAuthError, SelectionError, TrustError } from '../errors.ts'
import type { HttpRequest, HttpResponse, ReplayableBody, Send, SendOptions, Transport } from '../http/message.ts'
import { failure } from '../http/network-error.ts'
import { addressOf, isAddressProblem } from '../http/url.ts'
import type { Clock } from '../net/clock.ts'
import type { Target } from '../stac/target.ts'
import type { AuthorizedCall, AuthorizedRequest, AuthorizeOptions, CredentialStatus, Service, TargetSendOptions } from './auth.ts'
import { plainHeaders, plainRequest } from './authorized-request.ts'
import { contextOf, sendLeg, type World } from './context.ts'
import type { EngineOptions } from './create-engine.ts'
import { type Chooser, type Selection, Unusable } from './credential-selection.ts'
import { Exchange, openFlow } from './exchange.ts'
import { type AuthFlow, authorizedLeg, type Leg, runFlow } from './flow.ts'
import type { Interaction } from './interaction.ts'
import { hintFor, hrefOf } from './resource.ts'
import { type Choice, checkReach, coversTarget } from './scheme-matching.ts'
import { MemorySessions, type Session } from './session.ts'
import type { AuthContext } from './strategy.ts'
import { memoryStore } from './token-store.ts'

export class Runtime {
  readonly #world: World
  readonly #chooser: Chooser
  readonly #exchange: Exchange
  readonly #anonymous: 'allow' | undefined

  constructor(chooser: Chooser, clock: Clock, options: EngineOptions) {
    const { transport, redirects = 'follow', anonymous, onWarning = () => {}, onUse = () => {}, onSession = () => {}, session } = options
    const passing = memoryStore()
    this.#chooser = chooser
    this.#anonymous = anonymous
    this.#world = {
      transport: transport ? withOurErrors(transport) : lazyTransport(),
      sessions: new MemorySessions(clock),
      stores: { lasting: session ?? passing, passing },
      clock,
      random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
      warn: onWarning,
      used: onUse,
      changed: onSession,
      named: chooser.named,
      entry: (id) => chooser.own.find(({ credential }) => credential.id === id),
    }
    this.#exchange = new Exchange(this.#world, chooser, redirects)
  }

  /** The session of an entry, for a look at what is there. */
  session(credential: string): Session {
    return this.#world.sessions.view(credential)
  }

  /**
   * Runs the flow of the first usable entry as far as its authorized leg; no leg when the server asked for nothing. Entries that
   * wait for a login are passed over.
   */
  async authorize(
    request: HttpRequest,
    selections: readonly Selection[],
    target: Target,
    { signal, presign, keys }: AuthorizeOptions,
  ): Promise<{ selection: Selection; leg?: Leg }> {
    let refusal: unknown
    for (const selection of selections) {
      const { choice } = selection
      if (!choice) return { selection }
      const context = contextOf(this.#world, choice, { url: request.url, target, presign, keys }, { signal, unsent: true })
      try {
        const flow = choice.strategy.authorize(request, context)
        const leg = await authorizedLeg(flow, (leg) => sendLeg(this.#world, choice, leg, { signal }))
        return leg ? { selection, leg } : { selection }
      } catch (error) {
        if (!isAuthError(error) || error.code !== 'LOGIN_REQUIRED') throw error
        refusal ??= error
      }
    }
    throw refusal
  }

  /** The request without material to an address that is none of the web's: where it would go, and as it is when no strategy knows. */
  async open(request: HttpRequest, target: Target, selection?: Selection): Promise<AuthorizedRequest> {
    const flow = await openFlow(request, this.#chooser, target)
    const leg = flow && (await authorizedLeg(flow, (leg) => this.#world.transport(leg.request)))
    const plain = plainRequest(leg?.request ?? request, target, selection)
    return leg?.location ? { ...plain, location: leg.location } : plain
  }

  /** Why a selection cannot be used before a person did something; asks no server. */
  async hindrance({ choice }: Selection): Promise<AuthError | undefined> {
    for (let next = choice; next; next = this.#inputOf(next)) {
      const found = await next.strategy.hindrance?.(this.#alone(next)).catch(asAuthError)
      if (found) return found
    }
    return undefined
  }

  /** The entry that another one names in `with` or `subject`; such chains come to an end. */
  #inputOf({ credential }: Choice): Choice | undefined {
    const id = credential.with ?? credential.subject
    return typeof id === 'string' ? this.#world.entry(id) : undefined
  }

  /** Errors: `CONFIG_INVALID` for an id that is no entry with a login. */
  async login(id: string, interaction: Interaction = {}, { signal }: Pick<SendOptions, 'signal'> = {}): Promise<void> {
    const choice = this.#world.entry(id)
    if (!choice?.strategy.login) throw noLogin(id, choice)
    await choice.strategy.login(this.#alone(choice, signal), interaction)
  }

  async logout(id: string, { signal, end }: Pick<SendOptions, 'signal'> & Pick<Interaction, 'end'> = {}): Promise<void> {
    const choice = this.#world.entry(id)
    if (!choice?.strategy.logout) throw noLogin(id, choice)
    this.#exchange.forget(id)
    try {
      // What stands on this login ends with it.
      for (const other of this.#chooser.own) {
        if (other.strategy.logout && this.#inputOf(other) === choice) await this.logout(other.credential.id, signal ? { signal } : {})
      }
    } finally {
      await choice.strategy.logout(this.#alone(choice, signal), end ? { end } : {})
    }
  }

  async status(): Promise<readonly CredentialStatus[]> {
    const known = await Promise.all(this.#chooser.own.map((choice) => statusOf(choice, this.#alone(choice))))
    return known.filter((status) => status !== undefined)
  }

  /** For what concerns the entry itself and no address. */
  #alone(choice: Choice, signal?: AbortSignal): AuthContext {
    return contextOf(this.#world, choice, { url: 'about:blank' }, { signal })
  }

  /** `given`: what `init` does not say. */
  async fetchTarget(target: Target, init: RequestInit, given?: Request): Promise<Response> {
    return (await this.#sendTo(target, (url) => requestOf(url, given, init), waysOf(init, given))).toResponse()
  }

  /** The same in plain data. Errors: as for sending, `USAGE` for a header that HTTP does not allow. */
  async sendTarget(target: Target, { headers, signal }: TargetSendOptions = {}): Promise<HttpResponse> {
    const plain = plainHeaders(headers)
    return this.#sendTo(target, (url) => ({ method: 'GET', url, headers: plain }), signal ? { signal } : {})
  }

  async #sendTo(
    target: Target,
    requestAt: (url: string) => HttpRequest | Promise<HttpRequest>,
    init: Pick<RequestInit, 'signal' | 'redirect'>,
  ): Promise<HttpResponse> {
    const url = this.#chooser.addressOf(target)
    const selections = this.#chooser.select(target, url, this.#anonymous)
    if (selections instanceof Unusable) throw await selections.error()
    return this.#exchange.send(await requestAt(hrefOf(url)), { target, selections }, init)
  }

  /** Errors: `NO_CREDENTIAL`, `URL_*`. */
  service(base: string): Service {
    const url = addressOf(base, { secure: true, named: this.#chooser.named })
    if (isAddressProblem(url)) throw new TrustError(url.code, `the address of the service ${url.message}`, hintFor(url))
    const [selection] = this.#exchange.byAddress(url)
    if (selection?.choice) return new ServiceOf(this.#world, selection.choice, url)
    const hint = `write "${url.origin}/" in the sendTo of the entry that is meant for it`
    throw new SelectionError('NO_CREDENTIAL', `no entry may be sent to ${url.origin}`, { url: base, hint })
  }

  /** For an address that the caller wrote, not a catalog. Errors: `URL_*`. */
  async fetchAddress(input: string | URL | Request, init: RequestInit): Promise<Response> {
    const request = typeof input === 'object' && !(input instanceof URL) ? input : undefined
    const url = this.#written(request ? request.url : String(input))
    const selections = this.#exchange.byAddress(url)
    return (await this.#exchange.send(await requestOf(hrefOf(url), request, init), { selections }, waysOf(init, request))).toResponse()
  }

  /** The same for plain data. Errors: `URL_*`, `USAGE` for a header that HTTP does not allow. */
  async send({ method, url: address, headers, body }: HttpRequest, { signal }: Pick<SendOptions, 'signal'> = {}): Promise<HttpResponse> {
    const url = this.#written(address)
    const request = { method, url: hrefOf(url), headers: plainHeaders(headers) }
    const selections = this.#exchange.byAddress(url)
    return this.#exchange.send(body === undefined ? request : { ...request, body }, { selections }, { signal })
  }

  #written(address: string): URL {
    const url = addressOf(address, { secure: false, named: this.#chooser.named, objects: true })
    if (isAddressProblem(url)) throw new TrustError(url.code, `the address ${url.message}`, hintFor(url))
    return url
  }
}

/** How a request is sent; a member that is `undefined` says nothing, as for the standard's `fetch`. */
function waysOf(init: RequestInit, given?: Request): Pick<RequestInit, 'signal' | 'redirect'> {
  return { signal: init.signal ?? given?.signal, redirect: init.redirect ?? given?.redirect }
}

/** A store that cannot be read hinders as well. */
function asAuthError(error: unknown): AuthError {
  if (isAuthError(error)) return error
  throw error
}

async function statusOf({ credential, strategy }: Choice, context: AuthContext): Promise<CredentialStatus | undefined> {
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

function noLogin(id: string, choice: Choice | undefined): ConfigurationError {
  if (!choice) return new ConfigurationError('CONFIG_INVALID', `there is no entry "${id}"`)
  const message = `entry "${id}" of type ${choice.credential.type} has no login: its secret is all it needs`
  return new ConfigurationError('CONFIG_INVALID', message, { credential: id })
}

/** A transport of the caller's may throw anything, and what it throws may hold the request. */
function withOurErrors(theirs: Transport): Transport {
  const send = async (request: HttpRequest, options?: SendOptions): Promise<HttpResponse> => {
    try {
      return await theirs(request, options)
    } catch (error) {
      throw failure(error, options?.signal, request.url)
    }
  }
  return Object.assign(send, theirs.connect && { connect: theirs.connect })
}

/** The platform's transport is loaded by the first request. */
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

/** The plain request for what a caller of `fetch` passes; a body is read so that it can be sent again. */
async function requestOf(url: string, input: Request | undefined, init: RequestInit = {}): Promise<HttpRequest> {
  const headers: Record<string, string> = {}
  new Headers(init.headers ?? input?.headers).forEach((value, name) => {
    headers[name] = value
  })
  const method = (init.method ?? input?.method ?? 'GET').toUpperCase()
  const body = await bodyOf(input, init, headers)
  return body === undefined ? { method, url, headers } : { method, url, headers, body }
}

async function bodyOf(input: Request | undefined, init: RequestInit, headers: Record<string, string>): Promise<ReplayableBody | undefined> {
  if (typeof init.body === 'string') {
    headers['content-type'] ??= 'text/plain;charset=UTF-8'
    return init.body
  }
  if (init.body instanceof Uint8Array) return init.body
  if (init.body === undefined || init.body === null) return input?.body ? new Uint8Array(await input.arrayBuffer()) : undefined
  const standard = new Response(init.body)
  const type = standard.headers.get('content-type')
  if (type) headers['content-type'] ??= type
  return new Uint8Array(await standard.arrayBuffer())
}

/** What an engine has for the addresses below one base. */
class ServiceOf implements Service {
  readonly credential: string
  readonly granted: boolean
  readonly #world: World
  readonly #choice: Choice
  readonly #session: Session
  /** What every address under a whole granted origin begins with; empty where each has to be looked at. */
  readonly #granted: string

  constructor(world: World, choice: Choice, base: URL) {
    this.credential = choice.credential.id
    this.granted = world.named.has(base.origin)
    this.#world = world
    this.#choice = choice
    this.#session = world.sessions.view(choice.credential.id)
    this.#granted = coversTarget(choice, new URL('/', base)) ? `${base.origin}/` : ''
  }

  peek(request: HttpRequest): HttpRequest | undefined {
    const { strategy, scheme, credential } = this.#choice
    const { clock } = this.#world
    const leg = strategy.peek?.(request, { scheme, credential, session: this.#session, clock, resource: { url: request.url } })
    if (!leg || leg.connection) return undefined
    this.#checkReach(leg.request.url)
    return leg.request
  }

  async send(request: HttpRequest, send: Send, { signal, refused }: AuthorizedCall = {}): Promise<HttpResponse> {
    const choice = this.#choice
    const context = contextOf(this.#world, choice, { url: request.url }, { signal })
    const flow = choice.strategy.authorize(request, context)
    const sendLeg = (leg: Leg) => {
      this.#checkReach(leg.request.url)
      const by = leg.connection ? leg.connection.send : send
      return by(leg.request, { granted: this.granted, ...(signal && { signal }) })
    }
    const result = await runFlow(refused ? resumed(flow, refused) : flow, sendLeg)
    if (result) return result.response
    if (refused) return refused.response
    throw new CredentialError('CREDENTIAL_SOURCE', `"${this.credential}" gave no authorization for ${new URL(request.url).origin}`, {
      credential: this.credential,
    })
  }

  #checkReach(url: string): void {
    if (this.#granted === '' || !url.startsWith(this.#granted)) checkReach(this.#choice, url)
  }
}

/** The flow as it goes on after its first request was sent and refused already; one that begins otherwise is sent. */
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

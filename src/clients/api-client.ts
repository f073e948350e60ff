/** A client of an API: one base address, one credential, operations as data. */
import type { Auth } from '../auth/auth.ts'
import { createAuth } from '../auth/create-auth.ts'
import { type ServiceCredential, uncheckedCredential } from '../auth/credential.ts'
import { ConfigurationError, ProtocolError } from '../errors.ts'
import type { Transport } from '../http/message.ts'
import type { ApiClientOptions } from './api-client-options.ts'
import type { ApiResponse } from './api-response.ts'
import { baseAddress } from './base-address.ts'
import { Call } from './call.ts'
import type { CallInput, CallOptions } from './call-options.ts'
import { credentialMark } from './credential-mark.ts'
import { described } from './described.ts'
import { draftOf } from './draft.ts'
import type { ClientEvents, EventName } from './events.ts'
import type { Interceptor } from './interceptor.ts'
import { type Link, openLink } from './link.ts'
import { namedAddress } from './named-address.ts'
import { type Method, type Operation, type PreparedOperation, prepareOperation } from './operation.ts'
import { rawPath } from './raw-path.ts'
import type { Settings } from './settings.ts'
import { settingsOf } from './settings-of.ts'

/** Interceptors may be added later. */
type ChangingSettings = Settings & { readonly interceptors: Interceptor[] }

/**
 * Sends the operations of one service. Nothing is loaded or connected before the first call.
 *
 * Errors of the constructor: `CONFIG_INVALID`, `URL_INSECURE`. Of calls: `ValidationError`, `HttpError` and its kinds, `RetryBudgetError`,
 * `NetworkError`, `TimeoutError`, `ProtocolError`, `TrustError`, `CredentialError`, `SelectionError`, `AbortedError`.
 *
 * @example
 * const client = new ApiClient({ baseUrl: 'https://api.example/v1', credential: { type: 'http', scheme: 'bearer', token } })
 * const projects = await client.call({ name: 'projects.list', method: 'GET', path: '/projects', replay: 'safe' })
 */
export class ApiClient {
  readonly #options: ApiClientOptions
  /** The user wrote the base address down, so it may be a private one. */
  #named = true
  #settings: ChangingSettings
  readonly #common: Readonly<Record<string, string>>
  readonly #prepared = new WeakMap<Operation, PreparedOperation>()
  readonly #siblings = new WeakMap<ServiceCredential, ApiClient>()
  #link: Link | Promise<Link> | undefined

  constructor(options: ApiClientOptions) {
    const base = baseAddress(options.baseUrl, options.allowInsecure)
    if (options.auth && options.credential)
      throw new ConfigurationError('CONFIG_INVALID', 'give a client either auth or credential, not both')
    this.#options = options
    this.#settings = settingsOf(options, base)
    this.#common = { 'user-agent': options.userAgent ?? 'stac-auth', ...lowerCase(options.headers) }
  }

  /** `https://host[:port]` of the base address. */
  get origin(): string {
    return this.#settings.origin
  }

  /** The base address without a slash at its end. */
  get baseUrl(): string {
    return this.#settings.origin + this.#settings.base
  }

  /** The data of the answer. */
  async call<T = unknown>(operation: Operation, input: CallInput = {}, options: CallOptions = {}): Promise<T> {
    return (await this.send<T>(operation, input, options)).data
  }

  /** The data of the answer, its status and headers, and how many requests it took. */
  async send<T = unknown>(operation: Operation, input: CallInput = {}, options: CallOptions = {}): Promise<ApiResponse<T>> {
    if (options.credential) return this.withCredential(options.credential).send(operation, input, { ...options, credential: undefined })
    const prepared = this.#prepare(operation)
    const settings = this.#settings
    try {
      const draft = draftOf(prepared, input, options, settings)
      this.#link ??= this.#open()
      return (await new Call({ settings, prepared, draft, input, options }).run(this.#link)) as ApiResponse<T>
    } catch (error) {
      throw described(error, 0, operation.name)
    }
  }

  /** Sends a request that is no operation: any path below the base address. A `GET` is taken for safe, everything else for unsafe. */
  async request<T = unknown>(method: Method, path: string, input: CallInput = {}, options: CallOptions = {}): Promise<ApiResponse<T>> {
    const replay = method === 'GET' || method === 'HEAD' ? 'safe' : 'unsafe'
    const name = `${method} request`
    try {
      return await this.send<T>({ name, method, path: rawPath(path), replay }, input, options)
    } catch (error) {
      throw described(error, 0, name)
    }
  }

  /**
   * The path below the base address of an address that the service named. Errors: `RESPONSE_INVALID` for one elsewhere.
   *
   * @param from path of the operation whose answer named it
   */
  pathOf(url: string, from: string): string {
    const { origin, base } = this.#settings
    const to = URL.canParse(url, origin + base + from) ? new URL(url, origin + base + from) : undefined
    if (to?.origin === origin && to.pathname.startsWith(`${base}/`)) return to.pathname.slice(base.length) + to.search
    throw new ProtocolError('RESPONSE_INVALID', `${origin} names a page that is not below the base address`, { url: origin })
  }

  /** Hears an event; the result takes the listener back. */
  on<Name extends EventName>(event: Name, listener: (payload: ClientEvents[Name]) => void): () => void {
    return this.#settings.events.on(event, listener)
  }

  /** Tells those who listen: for clients that are built on this one. */
  emit<Name extends EventName>(event: Name, payload: ClientEvents[Name]): void {
    if (this.#settings.events.has(event)) this.#settings.events.emit(event, payload)
  }

  /** Adds something that is done to every attempt. */
  use(interceptor: Interceptor): this {
    this.#settings.interceptors.push(interceptor)
    return this
  }

  /** Keeps a secret that the service gave, such as the key of a document, out of errors and events. */
  protect(secret: string): void {
    this.#settings.redactor.add(secret)
  }

  /** A text of the service as it may stand in errors and events: without secrets that are known. */
  scrub(text: string): string {
    return this.#settings.redactor.scrub(text)
  }

  /** The same client with another credential: other limits, the same connections, listeners and interceptors. */
  withCredential(credential: ServiceCredential): ApiClient {
    const known = this.#siblings.get(credential)
    if (known) return known
    const { auth: _auth, ...options } = this.#options
    const { interceptors, redactor } = this.#settings
    const sibling = this.#related({ ...options, credential }, { interceptors, redactor })
    this.#siblings.set(credential, sibling)
    return sibling
  }

  /** The same client without a credential. What it learns of secrets is forgotten with it. */
  withoutCredential(): ApiClient {
    const { auth: _auth, credential: _credential, ...options } = this.#options
    return this.#related(options, { interceptors: this.#settings.interceptors })
  }

  /** An address that this service named, and whether it may be on this very machine. Errors: `RESPONSE_INVALID`. */
  allowed(address: unknown): { readonly url: URL; readonly granted: boolean } {
    const { allowInsecure } = this.#options
    return { url: namedAddress(address, this.origin, allowInsecure), granted: allowInsecure === 'loopback' }
  }

  /**
   * A client of another origin that this service named, and the path there: the same transport, limits and listeners. It carries those
   * headers and nothing else: no credential, nothing of what is added to the requests of this one. Errors: `RESPONSE_INVALID`.
   */
  elsewhere(address: unknown, headers: Readonly<Record<string, string>> = {}): { readonly client: ApiClient; readonly path: string } {
    const { transport, allowInsecure, userAgent, timeouts, maxRetries, maxRetryAfter, queueLimit, limits } = this.#options
    const { origin, pathname, search } = this.allowed(address).url
    const kept = { transport, allowInsecure, userAgent, timeouts, maxRetries, maxRetryAfter, queueLimit, limits }
    const client = this.#related({ ...kept, baseUrl: origin, headers, renew: false }, { redactor: this.#settings.redactor })
    client.#named = allowInsecure === 'loopback'
    return { client, path: (pathname + search).replaceAll('{', '%7B').replaceAll('}', '%7D') }
  }

  toJSON(): object {
    return { origin: this.origin }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `ApiClient { ${this.origin} }`
  }

  /** One with other options that has these settings, and the listeners, in common with this one. */
  #related(options: ApiClientOptions, shared: Partial<ChangingSettings>): ApiClient {
    const client = new ApiClient(options)
    client.#settings = { ...client.#settings, events: this.#settings.events, ...shared }
    client.#named = this.#named
    return client
  }

  #prepare(operation: Operation): PreparedOperation {
    const known = this.#prepared.get(operation)
    if (known) return known
    const prepared = prepareOperation(operation, this.#common)
    this.#prepared.set(operation, prepared)
    return prepared
  }

  /** A link that could not be opened is tried again by the next call. */
  #open(): Promise<Link> {
    const { credential, transport } = this.#options
    const { origin, base, limits, events } = this.#settings
    const auth = this.#options.auth ?? (credential && engine(credential, origin, transport))
    const identity = this.#options.auth ?? (credential ? credentialMark(credential) : 'none')
    const opening = openLink({ origin, base: `${origin}${base}/`, auth, transport, limits, identity, granted: this.#named })
    opening.then(
      (link) => {
        events.connect(link.channels)
        if (this.#link === opening) this.#link = link
      },
      () => {
        if (this.#link === opening) this.#link = undefined
      },
    )
    return opening
  }
}

/** Exactly one entry, which may go to the origin of the base address and nowhere else unless its owner says so. */
function engine(credential: ServiceCredential, origin: string, transport: Transport | undefined): Auth {
  const sendTo = 'sendTo' in credential && credential.sendTo !== undefined ? credential.sendTo : [`${origin}/`]
  return createAuth({ credentials: [uncheckedCredential({ ...credential, sendTo })], redirects: 'error', ...(transport && { transport }) })
}

function lowerCase(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

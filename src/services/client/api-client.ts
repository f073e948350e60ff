/** The client of an API, which sends operations below one base URL with one credential; its options and settings. */

import type { Auth } from '../../auth/auth.ts'
import { createAuth } from '../../auth/create-auth.ts'
import { type ServiceCredential, uncheckedCredential } from '../../auth/credential.ts'
import { ConfigurationError, ProtocolError } from '../../errors.ts'
import type { Transport } from '../../http/message.ts'
import { addressOf, isAddressProblem, isLoopbackHost } from '../../http/url.ts'
import type { Platform } from '../../platform/platform.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { Redactor } from '../../text/redactor.ts'
import { Call, type Link } from './call.ts'
import { described, requireOptions } from './errors.ts'
import { CHANNELS, type ClientEvents, type EventName, Events } from './events.ts'
import { parseExactly } from './exact-numbers.ts'
import type { FormOptions } from './form.ts'
import { type ServiceLimits, sharedLimits } from './pacer.ts'
import { buildRequest, type CallInput, type CallOptions, type Interceptor, type Method, type Operation, rawPath } from './request.ts'
import type { ApiResponse, Codec } from './response.ts'

/** Options of `ApiClient`. Durations are milliseconds. */
export interface ApiClientOptions {
  /** URL below which all requests go: `https://host/api/v1`. */
  readonly baseUrl: string
  /** A credential; without `sendTo` it is sent to the origin of the base URL only. */
  readonly credential?: ServiceCredential
  /** An engine instead, with a credential whose `sendTo` matches the base URL. With neither, requests carry no credential. */
  readonly auth?: Auth
  /** Sends a request without following redirects; default: undici on Node, `fetch` elsewhere, loaded with the first request. */
  readonly transport?: Transport
  /** `loopback` allows an http: base URL on the same machine, for tests; otherwise `URL_INSECURE`. */
  readonly allowInsecure?: 'loopback'
  /** The `User-Agent` of every request; default `stac-auth`. */
  readonly userAgent?: string
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Names of headers that calls may not set, besides that of the credential, which is `authorization` by default. */
  readonly pinnedHeaders?: readonly string[]
  /** How queries and form bodies are written. */
  readonly form?: FormOptions
  /** Timeouts of attempts and calls. */
  readonly timeouts?: Timeouts
  /** Retries after the first attempt; default 4, and after 429 and 529 until the call's timeout. */
  readonly retries?: number
  /** Longest `Retry-After` to wait for, in milliseconds; a longer one fails the call. Default 60 000. */
  readonly maxRetryAfter?: number
  /** Maximum number of calls that wait for the concurrency limit; one more is `CONFIG_INVALID`. Default: no limit. */
  readonly queueLimit?: number
  /** False: a request is not repeated with refreshed tokens after a 401. */
  readonly refresh?: boolean
  /** Advice by status, shown as the `hint` of its error. */
  readonly hints?: Readonly<Record<number, string>>
  /**
   * Parses the JSON of successful responses, for example with large numbers as `bigint`. Default: as `JSON.parse`; readers of fields
   * (`RestResource`) get the digits that the service wrote.
   */
  readonly parseJson?: (text: string) => unknown
  /** Parses responses in XML; without it they are `MEDIA_TYPE_UNSUPPORTED`. */
  readonly codec?: Codec
  /** Limits of the requests, shared with other clients; default: one for the whole process. */
  readonly limits?: ServiceLimits
  /** Listeners by event, as with `on`. */
  readonly hooks?: { readonly [Name in keyof ClientEvents]?: (payload: ClientEvents[Name]) => void }
}

/**
 * Timeouts in milliseconds. With a transport that is only a function, such as one that calls `fetch`, `headers` and `body` do nothing:
 * `attempt` ends those waits.
 */
export interface Timeouts {
  /** One attempt with its whole response; default 30 000 (`TIMEOUT_ATTEMPT`). Not for responses that are streams. */
  readonly attempt?: number
  /** From the end of the request to the headers of the response; default 30 000 (`TIMEOUT_HEADERS`). */
  readonly headers?: number
  /** Between two pieces of the response; default 30 000 (`TIMEOUT_BODY`). */
  readonly body?: number
  /** A call with all its delays and retries; default 120 000 (`TIMEOUT_TOTAL`); `false` for none. */
  readonly total?: number | false
}

/** The options of a client with all defaults applied. */
export interface Settings {
  readonly origin: string
  /** Path of the base URL without a slash at its end. */
  readonly base: string
  /** Headers of every request, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly form: FormOptions
  readonly pinned: ReadonlySet<string>
  readonly timeouts: Required<Timeouts>
  readonly retries: number
  /** True if the user set the number of retries. */
  readonly limitsRetries: boolean
  /** Longest `Retry-After` to wait for, in milliseconds. */
  readonly maxRetryAfter: number
  readonly queueLimit: number
  readonly refresh: boolean
  /** The `hint` of an error, by status. */
  readonly hints: Readonly<Record<number, string>>
  readonly codec: Codec | undefined
  readonly parseJson: (text: string) => unknown
  readonly limits: ServiceLimits
  readonly events: Events
  /** Removes the known secrets from texts. */
  readonly redactor: Redactor
  readonly interceptors: readonly Interceptor[]
}

/** The class that the program uses, the options that it gave, for their check, and the default of its retries. */
type Given = readonly [name: string, options: object, retries?: number]

/** Settings whose interceptors can still be added. */
type ChangingSettings = Settings & { readonly interceptors: Interceptor[] }

/**
 * A client of one service: sends operations below a base URL with one credential. Nothing is loaded or connected before the first call.
 * Redirects are not followed.
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
  readonly #given: Given
  /** True if the user set the base URL, so that it may be a private address. */
  #named = true
  #settings: ChangingSettings
  readonly #siblings = new WeakMap<ServiceCredential, ApiClient>()
  #link: Promise<Link> | undefined

  constructor(options: ApiClientOptions)
  /** @internal */
  constructor(options: ApiClientOptions, given?: Given)
  constructor(options: ApiClientOptions, given: Given = ['ApiClient', options]) {
    requireOptions(options, given[0])
    const base = baseAddress(options.baseUrl, options.allowInsecure)
    if (options.auth && options.credential) throw invalid('set either auth or credential, not both')
    this.#options = options
    this.#given = given
    this.#settings = settingsOf(options, base, given[2])
  }

  /** Origin of the base URL: `https://host[:port]`. */
  get origin(): string {
    return this.#settings.origin
  }

  /** The base URL without a slash at its end. */
  get baseUrl(): string {
    return this.#settings.origin + this.#settings.base
  }

  /**
   * Sends an operation and returns the decoded body.
   *
   * @example const project = await client.call(getProject, { path: { id: 7 } }, { timeout: 5000 })
   */
  async call<T = unknown>(operation: Operation, input?: CallInput, options?: CallOptions): Promise<T> {
    return (await this.send<T>(operation, input, options)).data
  }

  /** Sends an operation and returns the whole response. */
  send<T = unknown>(operation: Operation, given?: CallInput, more?: CallOptions): Promise<ApiResponse<T>> {
    // Programs without types pass null.
    const [input, options, settings] = [given ?? {}, more ?? {}, this.#settings]
    const { credential, ...rest } = options
    try {
      if (credential) return this.withCredential(credential).send(operation, input, rest)
      const request = buildRequest(operation, input, options, settings)
      const call = new Call({ settings, operation, input, options, request })
      this.#link ??= this.#open()
      return call.run(this.#link) as Promise<ApiResponse<T>>
    } catch (error) {
      return Promise.reject(described(error, 0, operation.name))
    }
  }

  /**
   * Sends a request to any path below the base URL and returns the whole response. `GET` and `HEAD` are retried as `safe`, all others as
   * `unsafe`.
   *
   * @example const { data } = await client.request('GET', '/reports/daily', { query: { day: '2026-01-02' } })
   */
  async request<T = unknown>(method: Method, path: string, input?: CallInput, options?: CallOptions): Promise<ApiResponse<T>> {
    const replay = method === 'GET' || method === 'HEAD' ? 'safe' : 'unsafe'
    const name = `${method} request`
    try {
      return await this.send<T>({ name, method, path: rawPath(path), replay }, input, options)
    } catch (error) {
      throw described(error, 0, name)
    }
  }

  /**
   * Returns the path below the base URL of a URL that the service sent. Errors: `RESPONSE_INVALID` for a URL that is not below it.
   *
   * @param from path of the operation whose answer named it
   * @internal
   */
  pathOf(url: string, from: string): string {
    const { origin, base } = this.#settings
    const to = canParseUrl(url, origin + base + from) ? new URL(url, origin + base + from) : undefined
    if (to?.origin === origin && to.pathname.startsWith(`${base}/`)) return to.pathname.slice(base.length) + to.search
    throw new ProtocolError('RESPONSE_INVALID', `${origin} names a page that is not below the base URL`, { url: origin })
  }

  /**
   * Adds a listener and returns a function that removes it.
   *
   * @example client.on('retry', ({ operation, reason, delayMs }) => console.error(operation, reason, delayMs))
   */
  on<Name extends keyof ClientEvents>(event: Name, listener: (payload: ClientEvents[Name]) => void): () => void {
    return this.#settings.events.on(event, listener)
  }

  /** Emits an event, for clients that are built on this one. @internal */
  emit<Name extends EventName>(event: Name, payload: ClientEvents[Name]): void {
    this.#settings.events.emit(event, () => payload)
  }

  /** Adds an interceptor of every attempt, after those that were added before. */
  use(interceptor: Interceptor): this {
    this.#settings.interceptors.push(interceptor)
    return this
  }

  /** Removes a secret that the service gave, such as the key of a document, from all later errors and events. */
  protect(secret: string): void {
    this.#settings.redactor.add(secret)
  }

  /** Returns a text of the service without the known secrets, for errors and events. @internal */
  scrub(text: string): string {
    return this.#settings.redactor.scrub(text)
  }

  /** Returns the same client with another credential: with separate limits, and the same connections, listeners and interceptors. */
  withCredential(credential: ServiceCredential): ApiClient {
    const known = this.#siblings.get(credential)
    if (known) return known
    const { auth: _auth, ...options } = this.#options
    const { interceptors, redactor } = this.#settings
    const sibling = this.#related({ ...options, credential }, { interceptors, redactor })
    this.#siblings.set(credential, sibling)
    return sibling
  }

  /** Returns the same client for another base URL. @internal */
  at(baseUrl: string): ApiClient {
    const { interceptors, redactor } = this.#settings
    return this.#related({ ...this.#options, baseUrl }, { interceptors, redactor })
  }

  /** Returns the same client without a credential and without `hints`, which may be about it, for operations such as logins. */
  withoutCredential(): ApiClient {
    const { auth: _auth, credential: _credential, hints: _hints, ...options } = this.#options
    return this.#related(options, { interceptors: this.#settings.interceptors })
  }

  /** Returns a URL that this service sent, and whether it may be on this machine. Errors: `RESPONSE_INVALID`. @internal */
  allowed(address: unknown): { readonly url: URL; readonly allowPrivateNetwork: boolean } {
    const { allowInsecure } = this.#options
    return { url: namedAddress(address, this.origin, allowInsecure), allowPrivateNetwork: allowInsecure === 'loopback' }
  }

  /**
   * Returns a client of another origin that this service named, and the path there, with the same transport, limits and listeners. It sends
   * only the given headers: no credential, and nothing else that this client adds to its requests. Errors: `RESPONSE_INVALID`.
   *
   * @internal
   */
  elsewhere(address: unknown, headers: Readonly<Record<string, string>> = {}): { readonly client: ApiClient; readonly path: string } {
    const { transport, allowInsecure, userAgent, timeouts, retries, maxRetryAfter, queueLimit, limits } = this.#options
    const { origin, pathname, search } = this.allowed(address).url
    const kept = { transport, allowInsecure, userAgent, timeouts, retries, maxRetryAfter, queueLimit, limits }
    const client = this.#related({ ...kept, baseUrl: origin, headers, refresh: false }, { redactor: this.#settings.redactor })
    client.#named = allowInsecure === 'loopback'
    return { client, path: (pathname + search).replaceAll('{', '%7B').replaceAll('}', '%7D') }
  }

  /** Returns the origin only, so that a printed client shows no secret. */
  toJSON(): object {
    return { origin: this.origin }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `ApiClient { ${this.origin} }`
  }

  /** Returns a client with other options that shares these settings, and the listeners, with this one. */
  #related(options: ApiClientOptions, shared: Partial<ChangingSettings>): ApiClient {
    const client = new ApiClient(options, this.#given)
    client.#settings = { ...client.#settings, events: this.#settings.events, ...shared }
    client.#named = this.#named
    return client
  }

  /** Opens the link. After a failure, the next call tries again. */
  #open(): Promise<Link> {
    const opening = this.#opened()
    opening.catch(() => {
      this.#link = undefined
    })
    return opening
  }

  /** Loads the platform and its transport, and selects the credential for the base URL. Errors: `NO_CREDENTIAL`, `CONFIG_INVALID`. */
  async #opened(): Promise<Link> {
    const { auth, credential, transport } = this.#options
    const { origin, base, limits, events } = this.#settings
    const { platform } = await import('#platform')
    platform.checkClient?.(this.#given[0], this.#given[1])
    const engine = auth ?? (credential && engineOf(credential, origin, transport))
    const [service, chosen, identity] = await Promise.all([
      engine?.service(`${origin}${base}/`),
      transport ?? platform.defaultTransport(),
      fingerprint(auth ?? credentialMark(credential ?? {}), platform),
    ])
    for (const name of CHANNELS) events.connect(name, platform.channel(`stac-auth:${name}`))
    return {
      transport: chosen,
      service,
      allowPrivateNetwork: service?.allowPrivateNetwork ?? this.#named,
      traffic: (name) => limits.of(`${origin}\0${identity}\0${name}`),
    }
  }
}

/**
 * Returns the origin of a base URL, and its path without a slash at the end. Neither contains a secret: user names, queries and fragments
 * are refused.
 *
 * Errors: `URL_INSECURE` for http:, unless `allowInsecure` is set and the host is a loopback address; `CONFIG_INVALID` for any other
 * problem.
 */
export function baseAddress(baseUrl: unknown, allowInsecure: 'loopback' | undefined): { readonly origin: string; readonly path: string } {
  if (typeof baseUrl !== 'string') throw new TypeError('baseUrl is missing or not a string')
  if (!/^https?:/i.test(baseUrl)) throw invalid('baseUrl must begin with https:')
  const named = new Set(canParseUrl(baseUrl) ? [new URL(baseUrl).origin] : [])
  const url = addressOf(baseUrl, { secure: false, named })
  if (isAddressProblem(url)) throw invalid(`baseUrl ${url.message}`)
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(baseUrl)) throw invalid('baseUrl must not have a query or a fragment')
  if (url.protocol === 'http:' && !(allowInsecure === 'loopback' && isLoopbackHost(url.hostname))) {
    const hint = 'use https:, or for tests on this machine allowInsecure: "loopback"'
    throw new ConfigurationError('URL_INSECURE', `baseUrl ${url.origin} is not encrypted (http:); no credential was read`, { hint })
  }
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') }
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', message)
}

/** Returns the settings of a client with these options and this base URL. */
function settingsOf(
  options: ApiClientOptions,
  { origin, path }: { readonly origin: string; readonly path: string },
  usual = 4,
): ChangingSettings {
  const { limits = sharedLimits, retries = usual, maxRetryAfter = 60_000, queueLimit = Number.POSITIVE_INFINITY } = options
  const timeouts = timeoutsOf(options.timeouts ?? {})
  if (!limits?.of) throw invalid('limits is not valid')
  requireNumbers({ retries, maxRetryAfter })
  requireNumbers({ ...timeouts, total: timeouts.total === false ? 0 : timeouts.total }, 'timeouts.')
  return {
    origin,
    base: path,
    headers: { 'user-agent': options.userAgent ?? 'stac-auth', ...lowerCase(options.headers ?? {}) },
    form: options.form ?? {},
    pinned: new Set(['authorization', ...(options.pinnedHeaders ?? [])].map((name) => name.toLowerCase())),
    timeouts,
    retries,
    limitsRetries: options.retries !== undefined,
    maxRetryAfter,
    queueLimit,
    refresh: options.refresh ?? true,
    hints: options.hints ?? {},
    codec: options.codec,
    parseJson: options.parseJson ?? parseExactly,
    limits,
    events: new Events(options.hooks ?? {}),
    redactor: new Redactor(),
    interceptors: [],
  }
}

/** Applies the defaults for undefined values. */
function timeoutsOf({ attempt = 30_000, headers = 30_000, body = 30_000, total = 120_000 }: Timeouts): Required<Timeouts> {
  return { attempt, headers, body, total }
}

/** Checks that options are numbers. Errors: `CONFIG_INVALID`, because calls would not end, or would be retried without end. */
function requireNumbers(values: Readonly<Record<string, unknown>>, group = ''): void {
  for (const [name, value] of Object.entries(values))
    if (typeof value !== 'number' || Number.isNaN(value)) throw invalid(`${group}${name} is not a number`)
}

/** Returns exactly one credential, allowed for the origin of the base URL only, unless its owner allows more. */
function engineOf(credential: ServiceCredential, origin: string, transport: Transport | undefined): Auth {
  const { sendTo = [`${origin}/`] } = credential as { readonly sendTo?: readonly string[] }
  return createAuth({ credentials: [uncheckedCredential({ ...credential, sendTo })], redirects: 'error', ...(transport && { transport }) })
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** The key of fingerprints, random for each process, so that a fingerprint means nothing outside of it. */
const KEY = crypto.randomUUID()

const numbers = new WeakMap<object, number>()

let last = 0

/** Returns the same fingerprint for the same text or the same object. The text cannot be recovered from it. */
async function fingerprint(identity: object | string, platform: Platform): Promise<string> {
  if (typeof identity === 'string') return platform.sha256Hex(`${KEY}\0${identity}`)
  const known = numbers.get(identity)
  if (known !== undefined) return `#${known}`
  numbers.set(identity, ++last)
  return `#${last}`
}

/**
 * Returns a URL that a service sent, if it is https, public and has no user name or password. A loopback address is allowed only with
 * `allowInsecure`, for tests. Errors: `RESPONSE_INVALID`, without the URL, because it may contain a secret.
 *
 * @param by origin of the service
 */
function namedAddress(address: unknown, by: string, allowInsecure: 'loopback' | undefined): URL {
  const text = typeof address === 'string' ? address : ''
  const origin = canParseUrl(text) ? new URL(text) : undefined
  const isAllowed = origin !== undefined && allowInsecure === 'loopback' && isLoopbackHost(origin.hostname)
  const url = addressOf(text, { secure: true, named: new Set(isAllowed ? [origin.origin] : []) })
  if (!isAddressProblem(url) && url.protocol !== 's3:') return url
  const why = isAddressProblem(url) ? url.message : 'is not an http or https URL'
  throw new ProtocolError('RESPONSE_INVALID', `${by} names a URL that ${why}; nothing was sent to it`, { url: by })
}

/** Returns equal text for equal credentials, `{}` for none; a credential with functions equals only itself. Contains secrets: hash it, never show it. */
function credentialMark(credential: object): object | string {
  return Object.values(credential).every((value) => typeof value === 'string')
    ? JSON.stringify(Object.entries(credential).sort())
    : credential
}

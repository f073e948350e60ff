/**
 * Files that must be ordered first: orders them as the registry of providers describes, remembers each order on the disk, and finds the file
 * once it is ready. Waiting is left to the caller, who repeats the request while it fails with `HTTP_202`.
 */

import { createHash } from 'node:crypto'
import type { Auth, TargetSendOptions } from '../auth/auth.ts'
import { isTarget } from '../auth/resource.ts'
import { matchesAny, parseUrlPattern } from '../auth/url-pattern.ts'
import { AuthError, ConfigurationError, IntegrityError, isAuthError, NetworkError, ProtocolError, TrustError } from '../errors.ts'
import { harmlessHeaders } from '../http/headers.ts'
import { type HttpRequest, type HttpResponse, percentEncoded, type Transport } from '../http/message.ts'
import { bareAddress, trustHint, urlOfHref } from '../http/url.ts'
import { urlSignature } from '../http/url-signature.ts'
import { throwIfAborted } from '../net/cancellation.ts'
import { type Clock, systemClock } from '../net/clock.ts'
import { retryHint, withRetryAfter } from '../net/retry.ts'
import { filled, type Order, type OrderRequest, type OrderStatus, type Provider } from '../providers/provider.ts'
import { providers as registry } from '../providers/registry.ts'
import { isObject } from '../stac/document.ts'
import type { Target } from '../stac/target.ts'
import { fieldAt } from '../strategies/credential-values.ts'
import { answerFailure, shownMessage } from './base/answer-failure.ts'
import { ANYTHING, checkArgument, checkNamed, FLAG, FUNCTION, type Table, TEXT, withMethods } from './base/check-options.ts'
import { folderVariables, userFolder } from './base/user-folder.ts'
import { TokenFolder } from './tokens/token-files.ts'

/** Options of `withOrders`. */
export interface OrderOptions {
  /** False orders nothing: files that must be ordered fail with `ORDER_REQUIRED`, and nothing is sent for them. */
  readonly order?: boolean
  /** Asks whether orders at a provider may cost what its registry entry says; called once for each. Default: they are refused. */
  readonly onCost?: (provider: Provider) => boolean | Promise<boolean>
  /** Absolute path of the folder that remembers orders; default `stac-auth/orders` in the user's cache folder. */
  readonly folder?: string
  /** Requests files at other hosts, to which no credential is sent; default: that of the platform. */
  readonly transport?: Transport
  /** The time, for tests. */
  readonly clock?: Clock
  /** The providers, for tests; default: all that the program knows. */
  readonly providers?: readonly Provider[]
}

const OPTIONS: Table<OrderOptions> = {
  order: FLAG,
  onCost: FUNCTION,
  folder: TEXT,
  transport: FUNCTION,
  clock: ANYTHING,
  providers: ANYTHING,
}

/**
 * Returns an engine whose `send` orders files that a known provider makes on request, with the credential that would be used for the file.
 * While a file is not ready it fails with `HTTP_202`, with the `Retry-After` of the provider, and the next call asks again: `download` and
 * the commands wait so. An order is remembered before the call returns, for all processes of the user, and never placed twice.
 *
 * Errors: also `HTTP_202`; `ORDER_REQUIRED` where orders are switched off or cost something, `ORDER_FAILED` with the reason of the provider;
 * `CREDENTIAL_TARGET_UNTRUSTED` and `URL_*` for a URL in an answer, `RESPONSE_INVALID` for other answers than the provider documents;
 * `FILE_ACCESS`, `DISK_FULL`, `CACHE_UNSAFE` for the folder: nothing is ordered then.
 *
 * @example
 * const auth = withOrders(createAuth({ credentials: planet({ apiKey }) }), { onCost: () => true })
 * for await (const event of download([item], { folder: 'data', auth })) console.log(event.kind)
 */
export function withOrders<A extends Pick<Auth, 'send' | 'explain' | 'service'>>(auth: A, options: OrderOptions = {}): A {
  checkArgument('the first argument of withOrders', auth, withMethods('an engine of createAuth', 'send', 'explain', 'service'))
  checkNamed('withOrders', options, OPTIONS)
  const orders = new Orders(auth, options)
  return { ...auth, send: (given: HttpRequest | Target | undefined, sending?: TargetSendOptions) => orders.send(given, sending ?? {}) }
}

/** Milliseconds after which an order is placed again for a file that its provider calls not ordered. */
const REMEMBERED = 86_400_000

/** Most bytes of an answer of a provider. */
const LONGEST_ANSWER = 1_048_576

/** A file that must be ordered, and the values that its URL has for the order. */
interface OrderedFile {
  readonly given: HttpRequest | Target
  readonly provider: Provider
  readonly order: Order
  readonly href: string
  readonly values: Values
}

/** Values by name: of the URL of the file, and of answers. */
type Values = Readonly<Record<string, unknown>>

/** A file with the credential of its requests. */
interface Ordering extends OrderedFile {
  readonly credential: string
  readonly key: string
  readonly signal: AbortSignal | undefined
}

/** An order as it is remembered. */
interface PlacedOrder {
  /** Epoch milliseconds. */
  readonly placed: number
  readonly values: Values
}

/** An answer of a provider. */
interface OrderAnswer {
  readonly response: HttpResponse
  readonly body: unknown
}

class Orders {
  readonly #auth: Pick<Auth, 'send' | 'explain' | 'service'>
  readonly #options: OrderOptions
  readonly #providers: readonly Provider[]
  readonly #clock: Clock
  readonly #agreed = new Map<string, Promise<boolean>>()
  /** URLs of files that are ready, for further requests of this process. */
  readonly #locations = new Map<string, string>()
  #folder: TokenFolder | undefined
  #bare: Promise<Auth> | undefined

  constructor(auth: Pick<Auth, 'send' | 'explain' | 'service'>, options: OrderOptions) {
    const { providers = registry, clock = systemClock() } = options
    this.#auth = auth
    this.#options = options
    this.#providers = providers
    this.#clock = clock
  }

  async send(given: HttpRequest | Target | undefined, sending: TargetSendOptions): Promise<HttpResponse> {
    const file = given && sending.method !== 'POST' ? orderedFile(given, this.#providers) : undefined
    if (!file) return this.#auth.send(given, sending)
    if (this.#options.order === false) throw required(file, 'orders are switched off', 'leave out --no-order, in code order: false')
    const credential = await this.#credentialFor(file, file.href)
    // The engine says what is missing.
    if (credential === undefined) return this.#auth.send(given, sending)
    const key = createHash('sha256')
      .update(JSON.stringify([file.provider.id, credential, file.href]))
      .digest('hex')
    return this.#fetch({ ...file, credential, key, signal: sending.signal }, sending)
  }

  /** Requests the file. A URL that is not valid any more is asked for again once. */
  async #fetch(file: Ordering, sending: TargetSendOptions): Promise<HttpResponse> {
    for (;;) {
      const known = this.#locations.get(file.key)
      const location = known ?? (await this.#locate(file))
      this.#locations.delete(file.key)
      const response = await this.#open(file, location, sending)
      if (![401, 403, 404, 410].includes(response.status)) {
        this.#locations.set(file.key, location)
        return response
      }
      if (known === undefined) {
        if (isGone(response.status)) await this.#forget(file, await this.#placed(file))
        return response
      }
      await response.discard()
    }
  }

  /** Returns the URL of the file. Errors: `HTTP_202` while it is not ready, after it was ordered. */
  async #locate(file: Ordering): Promise<string> {
    const { order } = file
    const placed = await this.#placed(file)
    try {
      if (order.status && (placed || !order.request || order.status.orderable)) {
        const values = await this.#ready(file, order.status, { ...file.values, ...placed?.values }, placed)
        if (values) return await this.#located(file, values)
      }
    } catch (error) {
      // Providers delete finished orders after some time.
      if (!placed || !isAuthError(error) || !isGone(error.status)) throw error
    }
    if (!order.request) throw preparing(file, undefined)
    const { values } = await this.#place(file, order.request, placed)
    if (order.status) throw preparing(file, undefined)
    return this.#located(file, { ...file.values, ...values })
  }

  /** Returns the values of a file that is ready; undefined for one that must be ordered. Errors: `HTTP_202`, `ORDER_FAILED`. */
  async #ready(file: Ordering, status: OrderStatus, values: Values, placed: PlacedOrder | undefined): Promise<Values | undefined> {
    const answer = await this.#ask(file, status, values)
    const { response, body } = answer
    const hint = retryHint(response.headers, this.#clock.now())
    if (status.state === undefined) {
      if (response.status === 202) throw preparing(file, undefined, hint)
      return { ...values, ...valuesIn(file, status, answer) }
    }
    const state = fieldAt(body, status.state)
    if (typeof state !== 'string') {
      if (response.status === 202) throw preparing(file, undefined, hint)
      throw malformed(file, response, `has no text at ${status.state}`)
    }
    if (status.failed?.includes(state)) {
      await this.#forget(file, placed)
      throw await this.#failed(file, status, values, answer, state)
    }
    if (status.ready?.includes(state)) return { ...values, ...valuesIn(file, status, answer) }
    const isOrdered = placed !== undefined && this.#clock.now() - placed.placed < REMEMBERED
    if (status.orderable?.includes(state) && !isOrdered) return undefined
    throw preparing(file, shownMessage({ message: state }, response.sent?.()).message, hint)
  }

  async #failed(
    file: Ordering,
    { reason }: OrderStatus,
    values: Values,
    { response, body }: OrderAnswer,
    state: string,
  ): Promise<AuthError> {
    const { order, provider, href } = file
    const said = reason === undefined ? undefined : fieldAt(body, reason)
    const { message = '' } = shownMessage({ message: typeof said === 'string' ? said : state }, response.sent?.())
    // Some name the reason where the result would be.
    const other = reason === undefined && order.result ? await this.#ask(file, order.result, values).catch(asAuthError) : undefined
    const why = other instanceof AuthError && other.status !== undefined ? other.message : message
    return new ProtocolError('ORDER_FAILED', `${provider.title} did not prepare ${bareAddress(href)}: ${why}`, {
      url: href,
      hint: 'run the command again to order it anew',
    })
  }

  /** Returns the URL of a file that is ready. */
  async #located(file: Ordering, values: Values): Promise<string> {
    const { order } = file
    const answer = order.result && (await this.#ask(file, order.result, values))
    const all = answer && order.result ? { ...values, ...valuesIn(file, order.result, answer) } : values
    return urlFrom(order.location, all, file)
  }

  /** Places the order, or returns the one that another process has placed. */
  async #place(file: Ordering, request: OrderRequest, before: PlacedOrder | undefined): Promise<PlacedOrder> {
    const { key, signal, order, provider } = file
    if (order.costs !== undefined && !(await this.#isAgreed(provider)))
      throw required(file, `${order.costs}`, 'to order it, run the same command with --yes, in code onCost')
    const place = async () =>
      valuesIn(file, request, await this.#ask({ ...file, signal: undefined }, request, file.values).catch(onlyUnsent))
    const now = () => ({ placed: this.#clock.now() })
    if (!order.status) return { ...now(), values: await place() }
    const folder = this.#remembering()
    return folder.exclusively(
      key,
      async () => {
        const other = await this.#placed(file)
        if (other && other.placed !== before?.placed) return other
        // An order that cannot be remembered would be placed again.
        await folder.reserve(key, 4096)
        throwIfAborted(signal)
        const placed: PlacedOrder = { ...now(), values: await place() }
        await folder.save(key, { text: JSON.stringify({ provider: provider.id, credential: file.credential, ...placed }) })
        return placed
      },
      signal,
    )
  }

  #isAgreed(provider: Provider): Promise<boolean> {
    const agreed = this.#agreed.get(provider.id) ?? Promise.resolve(this.#options.onCost?.(provider) ?? false)
    this.#agreed.set(provider.id, agreed)
    return agreed
  }

  async #placed({ key, order }: Ordering): Promise<PlacedOrder | undefined> {
    if (!order.status || !order.request) return undefined
    const kept = parsed((await this.#remembering().load(key))?.text ?? '')
    return isObject(kept) && typeof kept.placed === 'number' && isObject(kept.values)
      ? { placed: kept.placed, values: kept.values }
      : undefined
  }

  /** Forgets an order, unless another process has placed a new one. */
  async #forget(file: Ordering, placed: PlacedOrder | undefined): Promise<void> {
    if (!placed) return
    const folder = this.#remembering()
    await folder.exclusively(file.key, async () => {
      if ((await this.#placed(file))?.placed === placed.placed) await folder.remove(file.key)
    })
  }

  #remembering(): TokenFolder {
    const path = this.#options.folder ?? userFolder('cache', ['stac-auth', 'orders'])
    if (path === undefined)
      throw new IntegrityError('FILE_ACCESS', `orders cannot be remembered: neither ${folderVariables('cache')} is an absolute path`)
    this.#folder ??= new TokenFolder(path)
    return this.#folder
  }

  /** Sends a request of an order, with the credential of the file. Errors: `CREDENTIAL_TARGET_UNTRUSTED` for a URL that is not the provider's. */
  async #ask(file: Ordering, { url: template, method: verb, body: json }: OrderRequest, values: Values): Promise<OrderAnswer> {
    const { given, signal } = file
    const method = verb ?? 'GET'
    const url = urlFrom(template, values, file)
    if (!(await this.#isAllowed(file, url))) throw untrusted(file, url)
    const body = json === undefined ? undefined : JSON.stringify(filled(json, values))
    const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) }
    const options = { redirect: 'error' as const, ...(signal && { signal }) }
    const response = await (isTarget(given)
      ? this.#auth.send(at(given, url), { ...options, method, headers, ...(body !== undefined && { body }) })
      : this.#auth.send({ method, url, headers, ...(body !== undefined && { body }) }, options))
    if (response.status < 200 || response.status > 299) {
      const wait = retryHint(response.headers, this.#clock.now())
      const error = await answerFailure(response)
      await response.discard()
      throw withRetryAfter(error, wait)
    }
    return { response, body: parsed(await response.text(LONGEST_ANSWER)) }
  }

  /** Requests the file itself: with the credential at a URL of the provider that the user allows, else without any. */
  async #open(file: Ordering, location: string, sending: TargetSendOptions): Promise<HttpResponse> {
    const { given } = file
    const { method, headers } = isTarget(given) ? { method: 'GET', headers: {}, ...sending } : given
    if (new URL(location).protocol !== 'https:')
      throw new TrustError('URL_INSECURE', `${from(file)} for the file is not https`, { url: location })
    if (!urlSignature(location) && (await this.#isAllowed(file, location)))
      return isTarget(given) ? this.#auth.send(at(given, location), sending) : this.#auth.send({ ...given, url: location }, sending)
    const { signal } = sending
    return (await this.#withoutCredentials()).send(
      { method, url: location, headers: harmlessHeaders(headers as HttpRequest['headers']) },
      signal ? { signal } : {},
    )
  }

  #withoutCredentials(): Promise<Auth> {
    const { transport } = this.#options
    this.#bare ??= import('../auth/create-auth.ts').then(({ createAuth }) =>
      createAuth({ credentials: [], ...(transport && { transport }) }),
    )
    return this.#bare
  }

  /** True for a URL of the provider to which the credential of the file may be sent. */
  async #isAllowed(file: Ordering, url: string): Promise<boolean> {
    const { files, catalogs } = file.provider.recognizes
    const patterns = [...files, ...catalogs].map((pattern) => parseUrlPattern(pattern))
    const parsedUrl = new URL(url)
    if (parsedUrl.protocol !== 'https:' || !matchesAny(patterns, parsedUrl)) return false
    return (await this.#credentialFor(file, url)) === file.credential
  }

  /** Returns the id of the credential that the engine would send to a URL for that file. */
  async #credentialFor({ given }: OrderedFile, url: string): Promise<string | undefined> {
    if (!isTarget(given)) {
      const service = await this.#auth.service(url).catch((error: unknown) => {
        if (isAuthError(error)) return undefined
        throw error
      })
      return service?.credential
    }
    const { code, refs, byAddress } = await this.#auth.explain(at(given, url))
    if (code !== undefined) return undefined
    const usable = refs.length > 0 ? refs.find((ref) => ref.code === undefined) : byAddress?.used && !byAddress.code ? byAddress : undefined
    return usable?.credential
  }
}

/** Returns the target at another URL, with the same references. */
function at(target: Target, href: string): Target {
  return { ...target, href, kind: 'asset' }
}

/** Returns what is to be ordered for a request; undefined for a file that is there. */
function orderedFile(given: HttpRequest | Target, providers: readonly Provider[]): OrderedFile | undefined {
  const target = isTarget(given) ? given : undefined
  if (!target && (given as HttpRequest).method !== 'GET') return undefined
  const base = target?.scope.url
  const url = urlOfHref(target ? target.href : (given as HttpRequest).url, base === undefined ? {} : { base })
  if (!(url instanceof URL) || url.protocol !== 'https:' || url.port !== '') return undefined
  const href = url.href.replace(/#.*$/s, '')
  if (urlSignature(href)) return undefined
  for (const provider of providers) {
    const values = provider.order && valuesOfFile(provider.order, url)
    if (provider.order && values) return { given, provider, order: provider.order, href, values }
  }
  return undefined
}

const UUID = '([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})'

/** Returns the values in the URL of a file that the order is for; undefined for other URLs. */
function valuesOfFile({ files, parameters = [] }: Order, url: URL): Values | undefined {
  const bare = `${url.origin}${url.pathname}`
  const query = queryOf(url)
  if (!query || !parameters.every((name) => Object.hasOwn(query, name))) return undefined
  for (const template of files) {
    const names: string[] = []
    const pattern = template.replace(/[.*+?^$|()[\]\\]/g, '\\$&').replace(/\{(\w+)(:uuid)?\}/g, (_, name: string, uuid?: string) => {
      names.push(name)
      return uuid ? UUID : '([^/]+)'
    })
    const found = new RegExp(`^${pattern}$`).exec(bare)
    if (!found) continue
    const parts = names.map((name, index) => [name, decoded(found[index + 1] ?? '')] as const)
    if (parts.some(([, value]) => value === undefined)) return undefined
    return { ...Object.fromEntries(parameters.map((name) => [name, query[name]])), ...Object.fromEntries(parts), href: bare }
  }
  return undefined
}

/** Returns the parameters of a query, or the members of the JSON object that it is; undefined for JSON that is none. */
function queryOf({ search, searchParams }: URL): Readonly<Record<string, unknown>> | undefined {
  const text = decoded(search.slice(1)) ?? ''
  if (!text.startsWith('{')) return Object.fromEntries(searchParams)
  const value = parsed(text)
  return isObject(value) ? value : undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the values that a request names in its answer. Errors: `RESPONSE_INVALID` for one that is not there. */
function valuesIn(file: OrderedFile, { answer = {} }: OrderRequest, { response, body }: OrderAnswer): Values {
  return Object.fromEntries(
    Object.entries(answer).map(([name, place]) => {
      const value = place.startsWith('/') ? fieldAt(body, place) : response.headers.get(place)
      if ((typeof value !== 'string' && typeof value !== 'number') || value === '')
        throw malformed(file, response, `has no value at ${place}`)
      return [name, String(value)]
    }),
  )
}

/** Returns the URL of a template. Errors: `URL_*` for a URL in an answer that cannot be requested, `RESPONSE_INVALID` for a name that leads elsewhere. */
function urlFrom(template: string, values: Values, file: OrderedFile): string {
  const whole = /^\{(\w+)\}$/.exec(template)?.[1]
  const text = whole
    ? String(values[whole])
    : template.replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = String(values[name])
        if (/^\.{0,2}$/.test(value)) throw new ProtocolError('RESPONSE_INVALID', `${from(file)} is malformed`, { url: file.href })
        return name === 'href' ? value : percentEncoded(value)
      })
  const url = urlOfHref(text, { base: file.href })
  if (url instanceof URL) return url.href.replace(/#.*$/s, '')
  throw new TrustError(url.code, `${from(file)} ${url.message}`, { url: file.href })
}

/** Names the URL in an answer, for errors. */
function from({ provider }: OrderedFile): string {
  return `the URL that ${provider.title} answered`
}

function untrusted(file: OrderedFile, url: string): TrustError {
  const { host, origin } = new URL(url)
  const message = `the order of ${bareAddress(file.href)} leads to ${host}, which is not ${file.provider.title}, or not in "sendTo" of its credential. Nothing was sent there`
  return new TrustError('CREDENTIAL_TARGET_UNTRUSTED', message, { url, hint: trustHint(`${origin}/`) })
}

function malformed({ provider, href }: OrderedFile, { url }: HttpResponse, problem: string): ProtocolError {
  return new ProtocolError('RESPONSE_INVALID', `the answer of ${provider.title} to the order of ${bareAddress(href)} ${problem}`, { url })
}

function required({ provider, href }: OrderedFile, why: string, hint: string): ConfigurationError {
  const message = `${bareAddress(href)} must be ordered from ${provider.title} first: ${why}`
  return new ConfigurationError('ORDER_REQUIRED', message, { url: href, hint })
}

/** Returns `HTTP_202`, after which callers wait and ask again. */
function preparing({ provider, href }: OrderedFile, state: string | undefined, wait?: number): AuthError {
  const message = `${bareAddress(href)}: ${provider.title} is preparing the file that was ordered${state ? ` ("${state}")` : ''}`
  return withRetryAfter(new NetworkError('HTTP_202', message, { status: 202, url: href, retryable: true }), wait)
}

/** True for a status of what was deleted. */
function isGone(status: number | undefined): boolean {
  return status === 404 || status === 410
}

/** Errors of a request that no server has received, or that it asks to repeat. */
const UNSENT = /^(?:NETWORK_(?:DNS|REFUSED|UNREACHABLE)|TIMEOUT_CONNECT|HTTP_429|HTTP_503)$/

/** Throws the error of an order: it is not repeated where the provider may have received it. */
function onlyUnsent(error: unknown): never {
  if (!isAuthError(error) || !error.retryable || UNSENT.test(error.code)) throw error
  const hint = 'the order may have been placed: see your orders at the provider before you run the command again'
  throw new AuthError(error.code, error.message, { ...error, retryable: false, hint })
}

function asAuthError(error: unknown): AuthError {
  if (isAuthError(error)) return error
  throw error
}

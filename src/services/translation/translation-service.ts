/** The options of a translation client, and the access to the service that all its parts share. */
import type { Auth } from '../../auth/auth.ts'
import type { Secret, ServiceCredential } from '../../auth/credential.ts'
import { ConfigurationError, ProtocolError } from '../../errors.ts'
import type { Clock } from '../../net/clock.ts'
import { ApiClient, type ApiClientOptions } from '../client/api-client.ts'
import { described, ValidationError } from '../client/errors.ts'
import { sharedLimits } from '../client/pacer.ts'
import { type Paged, type PagedOptions, type PageSource, paged } from '../client/paging.ts'
import type { CallInput, CallOptions, FormMembers } from '../client/request.ts'
import { ApiResponse } from '../client/response.ts'
import {
  checkBodySize,
  checkMembers,
  checkSurrogates,
  inForm,
  type Member,
  type OperationName,
  operations,
  type TranslationOperation,
} from './operations.ts'

/** Options of `TranslationClient`. Durations are milliseconds. */
export interface TranslationClientOptions
  extends Pick<
    ApiClientOptions,
    'transport' | 'allowInsecure' | 'timeouts' | 'retries' | 'maxRetryAfter' | 'queueLimit' | 'limits' | 'hooks' | 'headers' | 'codec'
  > {
  /** URL of the service; default: the host of `plan`. */
  readonly baseUrl?: string
  /** The plan, which selects the host; default: `free` for keys that end in `:fx`, else `pro`. */
  readonly plan?: 'free' | 'pro'
  /** The key: text, a `Secret`, or a function that returns it for each attempt. Sent to the host of the service only. */
  readonly apiKey?: string | Secret | (() => string | Promise<string>) | undefined
  /** Instead of a key: a credential or an engine whose `sendTo` matches the base URL; it needs `baseUrl` or `plan`. */
  readonly auth?: Auth | ServiceCredential
  /** The header and prefix of the key; default `Authorization: DeepL-Auth-Key <key>`. With an empty prefix only the key is sent. */
  readonly authHeader?: { readonly name: string; readonly prefix?: string }
  /** Tag under which the usage is counted: 1 to 100 ASCII characters without spaces. */
  readonly reportingTag?: string
  /** Name and version of the program, for `User-Agent`. */
  readonly appInfo?: { readonly name: string; readonly version?: string }
  /**
   * The checks before anything is sent: `strict` (default) all known limits, `document` only those of the interface document, `off` none.
   * Wrong types and unpaired surrogates are always errors.
   */
  readonly validate?: 'strict' | 'document' | 'off'
  /** Maximum number of texts in one request; default 50. */
  readonly maxTextsPerRequest?: number
}

/** The checks before anything is sent. */
export type Validation = NonNullable<TranslationClientOptions['validate']>

/** Options of one call, the last argument of every method. */
export interface TranslationCallOptions extends CallOptions {
  /** Tag under which the usage is counted, instead of that of the client. */
  readonly reportingTag?: string
  /** The checks before this call is sent, instead of those of the client. */
  readonly validate?: 'strict' | 'document' | 'off'
  /** Format of the body; default `json`. Errors: `REQUEST_INVALID` for `form` where the service accepts none. */
  readonly encoding?: 'json' | 'form'
}

/** A record or list of the service, with its response. `response` is not enumerable: it is not printed, copied or sent back. */
export type Result<T> = T & { readonly response: ApiResponse<undefined> }

/** A method of the client: its arguments, the options of the call, and the record or list of the service. */
export type ServiceMethod<Given extends readonly unknown[], T> = (
  ...given: [...Given, options?: TranslationCallOptions]
) => Promise<Result<T>>

/** Sends operations by their names, for all parts of the client. */
export class TranslationService {
  /** The client of the host, of paid plans if the key decides; its events and secrets are those of every host. */
  readonly client: ApiClient
  readonly maxTextsPerRequest: number
  readonly clock: Clock
  readonly #validate: Validation
  readonly #key: TranslationClientOptions['apiKey']
  /** The client of the host of free plans, if a function returns the key, which decides. */
  readonly #free: ApiClient | undefined
  #chosen: Promise<ApiClient> | undefined
  #origin: string | undefined

  constructor(options: TranslationClientOptions) {
    const key = options.apiKey === undefined ? undefined : checkedKey(options.apiKey)
    this.clock = (options.limits ?? sharedLimits).clock
    this.maxTextsPerRequest = options.maxTextsPerRequest ?? 50
    this.#validate = options.validate ?? 'strict'
    this.#key = key
    const { free, ...own } = clientOptions({ ...options, ...(key !== undefined && { apiKey: key }) })
    this.client = new ApiClient(own, ['TranslationClient', options])
    this.#free = free === undefined ? undefined : this.client.at(free)
    if (free === undefined) this.#origin = this.client.origin
  }

  /** Origin of the service; `undefined` while it depends on a key that was not read yet. */
  get origin(): string | undefined {
    return this.#origin
  }

  /**
   * Sends an operation and returns the record or list of its response. Errors: those of {@link checkMembers} and {@link ApiClient};
   * `RESPONSE_INVALID` for a response without what the operation promises; each with its name.
   *
   * @param given the input, or a function that returns it
   * @param read checks the result, or returns another one
   */
  async call<T, Read = Result<T>>(
    operation: OperationName | TranslationOperation,
    given: CallInput | ((validation: Validation) => CallInput | Promise<CallInput>) = {},
    more: TranslationCallOptions | null = {},
    read: (result: Result<T>) => Read = (result) => result as unknown as Read,
  ): Promise<Read> {
    const row = typeof operation === 'string' ? operations[operation] : operation
    // Programs without types pass null.
    const options = more ?? {}
    const validation = this.validation(options)
    let attempts = 0
    try {
      const input = typeof given === 'function' ? await given(validation) : given
      const body = isMembers(input.body) ? input.body : {}
      if (input.content === undefined) checkMembers(row, { ...input.query, ...body }, validation)
      checkBodySize(row, body, options, validation)
      const response = await (await this.api()).send(...requestOf(row, input, options))
      attempts = response.attempts
      return read(resultOf<T>(row, response, `${this.origin ?? ''}${row.path}`))
    } catch (error) {
      throw described(error, attempts, row.name)
    }
  }

  /** Sends an operation and returns the whole response, unchanged. */
  async send<T = unknown>(row: TranslationOperation, input: CallInput, options: TranslationCallOptions): Promise<ApiResponse<T>> {
    try {
      return await (await this.api()).send<T>(...requestOf(row, input, options))
    } catch (error) {
      throw described(error, 0, row.name)
    }
  }

  /** Returns the checks of a call. */
  validation(options: TranslationCallOptions): Validation {
    return options.validate ?? this.#validate
  }

  /** Returns the client of the host, which is chosen once. If reading the key fails, the next call tries again. */
  api(): Promise<ApiClient> {
    this.#chosen ??= this.#choose().catch((error: unknown) => {
      this.#chosen = undefined
      throw error
    })
    return this.#chosen
  }

  async #choose(): Promise<ApiClient> {
    const key = this.#key
    if (typeof key === 'string') warnOfHost(this.client, key)
    const client = this.#free && typeof key === 'function' && planOf(await key()) === 'free' ? this.#free : this.client
    this.#origin = client.origin
    return client
  }
}

/**
 * Returns the methods of a part of the client: one for each operation `<part>.<method>`, which takes the parameters of its path, then the
 * query or body if there is one, then the options.
 */
export function methodsOf<Methods>(service: TranslationService, part: string): Methods {
  const rows = Object.values(operations).filter(({ name }) => name.slice(0, name.lastIndexOf('.')) === part)
  return Object.fromEntries(rows.map((row) => [row.name.slice(part.length + 1), methodOf(service, row)])) as Methods
}

function methodOf(service: TranslationService, row: TranslationOperation): ServiceMethod<readonly unknown[], unknown> {
  const parameters = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const hasBody = row.method !== 'GET' && row.method !== 'DELETE'
  return (...given) => {
    const values = [...given]
    const path = Object.fromEntries(parameters.map((name) => [name, values.shift() as string]))
    const query = row.query && queryOf(row.query, values.shift())
    const body = hasBody ? (values.shift() ?? {}) : undefined
    return service.call(row, { path, ...(query && { query }), ...(hasBody && { body }) }, values[0] as TranslationCallOptions)
  }
}

/** Returns the parameters of a query that have a value; an empty list or text is none. */
function queryOf(names: readonly string[], given: unknown): FormMembers {
  const members: FormMembers = Object(given)
  const isPresent = (value: unknown) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(names.flatMap((name) => (isPresent(members[name]) ? [[name, members[name]]] : [])))
}

/** Returns the items of a list that is requested by the number of the page. */
export function pagesOf<Page, Item>(
  source: Omit<PageSource<Page, Item, number>, 'fetch'> & {
    fetch(page: number | undefined, options: TranslationCallOptions): Promise<Page>
  },
  { limit, maxPages, signal, ...options }: TranslationCallOptions & PagedOptions = {},
): Paged<Item> {
  const fetch = (page: number | undefined, ending: AbortSignal) => source.fetch(page, { ...options, signal: ending })
  return paged({ ...source, fetch }, { limit, maxPages, signal })
}

/** Runs an operation; its errors have the name of the operation and the number of requests, 0 unless they have one already. */
export async function named<T>(operation: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw described(error, 0, operation)
  }
}

/**
 * Returns the data of a response with `response`. Errors: `RESPONSE_INVALID` if it is not the record or list of the operation, or lacks a
 * required member.
 *
 * @param url origin and path, for errors
 */
function resultOf<T>({ name, answer, members = {}, elements = {} }: TranslationOperation, response: ApiResponse, url: string): Result<T> {
  const data = answer === 'nothing' ? {} : response.data
  const promised = answer === 'list' ? 'list' : 'record'
  if (!isA(promised, data)) throw unexpected(name, `a ${promised}`, data, url)
  for (const [member, kind] of Object.entries(members)) {
    const value = memberOf(data, member, kind, name, url)
    for (const element of Array.isArray(value) ? value : []) {
      if (!isA('record', element)) throw unexpected(name, 'a list of records', element, url)
      for (const [inner, innerKind] of Object.entries(elements)) memberOf(element, inner, innerKind, name, url)
    }
  }
  return withResponse(data as T & object, response)
}

/** Adds `response` to a record. */
export function withResponse<T extends object>(data: T, { status, headers, attempts, alreadyGone }: ApiResponse): Result<T> {
  const response = new ApiResponse(status, headers, undefined, attempts, alreadyGone)
  // A record may have a member of that name already.
  return Object.defineProperty(data, 'response', { value: response, configurable: true, enumerable: false }) as Result<T>
}

/** Returns a required member of a record. Errors: `RESPONSE_INVALID`. */
export function memberOf(record: object, name: string, kind: Member, operation: string, url = ''): unknown {
  const value: unknown = Object.hasOwn(record, name) ? (record as Record<string, unknown>)[name] : undefined
  if (isA(kind, value)) return value
  throw unexpected(operation, `"${name}", a ${kind},`, value, url)
}

/** Returns an operation, its input and its options as a client sends them: with the tag, and as a form if asked for. Errors: `REQUEST_INVALID`. */
function requestOf(
  row: TranslationOperation,
  input: CallInput,
  options: TranslationCallOptions,
): [operation: TranslationOperation, input: CallInput, options: TranslationCallOptions] {
  const { extraBody, encoding } = options
  checkSurrogates(extraBody)
  const all = withTag(options)
  if (encoding !== 'form') return [row, input, all]
  if (!row.form) throw refused('encoding', `${row.name} does not accept forms`)
  const form = { ...input, ...(isMembers(input.body) && { body: inForm(input.body) }) }
  return [{ ...row, body: 'form' }, form, isMembers(extraBody) ? { ...all, extraBody: inForm(extraBody) } : all]
}

/** Returns the options with the tag as a header. Errors: `REQUEST_INVALID`. */
export function withTag(options: TranslationCallOptions): TranslationCallOptions {
  if (options.reportingTag === undefined) return options
  return { ...options, headers: { ...options.headers, 'x-deepl-reporting-tag': reportingTag(options.reportingTag) } }
}

const HINTS = {
  403: 'check the key, its scopes and its plan: keys that end in :fx belong to the free host, and administration needs an administrator',
  413: 'send less at once: a text request has at most 128 KiB, the limit of documents depends on the plan',
  456: 'the quota or the limit of the key is used up: raise it, or wait for the next period',
}

const DEFAULT_HEADER = { name: 'Authorization', prefix: 'DeepL-Auth-Key' }

/**
 * Returns the options of the client, and the host of free plans if a function returns the key, which decides. Errors: `CONFIG_INVALID`,
 * `REQUEST_INVALID` for an invalid tag.
 */
function clientOptions(options: TranslationClientOptions): ApiClientOptions & { readonly free?: string } {
  const { baseUrl: _baseUrl, plan, apiKey, auth, authHeader = DEFAULT_HEADER, ...rest } = options
  const { reportingTag: tag, appInfo, headers, validate: _validate, maxTextsPerRequest: _most, ...own } = rest
  if ((apiKey === undefined) === (auth === undefined))
    throw new ConfigurationError('CONFIG_INVALID', 'a translation client needs either apiKey or auth', {
      hint: apiKey === undefined ? 'if apiKey is read from a variable, set that variable' : 'remove one of them',
    })
  if (plan !== undefined && !Object.hasOwn(HOSTS, plan)) throw new ConfigurationError('CONFIG_INVALID', 'plan must be "free" or "pro"')
  if (typeof authHeader?.name !== 'string')
    throw new ConfigurationError('CONFIG_INVALID', "authHeader must have a name: { name: 'x-api-key', prefix: '' }")
  const { name, prefix = '' } = authHeader
  const key = apiKey !== undefined && ({ type: 'apiKey', in: 'header', name, ...(prefix !== '' && { prefix }), value: apiKey } as const)
  return {
    ...own,
    ...(key ? { credential: key } : isEngine(auth) ? { auth } : { credential: auth as ServiceCredential }),
    ...hostsOf(options),
    hints: HINTS,
    form: { arrays: 'repeat' },
    userAgent: userAgent(appInfo),
    headers: { ...headers, ...(tag !== undefined && { 'x-deepl-reporting-tag': reportingTag(tag) }) },
    pinnedHeaders: [name],
  }
}

/** Anything else is a credential, so that an object that is neither is refused by its missing type. */
function isEngine(auth: TranslationClientOptions['auth']): auth is Auth {
  return typeof (auth as { readonly service?: unknown }).service === 'function'
}

function userAgent({ name, version }: NonNullable<TranslationClientOptions['appInfo']> = { name: '' }): string {
  const app = name && (version === undefined ? name : `${name}/${version}`)
  if (/^[\x20-\x7e]*$/.test(app)) return `stac-auth/${PACKAGE_VERSION}${app && ` ${app}`}`
  throw new ConfigurationError('CONFIG_INVALID', 'appInfo has characters that are not allowed in a header')
}

type Key = NonNullable<TranslationClientOptions['apiKey']>

/**
 * Returns the checked key: a text that can be sent, or a function whose concurrent calls share one result. Errors:
 * `CREDENTIAL_VALUE_INVALID` without the value.
 */
function checkedKey(key: Key): Key {
  if (typeof key === 'function') return shared(async () => checked(await key()))
  return typeof key === 'object' && key !== null ? key : checked(key)
}

function checked(key: unknown): string {
  const isSendable = typeof key === 'string' && key !== '' && key === key.trim() && !/[\0\r\n]/.test(key)
  if (isSendable) return key
  const message =
    'the API key must be a non-empty string without line breaks and without leading or trailing spaces; its value is not shown'
  throw new ConfigurationError('CREDENTIAL_VALUE_INVALID', message)
}

/** Returns a function that runs once at a time: concurrent callers share its result. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined
    })
    return asked
  }
}

const HOSTS = { pro: 'https://api.deepl.com', free: 'https://api-free.deepl.com' } as const

/** Returns the base URL, and that of free plans if a function returns the key, which decides. Errors: `CONFIG_INVALID`. */
function hostsOf({ baseUrl, plan, apiKey }: TranslationClientOptions): { readonly baseUrl: string; readonly free?: string } {
  if (baseUrl !== undefined) return { baseUrl }
  if (plan !== undefined) return { baseUrl: HOSTS[plan] }
  if (typeof apiKey === 'string') return { baseUrl: HOSTS[planOf(apiKey)] }
  if (typeof apiKey === 'function') return { baseUrl: HOSTS.pro, free: HOSTS.free }
  throw new ConfigurationError('CONFIG_INVALID', 'the host cannot be derived from the credential: set baseUrl or plan')
}

function planOf(key: string): 'free' | 'pro' {
  return key.endsWith(':fx') ? 'free' : 'pro'
}

/** Warns of a key that is sent to the host of the other plan. The key is sent all the same. */
function warnOfHost(client: ApiClient, key: string): void {
  const plan = planOf(key)
  const other = plan === 'free' ? 'pro' : 'free'
  if (client.origin !== HOSTS[other]) return
  const message = `the key looks like one of the ${plan} plan, ${client.origin} serves the ${other} plan`
  client.emit('warning', { code: 'PLAN_HOST_MISMATCH', message })
}

/** Returns a reporting tag without surrounding whitespace. Errors: `REQUEST_INVALID` for a tag that the service would refuse. */
function reportingTag(tag: string): string {
  const trimmed = tag.trim()
  if (/^[\x21-\x7e]{1,100}$/.test(trimmed)) return trimmed
  const message = 'a reporting tag must have 1 to 100 ASCII characters and no spaces; nothing was sent'
  throw new ValidationError('REQUEST_INVALID', message, { field: 'reportingTag', limit: 100 })
}

function isMembers(body: unknown): body is FormMembers {
  return typeof body === 'object' && body !== null && !(Symbol.iterator in body)
}

function refused(field: string, why: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `${why}; nothing was sent`, { field })
}

/** The version of this package, for platforms that cannot read files; a test compares it with `package.json`. */
export const PACKAGE_VERSION = '0.1.0'

function isA(kind: Member, value: unknown): value is object {
  if (kind === 'text') return typeof value === 'string'
  if (kind === 'number') return typeof value === 'number'
  return typeof value === 'object' && value !== null && Array.isArray(value) === (kind === 'list')
}

function unexpected(operation: string, promised: string, found: unknown, url: string): ProtocolError {
  return new ProtocolError('RESPONSE_INVALID', `${operation}: expected ${promised} in the response, received ${kindOf(found)}`, {
    ...(url && { url }),
  })
}

function kindOf(found: unknown): string {
  if (found === undefined) return 'nothing'
  if (found === null) return 'null'
  if (typeof found === 'object') return Array.isArray(found) ? 'a list' : 'a record'
  return `a ${typeof found}`
}

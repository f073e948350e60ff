/** The client of the time-tracking service, and its options. */

import type { Auth } from '../../auth/auth.ts'
import type { SecretInput, ServiceCredential } from '../../auth/credential.ts'
import { ConfigurationError, CredentialError, ProtocolError } from '../../errors.ts'
import { isForbiddenHeader, isToken } from '../../http/headers.ts'
import { ApiClient, type ApiClientOptions, baseAddress } from '../client/api-client.ts'
import { described, requireOptions, ValidationError } from '../client/errors.ts'
import type { ClientEvents } from '../client/events.ts'
import { type CallInput, type CallOptions, type Operation, rawPath } from '../client/request.ts'
import type { ApiResponse } from '../client/response.ts'
import {
  asBool,
  asDecimal,
  asDuration,
  asInstant,
  asInt,
  checkPath,
  checkVerb,
  type FieldReaders,
  type Instant,
  RestResource,
  type ServiceProfile,
  unwrapped,
} from '../client/rest-resource.ts'

/** Options of `TimeTrackingClient`. Durations are milliseconds; `retries` is 2 by default. */
export interface TimeTrackingOptions
  extends Pick<
    ApiClientOptions,
    'baseUrl' | 'transport' | 'allowInsecure' | 'timeouts' | 'retries' | 'maxRetryAfter' | 'queueLimit' | 'limits' | 'hooks' | 'parseJson'
  > {
  /** URL of the API with its version: `https://host/api/v1`. Only https: (`URL_INSECURE`). */
  readonly baseUrl: string
  /** The API token, a function that returns it, or the token of `auth.login()` with its User-Agent. */
  readonly token?: SecretInput | { readonly token: SecretInput; readonly userAgent: string }
  /** Instead of a token: a credential, or an engine with a credential whose `sendTo` matches the base URL. */
  readonly auth?: ServiceCredential | Auth
  /**
   * The header and prefix of the token; default `{ name: 'Authorization', prefix: 'Bearer' }`. Without `prefix` only the token is sent.
   * `x-api-token` sends only the token in the header of that name.
   */
  readonly authHeader?: { readonly name: string; readonly prefix?: string } | 'x-api-token'
  /**
   * The `User-Agent` of all requests. It must equal the one that created the token: any other destroys the token. Default
   * `stac-auth-time-tracking`; required for `auth.login()`.
   */
  readonly userAgent?: string
  /** The last segment of the base URL; default `v1`, false for any. */
  readonly apiVersion?: string | false
  /** Conventions of the service that differ from the defaults. */
  readonly profile?: Partial<Pick<ServiceProfile, 'form' | 'envelope' | 'paging' | 'replay'>>
}

type AuthHeader = Exclude<NonNullable<TimeTrackingOptions['authHeader']>, string>

/** Without a version number, so that a token still works after an update. */
const USER_AGENT = 'stac-auth-time-tracking'

/** The `hint` of a 401. */
const BINDING =
  'a token works only with the User-Agent that created it, and any other destroys it: set the userAgent of the login, ' + 'or log in again'

/**
 * A client of the time-tracking service: reads and changes projects, customers and other collections. Requests are forms, responses JSON;
 * the service supports `GET`, `POST` and `DELETE`. Nothing is loaded or connected before the first call.
 *
 * Errors of the constructor: `URL_INSECURE`, `CONFIG_INVALID`. Of calls: those of `ApiClient`, and `VERB_NOT_ALLOWED`, `NO_CREDENTIAL`.
 *
 * @example
 * const client = new TimeTrackingClient({ baseUrl: 'https://host.example/api/v1', token, userAgent: 'acme-sync' })
 * for await (const project of client.projects.iterate()) console.log(project.name)
 * await client.customers.update(121, { name: 'ACME INC.' })
 */
export class TimeTrackingClient {
  /** The projects (`/projects`). `update` is a `POST`, which is not retried once it may have been done. */
  readonly projects: RestResource<Project, ProjectChanges & { readonly name: string }, ProjectChanges>
  /** The customers (`/customers`); ids are numeric. */
  readonly customers: RestResource<Customer, CustomerChanges, CustomerChanges>
  /** Logins: creates and revokes tokens. */
  readonly auth: TimeTrackingAuth
  readonly #client: ApiClient
  readonly #profile: ServiceProfile

  constructor(options: TimeTrackingOptions) {
    requireOptions(options, 'TimeTrackingClient')
    checkVersionedBase(options)
    const identity = identityOf(options)
    this.#client = new (identity.credential || identity.auth ? OnceClient : ClientWithoutToken)(clientOptions(options, identity), [
      'TimeTrackingClient',
      options,
      2,
    ])
    this.#profile = { ...TIME_TRACKING, ...options.profile }
    const common = { client: this.#client, profile: this.#profile }
    this.projects = new RestResource({ ...common, path: 'projects', fields: projectFields })
    this.customers = new RestResource({ ...common, path: 'customers', id: numericId, fields: exactIds })
    this.auth = new TimeTrackingAuth(this.#client, identity.userAgent)
  }

  /**
   * Returns any other collection by its path below the base URL. Its records are as the service sends them. Errors: `REQUEST_INVALID` for
   * an invalid path.
   *
   * @example const tasks = await client.resource<{ title: string }>('tasks').list({ query: { project_id: 60 } })
   */
  resource<T extends object = object, Create extends object = object, Update extends object = object>(
    path: string,
  ): RestResource<T, Create, Update> {
    checkPath(path)
    return new RestResource({ client: this.#client, profile: this.#profile, path: rawPath(`/${path}`).slice(1), fields: exactIds })
  }

  /**
   * Sends a request to any path below the base URL and returns the whole response. `body` is written as a form; `parse: 'raw'` returns the
   * bytes of the response. A `GET` is retried as `safe`, except below `/auth`, everything else as `unsafe`.
   *
   * Errors: `VERB_NOT_ALLOWED`, `REQUEST_INVALID` for a URL and for a path that leaves the base.
   *
   * @example const { data } = await client.request('GET', '/reports/daily', { query: { day: '2026-01-02' } })
   */
  async request<T = unknown>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    options: CallOptions & { readonly body?: Readonly<Record<string, unknown>>; readonly parse?: 'raw' } = {},
  ): Promise<ApiResponse<T>> {
    const { body, parse, ...call } = options
    const name = `${method} request`
    try {
      checkVerb(this.#profile, method, name)
      const operation: Operation = {
        ...{ name, method, path: rawPath(path), body: 'form', accept: this.#profile.accept },
        replay: method === 'GET' ? 'safe' : 'unsafe',
        ...(parse === 'raw' && { response: 'bytes' }),
      }
      return await this.#client.send<T>(operation, body === undefined ? {} : { body }, call)
    } catch (error) {
      throw described(error, 0, name)
    }
  }

  /**
   * Adds a listener of the events of `ApiClient` and returns a function that removes it.
   *
   * @example client.on('retry', ({ operation, delayMs }) => console.error(operation, delayMs))
   */
  on<Name extends keyof ClientEvents>(event: Name, listener: (payload: ClientEvents[Name]) => void): () => void {
    return this.#client.on(event, listener)
  }

  /** Returns the origin only, so that a printed client shows no secret. */
  toJSON(): object {
    return { origin: this.#client.origin }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `TimeTrackingClient { ${this.#client.origin} }`
  }
}

/** The identity of the client: its credential and `User-Agent`. */
interface Identity {
  readonly credential?: ServiceCredential
  readonly auth?: Auth
  /** `User-Agent` as the caller set it. */
  readonly userAgent: string | undefined
}

/** Returns the identity of a client. Errors: `CONFIG_INVALID`. */
function identityOf({ token, auth, authHeader, userAgent }: TimeTrackingOptions): Identity {
  if (auth !== undefined && (token !== undefined || authHeader !== undefined))
    throw new ConfigurationError('CONFIG_INVALID', 'set either auth, or token and authHeader')
  const bound = isBound(token) ? token : { token, userAgent }
  const agent = bound.userAgent
  if (agent !== undefined && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(agent))
    throw new ConfigurationError('CONFIG_INVALID', 'userAgent must be printable ASCII without leading or trailing spaces')
  if (auth !== undefined) return { ...(isEngine(auth) ? { auth } : { credential: auth }), userAgent: agent }
  return { ...(bound.token !== undefined && { credential: tokenCredential(bound.token, authHeader) }), userAgent: agent }
}

function clientOptions(options: TimeTrackingOptions, { credential, auth, userAgent = USER_AGENT }: Identity): ApiClientOptions {
  const { token: _token, authHeader: _header, apiVersion: _version, profile, ...own } = options
  const { name = '' } = { ...credential } as { readonly name?: string }
  return {
    // Not `headers` of a program without types: no header may change the `User-Agent`.
    ...({ ...own, credential, auth, headers: undefined } as ApiClientOptions),
    ...{ userAgent, refresh: false, hints: { 401: BINDING } },
    pinnedHeaders: ['user-agent', 'x-api-token', `${name}`],
    form: profile?.form ?? {},
  }
}

function isBound(token: TimeTrackingOptions['token']): token is Exclude<NonNullable<TimeTrackingOptions['token']>, SecretInput> {
  return typeof token === 'object' && token !== null
}

/** Anything else is a credential, or refused as one. */
function isEngine(auth: ServiceCredential | Auth): auth is Auth {
  return typeof (auth as Auth).service === 'function'
}

/** A new token, as `auth.login()` returns it: also the `token` of a client. */
export interface LoginToken {
  /** The token; a secret. */
  readonly token: string
  /** The only `User-Agent` that the token works with. */
  readonly userAgent: string
  /** The account, as the service writes it. */
  readonly accountId: unknown
}

/** Options of logins and revocations, which are not retried once they may have been done. */
export type OnceOptions = Omit<CallOptions, 'retry' | 'replay' | 'query' | 'extraBody' | 'credential'>

/** Logins have separate limits, so that their waits do not delay other requests. */
const LOGIN_LIMITS = 'auth'

const LOGIN: Operation = {
  ...{ name: 'auth.login', method: 'POST', path: '/auth', body: 'form', replay: 'unsafe', limits: LOGIN_LIMITS },
  secrets: ['password'],
  secretAnswer: true,
}

const REVOKE: Operation = { name: 'auth.revoke', method: 'GET', path: '/auth/revoke', replay: 'unsafe', limits: LOGIN_LIMITS }

/**
 * Logins of the time-tracking service: creates tokens and revokes them.
 *
 * @example
 * const session = await client.auth.login({ email, password, accountId: 7 })
 * const other = new TimeTrackingClient({ baseUrl, token: session })
 * await other.auth.revoke()
 */
class TimeTrackingAuth {
  readonly #client: ApiClient
  readonly #userAgent: string | undefined

  /**
   * @param userAgent the one that the caller chose; without one there is no login
   * @internal
   */
  constructor(client: ApiClient, userAgent: string | undefined) {
    this.#client = client
    this.#userAgent = userAgent
  }

  /**
   * Returns a new token for the User-Agent of this client (`POST /auth`). The token is not stored, and the client continues with its
   * current one; the password is not kept after the call. Retried after 429 and if it was never sent, otherwise not.
   *
   * Errors: `CONFIG_INVALID` for a client without `userAgent`, `HTTP_401` for a wrong password, `RESPONSE_INVALID` for a response without a
   * token.
   */
  async login(
    { email, password, accountId }: { readonly email: string; readonly password: string; readonly accountId: number | bigint | string },
    options: OnceOptions = {},
  ): Promise<LoginToken> {
    const userAgent = this.#userAgent
    if (userAgent === undefined) {
      const hint = 'set a userAgent that every program with this token uses'
      const message = 'userAgent is missing: a token is bound to the User-Agent that creates it'
      throw described(new ConfigurationError('CONFIG_INVALID', message, { hint }), 0, LOGIN.name)
    }
    const body = { email, password, account_id: accountId }
    const { data, attempts } = await this.#client.withoutCredential().send(LOGIN, { body }, options)
    // Of anything but an object this is empty.
    const { token, account_id } = { ...(unwrapped(data) as Record<string, unknown>) }
    if (typeof token !== 'string' || token === '') {
      const url = this.#client.origin
      throw described(new ProtocolError('RESPONSE_INVALID', `${url} answered the login without a token`, { url }), attempts, LOGIN.name)
    }
    return { token, userAgent, accountId: account_id ?? accountId }
  }

  /** Revokes the token of this client (`GET /auth/revoke`). Sent once and never retried. Errors: `NO_CREDENTIAL` without a token. */
  async revoke(options: OnceOptions = {}): Promise<void> {
    await this.#client.call(REVOKE, {}, { ...options, retry: false })
  }
}

/**
 * Sends every request below `auth` as a login or revocation, which is not retried, whichever method of the client sends it: a `GET` there
 * can revoke the token, and a second one would use a revoked token.
 */
class OnceClient extends ApiClient {
  override send<T = unknown>(operation: Operation, input: CallInput = {}, options: CallOptions = {}): Promise<ApiResponse<T>> {
    return super.send(isAuth(operation, input) ? { ...operation, replay: 'unsafe', limits: LOGIN_LIMITS } : operation, input, options)
  }
}

/** Refuses requests without `credential` in their options. Errors: `NO_CREDENTIAL`. */
class ClientWithoutToken extends OnceClient {
  override async send<T = unknown>(operation: Operation, input?: CallInput, options: CallOptions = {}): Promise<ApiResponse<T>> {
    if (options.credential) return super.send(operation, input, options)
    const hint = 'set token or auth; auth.login() creates a token'
    throw described(new CredentialError('NO_CREDENTIAL', 'the client has no token; nothing was sent', { hint }), 0, operation.name)
  }
}

/** Returns true if a segment of the path is `auth`, as servers may decode it. */
function isAuth({ path }: Operation, { path: values = {} }: CallInput): boolean {
  const [way = ''] = path.split('?')
  return [...way.split('/'), ...Object.values(values)].some((segment) => /^auth(?:;|$)/i.test(decoded(String(segment))))
}

/** Decodes percent-encoded ASCII characters, also if they are encoded several times. */
function decoded(segment: string): string {
  return segment.replace(/%(?:25)*([0-7][\da-f])/gi, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/** The default header of tokens. */
const BEARER: AuthHeader = { name: 'Authorization', prefix: 'Bearer' }

/**
 * Returns the credential that sends a token in that header. The token is not checked.
 *
 * Errors: `CONFIG_INVALID` for a header name that is not allowed for a secret, and for an invalid prefix.
 */
function tokenCredential(token: SecretInput, header: TimeTrackingOptions['authHeader'] = BEARER): ServiceCredential {
  const { name, prefix = '' }: AuthHeader = header === 'x-api-token' ? { name: header } : header
  if (isForbiddenHeader(name)) throw invalid(`a token cannot be sent in the header ${JSON.stringify(name)}`)
  if (prefix !== '' && !isToken(prefix)) throw invalid('the prefix of authHeader must be one word without spaces')
  const isBearer = name.toLowerCase() === 'authorization' && prefix.toLowerCase() === 'bearer'
  if (isBearer) return { type: 'http', scheme: 'bearer', token }
  return { type: 'apiKey', in: 'header', name, value: prefix === '' ? token : prefixed(prefix, token) }
}

function prefixed(prefix: string, token: SecretInput): SecretInput {
  return typeof token === 'string' ? `${prefix} ${token}` : async () => `${prefix} ${await token()}`
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', message, { hint: "for example { name: 'Authorization', prefix: 'Bearer' }" })
}

/**
 * Checks that the base URL is encrypted and ends in the segment of the version.
 *
 * Errors: `URL_INSECURE`, `CONFIG_INVALID`.
 */
export function checkVersionedBase({
  baseUrl,
  allowInsecure,
  apiVersion = 'v1',
}: Pick<TimeTrackingOptions, 'baseUrl' | 'allowInsecure' | 'apiVersion'>): void {
  const { origin, path } = baseAddress(baseUrl, allowInsecure)
  if (apiVersion === false || path.endsWith(`/${apiVersion}`)) return
  const [, version] = /\/(v\d[\w.-]*)$/.exec(path) ?? []
  const hint = version === undefined ? `write ${origin}${path}/${apiVersion}, or set apiVersion` : `set apiVersion: '${version}'`
  throw new ConfigurationError('CONFIG_INVALID', `baseUrl ${origin}${path} does not end in the version, /${apiVersion}`, { hint })
}

/**
 * The conventions of the service: form requests, JSON responses, three methods, and `POST` to change an item. A change is not retried,
 * because the service does not document whether it may be repeated.
 */
const TIME_TRACKING: ServiceProfile = {
  verbs: ['GET', 'POST', 'DELETE'],
  update: 'POST',
  body: 'form',
  accept: 'application/json',
  envelope: 'auto',
  paging: { style: 'none' },
}

/** A customer. Further fields are returned as the service sends them. */
export interface Customer {
  /** Numeric identifier. */
  readonly id?: number | bigint | string
  /** Name of the customer. */
  readonly name?: string
}

/** Fields of a customer that are written. The service may accept further ones. */
export interface CustomerChanges {
  /** Name of the customer. */
  readonly name?: string
  readonly [field: string]: unknown
}

/**
 * Checks and returns a numeric id: a safe integer of 0 or more, or up to 20 digits as text or `bigint`, which lose no precision.
 *
 * Errors: `REQUEST_INVALID`.
 */
export function numericId(id: unknown): string | number | bigint {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return id
  if ((typeof id === 'string' || typeof id === 'bigint') && /^\d{1,20}$/.test(String(id))) return id
  const hint = 'use a whole number of 0 or more, or its digits as a string if it is too large for a number'
  throw new ValidationError('REQUEST_INVALID', 'the id is not a number; nothing was sent', { field: 'id', hint })
}

/**
 * A project as the service returns it; null and missing fields are kept. Integers are `bigint` only if a number would lose digits. A value
 * that does not fit stays unchanged and is listed in `decodeIssues`.
 */
export interface Project {
  /** Numeric identifier. */
  readonly id?: number | bigint
  /** Name of the project. */
  readonly name?: string
  /** Description; null for none. */
  readonly description?: string | null
  /** Whether the project is active. */
  readonly active?: boolean
  /** True for a template of projects. */
  readonly template?: boolean
  /** 1 public, 2 private. */
  readonly privacy?: number | bigint
  /** Identifier of the customer; null for none. */
  readonly customer_id?: number | bigint | null
  /** Whether a task is required; the service writes 0 or 1. */
  readonly required_task?: boolean
  /** Whether it is billable; the service writes 0 or 1. */
  readonly billable?: boolean
  /** `project`, `user`, or another value that the service adds. */
  readonly bill_by?: string
  /** Rate as decimal digits in text. Like the four fields below, present only when a single project is read. */
  readonly rate?: string | null
  /** Total value as decimal digits in text. */
  readonly value_total?: string | null
  /** Total time in milliseconds; the service writes `HH:MM:SS`. */
  readonly time_total?: number | null
  /** Number of members. */
  readonly total_members?: number | bigint | null
  /** Number of active tasks. */
  readonly total_active_tasks?: number | bigint | null
  /** Time of the creation. */
  readonly date_created?: Instant | null
  /** Time of the last change; services write this or `date_updated`. */
  readonly date_changed?: Instant | null
  /** Time of the last change. */
  readonly date_updated?: Instant | null
  /** Identifier of the user who created it. */
  readonly created_by?: number | bigint | null
  /** Identifier of the user who deleted it. */
  readonly deleted_by?: number | bigint | null
  /** `active` or `archived`. */
  readonly status?: string
  /** The privacy as text. */
  readonly privacy_s?: string
  /** Name of the customer. */
  readonly customer_name?: string | number | null
  /** Whether the user of the token is a member. */
  readonly is_member?: boolean
  /** Whether the user of the token manages it. */
  readonly is_manager?: boolean
}

/** Fields of a project that are written; `create` needs a `name`. Null clears a field. The service may accept further ones. */
export interface ProjectChanges {
  /** Name of the project. */
  readonly name?: string
  /** Description; null removes it. */
  readonly description?: string | null
  /** Whether the project is active. */
  readonly active?: boolean
  /** True makes it a template. */
  readonly template?: boolean
  /** 1 public, 2 private. */
  readonly privacy?: 1 | 2
  /** Identifier of the customer; null for none. */
  readonly customer_id?: number | bigint | string | null
  /** Whether a task is required. */
  readonly required_task?: boolean
  /** Whether it is billable. */
  readonly billable?: boolean
  /** `project` or `user`. */
  readonly bill_by?: string
  /** Rate; text keeps every digit. */
  readonly rate?: string | number | null
  readonly [field: string]: unknown
}

/** Ids stay as the service writes them; numbers of too many digits are `bigint`. */
const exactIds: FieldReaders = { id: (value, text) => (text === undefined ? value : asInt(value, text)) }

/** Fields that services write in more than one way. */
const projectFields: FieldReaders = {
  id: asInt,
  active: asBool,
  template: asBool,
  privacy: asInt,
  customer_id: asInt,
  required_task: asBool,
  billable: asBool,
  rate: asDecimal,
  value_total: asDecimal,
  time_total: asDuration,
  total_members: asInt,
  total_active_tasks: asInt,
  date_created: asInstant,
  date_changed: asInstant,
  date_updated: asInstant,
  created_by: asInt,
  deleted_by: asInt,
  is_member: asBool,
  is_manager: asBool,
}

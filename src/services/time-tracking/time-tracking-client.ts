/** The client of the time-tracking service, and its options. */

import type { Auth } from '../../auth/auth.ts'
import type { SecretInput, ServiceCredential } from '../../auth/credential.ts'
import { ConfigurationError, CredentialError, ProtocolError } from '../../errors.ts'
import { isForbiddenHeader, isToken } from '../../http/headers.ts'
import { ApiClient, type ApiClientOptions, baseAddress } from '../client/api-client.ts'
import type { ApiResponse } from '../client/call.ts'
import { described, ValidationError } from '../client/errors.ts'
import type { ClientEvents, EventName } from '../client/events.ts'
import { type CallInput, type CallOptions, type Method, type Operation, type PathValue, rawPath } from '../client/request-builder.ts'
import {
  asBool,
  asDecimal,
  asDuration,
  asInstant,
  asInt,
  checkVerb,
  type FieldReaders,
  type Instant,
  RestResource,
  type ServiceProfile,
  unwrapped,
} from '../client/rest-resource.ts'

/** What every client of an API may choose. */
type Common = Pick<
  ApiClientOptions,
  'baseUrl' | 'transport' | 'allowInsecure' | 'timeouts' | 'maxRetries' | 'maxRetryAfter' | 'queueLimit' | 'limits' | 'hooks' | 'parseJson'
>

/** How the service is reached and by whom. */
export interface TimeTrackingOptions extends Common {
  /** `https://host/api/v1`; there is none by default. */
  readonly baseUrl: string
  /** The API token, a function that gives it, or a token with its User-Agent. */
  readonly token?: SecretInput | BoundToken
  /** Instead of a token: a credential, or an engine with a credential whose `sendTo` matches the base URL. */
  readonly auth?: ServiceCredential | Auth
  /** Where the token goes; default `{ name: 'Authorization', prefix: 'Bearer' }`. `x-api-token` is a field of that name. */
  readonly authHeader?: AuthHeader | 'x-api-token'
  /** Of all requests, letter by letter the one that made the token. Default `stac-auth-time-tracking`. Needed for `auth.login()`. */
  readonly userAgent?: string
  /** The last segment of the base address; default `v1`; false checks nothing. */
  readonly versionSegment?: string | false
  readonly profile?: ProfileOptions
}

/** A token and the User-Agent that it works with: what `auth.login()` gives. */
export interface BoundToken {
  readonly token: SecretInput
  readonly userAgent: string
}

/** The field of a token, and the word before it; without a word the token stands alone. */
export interface AuthHeader {
  readonly name: string
  readonly prefix?: string
}

/** What may be different from what the service is known to do. */
export type ProfileOptions = Partial<Pick<ServiceProfile, 'form' | 'envelope' | 'paging' | 'replay'>>

/** Without a version number: a token must work after an update too. */
const USER_AGENT = 'stac-auth-time-tracking'

/** What to do about an answer of 401. */
const BINDING =
  'a token works only with the User-Agent that created it, and any other destroys it: set the userAgent of the login, ' + 'or log in again'

/** A request that is no operation. */
export interface RequestOptions extends CallOptions {
  /** Written as a form. */
  readonly body?: Readonly<Record<string, unknown>>
  /** `raw` gives the bytes of the answer, whatever they are. */
  readonly parse?: 'raw'
}

/**
 * Reads and changes projects, customers and whatever else the service has. Nothing is loaded or connected before the first call.
 *
 * Errors of the constructor: `URL_INSECURE` before a credential is looked at, `CONFIG_INVALID`. Of calls: those of `ApiClient`, and
 * `VERB_NOT_ALLOWED`, `NO_CREDENTIAL`.
 *
 * @example
 * const client = new TimeTrackingClient({ baseUrl: 'https://host.example/api/v1', token, userAgent: 'acme-sync' })
 * for await (const project of client.projects.iterate()) console.log(project.name)
 * await client.customers.update(121, { name: 'ACME INC.' })
 */
export class TimeTrackingClient {
  readonly projects: RestResource<Project, NewProject, ProjectChanges>
  readonly customers: RestResource<Customer, CustomerChanges, CustomerChanges>
  readonly auth: TimeTrackingAuth
  readonly #client: ApiClient
  readonly #profile: ServiceProfile

  constructor(options: TimeTrackingOptions) {
    checkVersionedBase(options)
    const identity = identityOf(options)
    const settings = clientOptions(options, identity)
    const isNobody = !identity.credential && !identity.auth
    this.#client = isNobody ? new ClientWithoutToken(settings) : new OnceClient(settings)
    this.#profile = { ...TIME_TRACKING, ...options.profile }
    const common = { client: this.#client, profile: this.#profile }
    this.projects = new RestResource({ ...common, path: 'projects', fields: projectFields })
    this.customers = new RestResource({ ...common, path: 'customers', id: numericId })
    this.auth = new TimeTrackingAuth(this.#client, identity.userAgent)
  }

  /** Any other collection, by its path below the base address: `tasks`. Its records are as they come. Errors: `REQUEST_INVALID`. */
  resource<T extends object = object, Create extends object = object, Update extends object = object>(
    path: string,
  ): RestResource<T, Create, Update> {
    if (typeof path === 'string' && /^$|[?{}]|^\/|\/$|\/\//.test(path))
      throw new ValidationError('REQUEST_INVALID', `${JSON.stringify(path)} is not the path of a collection`, { field: 'path' })
    return new RestResource({
      client: this.#client,
      profile: this.#profile,
      path: rawPath(typeof path === 'string' ? `/${path}` : path).slice(1),
    })
  }

  /**
   * Any request below the base address: status, headers and data as they came. A `GET` is taken for safe, except below `/auth`.
   *
   * Errors: `VERB_NOT_ALLOWED`, `REQUEST_INVALID` for an address and for a path that leaves the base.
   */
  async request<T = unknown>(method: Method, path: string, options: RequestOptions = {}): Promise<ApiResponse<T>> {
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

  /** Hears an event; the result takes the listener back. */
  on<Name extends EventName>(event: Name, listener: (payload: ClientEvents[Name]) => void): () => void {
    return this.#client.on(event, listener)
  }

  toJSON(): object {
    return { origin: this.#client.origin }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `TimeTrackingClient { ${this.#client.origin} }`
  }
}

/** Who the client is for the service. */
interface Identity {
  readonly credential?: ServiceCredential
  readonly auth?: Auth
  /** As the caller wrote it. */
  readonly userAgent: string | undefined
}

/** Errors: `CONFIG_INVALID`. */
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

function clientOptions({ baseUrl, maxRetries = 2, profile, ...options }: TimeTrackingOptions, identity: Identity): ApiClientOptions {
  const { transport, allowInsecure, timeouts, maxRetryAfter, queueLimit, limits, hooks, parseJson } = options
  const { credential, auth, userAgent = USER_AGENT } = identity
  const own = credential && 'name' in credential && typeof credential.name === 'string' ? [credential.name] : []
  return {
    ...{ baseUrl, maxRetries, userAgent, refresh: false, hints: { 401: BINDING } },
    pinnedHeaders: ['user-agent', 'x-api-token', ...own],
    form: profile?.form ?? {},
    ...(credential && { credential }),
    ...(auth && { auth }),
    ...definedOf({ transport, allowInsecure, timeouts, maxRetryAfter, queueLimit, limits, hooks, parseJson }),
  }
}

function definedOf<T extends object>(options: T): { [name in keyof T]?: Exclude<T[name], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never
}

function isBound(token: SecretInput | BoundToken | undefined): token is BoundToken {
  return typeof token === 'object'
}

function isEngine(auth: ServiceCredential | Auth): auth is Auth {
  return 'service' in auth && typeof auth.service === 'function'
}

/** Who logs in. */
export interface LoginInput {
  readonly email: string
  readonly password: string
  readonly accountId: number | bigint | string
}

/** A new token. It works with that User-Agent only; as `token` of a client it brings it along. */
export interface LoginToken {
  readonly token: string
  readonly userAgent: string
  /** As the service writes it. */
  readonly accountId: unknown
}

/** Options of a call that is not repeated once it may have been done; `revoke` is not repeated at all. */
export type OnceOptions = Omit<CallOptions, 'retry' | 'replay' | 'query' | 'extraBody' | 'credential'>

/** Logins have limits of their own, so they wait by themselves. */
const LOGIN_LIMITS = 'auth'

const LOGIN: Operation = {
  ...{ name: 'auth.login', method: 'POST', path: '/auth', body: 'form', replay: 'unsafe', limits: LOGIN_LIMITS },
  secrets: ['password'],
  secretAnswer: true,
}

const REVOKE: Operation = { name: 'auth.revoke', method: 'GET', path: '/auth/revoke', replay: 'unsafe', limits: LOGIN_LIMITS }

/** Logins of the time-tracking service: requests tokens, and revokes them. */
export class TimeTrackingAuth {
  readonly #client: ApiClient
  readonly #userAgent: string | undefined

  /** @param userAgent the one that the caller chose; without one there is no login */
  constructor(client: ApiClient, userAgent: string | undefined) {
    this.#client = client
    this.#userAgent = userAgent
  }

  /**
   * A new token for the User-Agent of this client. It is not stored, and the client continues with its own. The password is forgotten with the
   * call. It waits for a service that has refused it for now (429), and is not sent again after any other failure that came late.
   *
   * Errors: `CONFIG_INVALID` for a client that was given no `userAgent`, `HTTP_401` for a wrong password, `RESPONSE_INVALID` for an
   * answer without a token.
   */
  async login({ email, password, accountId }: LoginInput, options: OnceOptions = {}): Promise<LoginToken> {
    const userAgent = this.#userAgent
    if (userAgent === undefined) {
      const hint = 'set a userAgent that every program with this token uses'
      throw new ConfigurationError('CONFIG_INVALID', 'userAgent is missing: a token is bound to the User-Agent that creates it', { hint })
    }
    const body = { email, password, account_id: accountId }
    const answer = unwrapped(await this.#client.withoutCredential().call(LOGIN, { body }, options))
    const { token, account_id } = typeof answer === 'object' && answer !== null ? ({ ...answer } as Record<string, unknown>) : {}
    if (typeof token !== 'string' || token === '')
      throw new ProtocolError('RESPONSE_INVALID', `${this.#client.origin} answered the login without a token`, { url: this.#client.origin })
    return { token, userAgent, accountId: account_id ?? accountId }
  }

  /** Takes the token of this client back. It is asked for once, whatever happens: a second time would be about a token that is gone. */
  async revoke(options: OnceOptions = {}): Promise<void> {
    await this.#client.call(REVOKE, {}, { ...options, retry: false })
  }
}

/**
 * Takes whatever is asked for below `auth` for a login or a revocation, by whatever way it is asked for: a `GET` takes a token back there,
 * and a second one would be about a token that is gone.
 */
class OnceClient extends ApiClient {
  override send<T = unknown>(operation: Operation, input: CallInput = {}, options: CallOptions = {}): Promise<ApiResponse<T>> {
    return super.send(isAuth(operation, input) ? { ...operation, replay: 'unsafe', limits: LOGIN_LIMITS } : operation, input, options)
  }
}

/** Sends nothing but what brings its own credential. Errors: `NO_CREDENTIAL`. */
class ClientWithoutToken extends OnceClient {
  override async send<T = unknown>(operation: Operation, input?: CallInput, options: CallOptions = {}): Promise<ApiResponse<T>> {
    if (options.credential) return super.send(operation, input, options)
    const hint = 'set token or auth; auth.login() creates a token'
    throw described(new CredentialError('NO_CREDENTIAL', 'the client has no token; nothing was sent', { hint }), 0, operation.name)
  }
}

/** One of the segments is `auth`, as servers may read it. */
function isAuth({ path }: Operation, { path: values = {} }: CallInput): boolean {
  const [way = ''] = path.split('?')
  return [...way.split('/'), ...Object.values(values)].some((segment) => /^auth(?:;|$)/i.test(decoded(String(segment))))
}

/** Also what is encoded twice. */
function decoded(segment: string): string {
  return segment.replace(/%(?:25)*([0-7][\da-f])/gi, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/** The default header of tokens. */
const BEARER: AuthHeader = { name: 'Authorization', prefix: 'Bearer' }

/**
 * Returns the credential that sends a token in that header. The token is not looked at.
 *
 * Errors: `CONFIG_INVALID` for a name that no header of a secret may have, and for a word that is none.
 */
function tokenCredential(token: SecretInput, header: AuthHeader | 'x-api-token' = BEARER): ServiceCredential {
  const { name, prefix = '' } = header === 'x-api-token' ? { name: header } : header
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
 * Passes a base address that is encrypted and ends in the segment of the version. Nothing else of the options is looked at.
 *
 * Errors: `URL_INSECURE`, `CONFIG_INVALID`.
 */
export function checkVersionedBase({
  baseUrl,
  allowInsecure,
  versionSegment = 'v1',
}: Pick<TimeTrackingOptions, 'baseUrl' | 'allowInsecure' | 'versionSegment'>): void {
  const { origin, path } = baseAddress(baseUrl, allowInsecure)
  if (versionSegment === false || path.endsWith(`/${versionSegment}`)) return
  const hint = `write ${origin}${path}/${versionSegment}, or set versionSegment to the last segment, or to false to allow any`
  throw new ConfigurationError('CONFIG_INVALID', `baseUrl ${origin}${path} does not end in the version, /${versionSegment}`, { hint })
}

/**
 * How the service speaks: forms in, JSON out, three verbs, an item is changed by `POST`. Whether a change may be repeated nobody says, so
 * it is not.
 */
export const TIME_TRACKING: ServiceProfile = {
  verbs: ['GET', 'POST', 'DELETE'],
  update: 'POST',
  body: 'form',
  accept: 'application/json',
  envelope: 'auto',
  paging: { style: 'none' },
}

/** A customer. Only that the name can be changed is known. */
export interface Customer {
  readonly id?: number | bigint | string
  readonly name?: string
}

/** What may be written; a service may know further fields. */
export interface CustomerChanges {
  readonly name?: string
  readonly [field: string]: unknown
}

/**
 * An id that is a whole number, as it stands in a path: a safe integer from 0 on, or up to 20 digits as text, which lose nothing.
 *
 * Errors: `REQUEST_INVALID`.
 */
export function numericId(id: unknown): PathValue {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return id
  if ((typeof id === 'string' || typeof id === 'bigint') && /^\d{1,20}$/.test(String(id))) return id
  const hint = 'use a whole number of 0 or more, or its digits as a string if it is too large for a number'
  throw new ValidationError('REQUEST_INVALID', 'the id is not a number; nothing was sent', { field: 'id', hint })
}

/** Whole numbers are `bigint` where a `number` would not be exact. */
type Int = number | bigint

/** A project that was read. What is not there is not known; null is what the service said. */
export interface Project {
  readonly id?: Int
  readonly name?: string
  readonly description?: string | null
  readonly active?: boolean
  readonly template?: boolean
  /** 1 public, 2 private. */
  readonly privacy?: Int
  readonly customer_id?: Int | null
  readonly required_task?: boolean
  readonly billable?: boolean
  /** `project`, `user`, or what the service adds. */
  readonly bill_by?: string
  /** Decimal digits as text. Only when one project is read, like the four below. */
  readonly rate?: string | null
  /** Decimal digits as text. */
  readonly value_total?: string | null
  /** Milliseconds. */
  readonly time_total?: number | null
  readonly total_members?: Int | null
  readonly total_active_tasks?: Int | null
  readonly date_created?: Instant | null
  readonly date_changed?: Instant | null
  readonly date_updated?: Instant | null
  readonly created_by?: Int | null
  readonly deleted_by?: Int | null
  /** `active` or `archived`. */
  readonly status?: string
  readonly privacy_s?: string
  readonly customer_name?: string | number | null
  readonly is_member?: boolean
  readonly is_manager?: boolean
}

/** What may be written. Null clears; a service may know further fields. */
export interface ProjectChanges {
  readonly name?: string
  readonly description?: string | null
  readonly active?: boolean
  readonly template?: boolean
  readonly privacy?: 1 | 2
  readonly customer_id?: number | bigint | string | null
  readonly required_task?: boolean
  readonly billable?: boolean
  readonly bill_by?: string
  /** Text keeps every digit. */
  readonly rate?: string | number | null
  readonly [field: string]: unknown
}

/** A project to be made. */
export interface NewProject extends ProjectChanges {
  readonly name: string
}

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

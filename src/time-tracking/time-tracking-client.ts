/** The client of the time-tracking service. */
import type { Auth } from '../auth/auth.ts'
import type { ServiceCredential } from '../auth/credential.ts'
import type { SecretInput } from '../auth/secret.ts'
import type { ApiClient } from '../clients/api-client.ts'
import type { ApiClientOptions } from '../clients/api-client-options.ts'
import type { ApiResponse } from '../clients/api-response.ts'
import type { CallOptions } from '../clients/call-options.ts'
import { described } from '../clients/described.ts'
import { ValidationError } from '../clients/errors.ts'
import type { ClientEvents, EventName } from '../clients/events.ts'
import { numericId } from '../clients/numeric-id.ts'
import type { Method, Operation } from '../clients/operation.ts'
import { rawPath } from '../clients/raw-path.ts'
import { RestResource } from '../clients/rest-resource.ts'
import { checkVerb, type ServiceProfile } from '../clients/service-profile.ts'
import { ConfigurationError } from '../errors.ts'
import { ClientWithoutToken } from './client-without-token.ts'
import type { Customer, CustomerChanges } from './customer.ts'
import { OnceClient } from './once-client.ts'
import type { BoundToken, TimeTrackingOptions } from './options.ts'
import { TIME_TRACKING } from './profile.ts'
import { type NewProject, type Project, type ProjectChanges, projectFields } from './project.ts'
import { TimeTrackingAuth } from './time-tracking-auth.ts'
import { tokenCredential } from './token-credential.ts'
import { checkVersionedBase } from './versioned-base.ts'

/** Without a version number: a token must work after an update too. */
const USER_AGENT = 'stac-auth-time-tracking'

/** What to do about an answer of 401. */
const BINDING =
  'a token works only with the User-Agent that made it and is destroyed by any other: give the client the userAgent of the login, ' +
  'or log in again'

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
      throw new ValidationError('REQUEST_INVALID', `${JSON.stringify(path)} is no path of a collection`, { field: 'path' })
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
    throw new ConfigurationError('CONFIG_INVALID', 'give a client either auth, or token and authHeader')
  const bound = isBound(token) ? token : { token, userAgent }
  const agent = bound.userAgent
  if (agent !== undefined && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(agent))
    throw new ConfigurationError('CONFIG_INVALID', 'userAgent must be printable ASCII without blanks around it')
  if (auth !== undefined) return { ...(isEngine(auth) ? { auth } : { credential: auth }), userAgent: agent }
  return { ...(bound.token !== undefined && { credential: tokenCredential(bound.token, authHeader) }), userAgent: agent }
}

function clientOptions({ baseUrl, maxRetries = 2, profile, ...options }: TimeTrackingOptions, identity: Identity): ApiClientOptions {
  const { transport, allowInsecure, timeouts, maxRetryAfter, queueLimit, limits, hooks, parseJson } = options
  const { credential, auth, userAgent = USER_AGENT } = identity
  const own = credential && 'name' in credential && typeof credential.name === 'string' ? [credential.name] : []
  return {
    ...{ baseUrl, maxRetries, userAgent, renew: false, hints: { 401: BINDING } },
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

/**
 * The contract of a scheme type: what a strategy does, the context that it receives, and the flow of one request. A flow is an async
 * generator that yields a step, receives the response, and yields the next step. Only steps of the target's request are yielded; token and
 * signing requests go through `context.send`.
 */
import type { PrivateKey } from '../crypto/private-key.ts'
import { type AuthError, CredentialError, type ErrorCode, NetworkError } from '../errors.ts'
import type { Connection, HttpRequest, HttpResponse, Send } from '../http/message.ts'
import type { Clock } from '../net/clock.ts'
import type { AuthScheme } from '../stac/scheme.ts'
import type { ObjectLocation } from '../stac/storage.ts'
import type { Target } from '../stac/target.ts'
import type { Interaction, LogoutChoice } from './auth.ts'
import type { Credential, CredentialFields, CredentialForm } from './credential.ts'
import type { Session, SessionStore } from './session.ts'

/** One member of a canonical tuple. */
export interface IdentityMember {
  /** Field name: `tokenUrl`, `in`, `scheme`, … */
  readonly name: string
  /** Its value, compared exactly. */
  readonly value: string
  /** Pointer of the field, relative to the scheme. */
  readonly pointer: string
  /**
   * `absolute` or `relative` allowed; URLs are compared as WHATWG href without fragment, before all other members. In the tuple of a
   * credential, `below` matches every URL with that prefix.
   */
  readonly url?: 'absolute' | 'relative' | 'below'
}

/** A canonical tuple that identifies a scheme independently of its name. */
export type Identity = readonly IdentityMember[]

/** The tuples of a scheme, one per flow; a credential must equal one of them. */
export type SchemeIdentity = readonly Identity[]

/** A problem that does not stop the request. */
export interface Warning {
  /** The stable reason. */
  readonly code: ErrorCode
  /** The text for people. */
  readonly message: string
  /** JSON Pointer (RFC 6901) of what it is about in the document. */
  readonly pointer?: string
}

/** A token and its properties. `expiresAt` in epoch milliseconds. */
export interface Token {
  /** The token itself: secret. */
  readonly value: string
  /** How it is sent (RFC 6749 §7.1); `N_A`: not as an access token (RFC 8693 §2.2.1). */
  readonly tokenType: 'Bearer' | 'DPoP' | 'N_A'
  /** Epoch milliseconds; absent when unknown. */
  readonly expiresAt?: number
  /** The scopes that were granted (RFC 6749 §3.3). */
  readonly scopes?: readonly string[]
  /** The ID token received with it (OpenID Connect Core 1.0 §2), checked. */
  readonly idToken?: string
  /** The key that a `DPoP` token is bound to. */
  readonly key?: PrivateKey
}

/** The state of a credential's token, without the token. */
export interface TokenState {
  /** `none`: there is no token; `expired`: it is not sent any more. */
  readonly state: 'none' | 'valid' | 'expired'
  /** Epoch milliseconds; absent when unknown. */
  readonly expiresAt?: number
  /** The scopes that were granted (RFC 6749 §3.3). */
  readonly scopes?: readonly string[]
  /** Name of the user in a verified ID token, on one line. */
  readonly user?: string
  /** True when a new one can be obtained without user interaction. */
  readonly refreshable: boolean
  /** False when it is kept in memory only, whatever `session` is. */
  readonly persistent: boolean
}

/** A change of the token of a credential. */
export interface SessionChange {
  /** Id of the credential. */
  readonly credential: string
  /** `started`: obtained; `refreshed`; `removed`: by a logout, or because the provider refused the refresh token. */
  readonly change: 'started' | 'refreshed' | 'removed'
}

/** The credential that another one names in `with` or `subject`: its result is the other's input. */
export interface Input {
  /** Returns its token, for that URL only. Errors: `CREDENTIAL_TARGET_UNTRUSTED`, `CONFIG_INVALID`, errors of its flow. */
  token(url: string): Promise<Token>
  /** Sends a token or signing request authorized by it. */
  readonly send: Send
  /** Its scheme type. */
  readonly type: string
  /** It, read: whose secrets the result depends on. */
  readonly credential: Credential
}

/** The target of a request, with its resolved URL. */
export interface Resource {
  /** The absolute URL that is requested. */
  readonly url: string
  /** The target; absent for a URL without one. */
  readonly target?: Target
  /** Seconds: the caller requests a presigned URL that is valid for that long, where the scheme supports it. */
  readonly presign?: number
  /** The caller signs requests itself and requests the keys, where the scheme has them. */
  readonly keys?: boolean
}

/** The context that a strategy receives for one request. */
export interface AuthContext<S extends AuthScheme = AuthScheme, C extends Credential = Credential> {
  /** The scheme of the document, checked; where it names none, the one that the credential stands for. */
  readonly scheme: S
  /** The credential that was selected. */
  readonly credential: C
  /** What is requested. */
  readonly resource: Resource
  /** Values shared by all requests of this credential. */
  readonly session: Session
  /**
   * For token endpoints and signing APIs of the credential (`endpoints`) only; redirects are never followed. Ends with the caller's signal
   * unless `signal` is given: for a value that others wait for as well, pass that of `session.resolve`.
   */
  readonly send: Send
  /** The credential that this one names in `with` or `subject`. */
  readonly input?: Input
  /** `persistent`: the caller's store; `inMemory`: one for the lifetime of the engine. */
  readonly stores: { readonly persistent: SessionStore; readonly inMemory: SessionStore }
  /**
   * Opens a connection for steps whose authorization is bound to it; the caller closes it. Errors: `SCHEME_UNSUPPORTED` when
   * the transport cannot, or the request will not be sent; `CREDENTIAL_TARGET_UNTRUSTED`.
   */
  readonly connect: (url: string) => Promise<Connection>
  /** The time; use nothing else, so that tests need not wait. */
  readonly clock: Clock
  /** Returns that many random bytes, fit for keys. */
  readonly random: (bytes: number) => Uint8Array
  /** Aborted when the caller gives up. */
  readonly signal?: AbortSignal
  /** Reports a warning to the caller. */
  readonly warn: (warning: Warning) => void
  /** Reports a change of the credential's token to the caller. */
  readonly changed: (change: SessionChange['change']) => void
}

/** The context of a strategy that may use only what is already known. */
export interface PeekContext<S extends AuthScheme = AuthScheme, C extends Credential = Credential>
  extends Pick<AuthContext<S, C>, 'scheme' | 'credential' | 'resource' | 'clock'> {
  /** Values shared by all requests of this credential, to be read only. */
  readonly session: Pick<Session, 'get'>
}

/** The input of a strategy's checks before it is selected; no network. */
export interface Preparation<S extends AuthScheme = AuthScheme, C extends Credential = Credential> {
  /** The scheme of the document. */
  readonly scheme: S
  /** Pointer of the scheme. */
  readonly pointer: string
  /** The credential that matches it. */
  readonly credential: C
  /** The target to request. */
  readonly resource: Resource
}

/**
 * One scheme type. Strategies are stateless; state is kept in `context.session`.
 *
 * Method syntax is deliberate: it lets lists of strategies of different schemes type-check.
 */
export interface Strategy<S extends AuthScheme = AuthScheme, C extends Credential = Credential> {
  /** The `type` of schemes and credentials that it is for. */
  readonly type: S['type']
  /** Forms of the credentials of this type. */
  readonly forms: readonly CredentialFields[]
  /** A finished bearer token (credential `http` `bearer`) matches this type too, inside its `sendTo`. */
  readonly acceptsToken?: boolean
  /** True when the credential is a finished token; see `acceptsToken`. */
  isToken?(credential: C): boolean
  /** True when the credential answers a scheme of another type as well, inside its `sendTo`: one that names no endpoints. */
  answers?(credential: C, scheme: AuthScheme): boolean
  /** Returns the first problem of a scheme's structure, then of its names; `at` is the scheme's pointer. */
  problem?(scheme: unknown, at: string): AuthError | undefined
  /** Returns the canonical tuples of a well-formed scheme. */
  identity(scheme: S): SchemeIdentity
  /** Returns the scheme that a credential stands for: its tuple is compared with schemes of catalogs. */
  schemeOf(credential: C): S
  /** Returns the tuple of a credential, where it is more than that of its scheme. */
  identityOf?(credential: C): Identity
  /** Completes a credential on reading: defaults, rules across fields. Errors: `CONFIG_INVALID`. */
  refine?(entry: C): C
  /** Returns what a user must supply; `resource` is the target, where it is known. */
  describe(scheme: S, resource?: Resource): CredentialForm
  /** Returns why a URL, as written in the document, is unsupported for this type; runs before the general URL checks. */
  addressProblem?(href: string): AuthError | undefined
  /** True when the credential may be used for that target at that URL; default: its `sendTo` includes it. */
  covers?(credential: C, url: string, target?: Target): boolean
  /** True when the document names the service of this credential: it is preferred to others that match. */
  suits?(credential: C, target: Target): boolean
  /** True when a step with the secret may go to that URL; default: as `covers`. */
  reaches?(credential: C, url: string): boolean
  /**
   * Returns the URLs that may receive the credential's secret (token endpoint, signing API), or an origin where endpoints are discovered.
   * The result of the credential named in `with` or `subject` goes to the first. `resource` is the target, where it is known.
   */
  endpoints?(credential: C, resource?: Resource): readonly (string | Origin)[]
  /** Runs the last checks before selection (signing parameters, runtime); returns warnings, throws to reject the reference. */
  prepare?(preparation: Preparation<S, C>): readonly Warning[]
  /** Returns the authorized step when everything it needs is already known; undefined when something must be fetched. */
  peek?(request: HttpRequest, context: PeekContext<S, C>): AuthStep | undefined
  /** Returns the steps of one request. */
  authorize(request: HttpRequest, context: AuthContext<S, C>): AuthFlow
  /**
   * Returns the steps of a request without credentials to a URL with this type as its scheme (`s3:`); `entry` is a credential that
   * matches it and may know the endpoint better than the document.
   */
  open?(request: HttpRequest, resource: Resource, entry?: C): AuthFlow
  /** Returns the token itself, as input of a chained scheme. */
  token?(context: AuthContext<S, C>): Promise<Token>
  /** Returns why the user must log in first, as far as that is known locally; sends no request. */
  loginRequired?(context: AuthContext<S, C>): Promise<AuthError | undefined>
  /** Obtains a new token, interacting with the user where the credential requires it, and stores it. */
  login?(context: AuthContext<S, C>, interaction: Interaction): Promise<void>
  /** Removes the token everywhere; with `end`, also logs the user out at the provider. */
  logout?(context: AuthContext<S, C>, choice?: LogoutChoice): Promise<void>
  /** Returns the state of the token, or of temporary keys; undefined for a credential that has neither. Sends no request. */
  tokenState?(context: AuthContext<S, C>): Promise<TokenState | undefined>
}

/** Every URL of an origin, and the document there that names the endpoints. */
export interface Origin {
  readonly origin: string
  readonly publishedAt: string
}

/** A strategy that is loaded when a credential or a scheme first has its type. */
export interface LazyStrategy {
  /** The `type` of schemes and credentials that it is for. */
  readonly type: string
  /** `required`: every credential of this type has `sendTo`, so that a missing one is reported before loading. */
  readonly sendTo?: 'required'
  /** Loads the strategy; called once. */
  load(): Promise<Strategy>
}

/**
 * Loads all strategies of a list.
 *
 * @example const forms = (await loadStrategies(defaultStrategies)).flatMap(({ forms }) => forms)
 */
export async function loadStrategies(strategies: readonly (Strategy | LazyStrategy)[]): Promise<readonly Strategy[]> {
  return Promise.all(strategies.map((strategy) => ('load' in strategy ? strategy.load() : strategy)))
}

/** The keys for programs that sign object store requests themselves. */
export interface ObjectKeys {
  /** The access key ID. */
  readonly accessKeyId: string
  /** The secret access key: secret. */
  readonly secretAccessKey: string
  /** The session token of temporary keys: secret. */
  readonly sessionToken?: string
  /** ISO 8601 in UTC; absent for keys that do not expire, and when unknown. */
  readonly expiresAt?: string
}

/** `handshake` only negotiates; `authorized` carries the authorization. */
export interface AuthStep {
  /** `handshake`: its response is passed back to the flow; `authorized`: its response is the result. */
  readonly kind: 'handshake' | 'authorized'
  /** The request to send. */
  readonly request: HttpRequest
  /** Epoch milliseconds after which this request is refused; absent when unknown. */
  readonly expiresAt?: number
  /** True when the URL was replaced by a signed one: no credentials are added to redirects from it. */
  readonly replaces?: boolean
  /** For object stores: the location of the object. */
  readonly location?: ObjectLocation
  /** For object stores, when the caller requested them. */
  readonly keys?: ObjectKeys
  /** The connection that it must be sent over. */
  readonly connection?: Connection
}

/** The requests of a strategy for one target, each answered with its response. */
export type AuthFlow = AsyncGenerator<AuthStep, void, HttpResponse>

/**
 * Returns a step that only negotiates.
 *
 * @example const { status } = yield handshake(request)
 */
export const handshake = (request: HttpRequest): AuthStep => ({ kind: 'handshake', request })

/**
 * Returns the step that carries the authorization.
 *
 * @example yield authorized({ ...request, headers: { ...request.headers, 'x-ticket': ticket } }, expiresAt)
 */
export const authorized = (request: HttpRequest, expiresAt?: number): AuthStep =>
  expiresAt === undefined ? { kind: 'authorized', request } : { kind: 'authorized', request, expiresAt }

/**
 * Turns a signing function into a flow of one step.
 *
 * @example const authorize = singleStep((request) => ({ ...request, headers: { ...request.headers, 'x-ticket': 'A-17' } }))
 */
export function singleStep<Context>(sign: (request: HttpRequest, context: Context) => HttpRequest | Promise<HttpRequest>) {
  return async function* (request: HttpRequest, context: Context): AuthFlow {
    yield authorized(await sign(request, context))
  }
}

/** Above the number of steps of any scheme. */
const MAX_STEPS = 8

type SendStep = (step: AuthStep) => Promise<HttpResponse>

/** Returns the first authorized step, unsent; undefined when the server requested no authentication. */
export async function authorizedStep(flow: AuthFlow, send: SendStep): Promise<AuthStep | undefined> {
  try {
    let step = await flow.next(undefined as never)
    for (let steps = 1; !step.done && step.value.kind !== 'authorized'; steps++) {
      const response = await sent(step.value, steps, send)
      step = await flow.next(response)
      await response.discard()
    }
    return step.done ? undefined : step.value
  } finally {
    await flow.return()
  }
}

/** Returns the last response of a flow and its request; undefined when the flow sent nothing. */
export async function runFlow(flow: AuthFlow, send: SendStep): Promise<{ step: AuthStep; response: HttpResponse } | undefined> {
  let last: { step: AuthStep; response: HttpResponse } | undefined
  try {
    let next = await flow.next(undefined as never)
    for (let steps = 1; !next.done; steps++) {
      await last?.response.discard()
      const step = next.value
      last = { step, response: await sent(step, steps, send) }
      next = await flow.next(last.response)
    }
    return last
  } catch (error) {
    await last?.response.discard()
    throw error
  } finally {
    await flow.return()
  }
}

function sent(step: AuthStep, steps: number, send: SendStep): Promise<HttpResponse> {
  if (steps <= MAX_STEPS) return send(step)
  throw new CredentialError('AUTH_REJECTED', `authentication at ${originOf(step.request)} did not finish within ${MAX_STEPS} steps`, {
    url: step.request.url,
  })
}

function originOf({ url }: HttpRequest): string {
  return new URL(url).origin
}

/** Advice about a secret that a server refused. */
export const CHECK_VALUE = 'check its value and whether it has expired; stac-auth setup DOC asks for it again'

/**
 * Returns the error for a failed request to an endpoint of a credential: `AUTH_REJECTED` for 401 and 403, otherwise
 * `HTTP_<status>`, retryable for temporary failures.
 *
 * @param service name of the endpoint in messages
 * @param calls name of the requests in messages
 */
export function refusedCall(service: string, calls: string, { status, url }: HttpResponse, credential: string): AuthError {
  if (status === 401 || status === 403) {
    return new CredentialError('AUTH_REJECTED', `the ${service} refused "${credential}" with ${status}`, {
      credential,
      url,
      status,
      hint: `${calls} need a credential for ${new URL(url).origin}/: name its id in "with" of "${credential}" in the credential file, and check its value`,
    })
  }
  const fields = { credential, url, status, retryable: status >= 500 || status === 429 }
  return new NetworkError(`HTTP_${status}`, `the ${service} of "${credential}" failed with status ${status}`, fields)
}

const MAX_MARGIN = 5 * 60_000

/**
 * Returns when to replace a value that expires: a tenth of its lifetime before, at most five minutes, or earlier so that it stays valid
 * for `minValidity` milliseconds. A lifetime that is no longer than that is used up, or each use would need a new value.
 */
export function refreshTime(obtainedAt: number, expiresAt: number, minValidity: number): number {
  const lifetime = expiresAt - obtainedAt
  return expiresAt - Math.max(Math.min(MAX_MARGIN, lifetime / 10), minValidity < lifetime ? minValidity : 0)
}

/** Checks that a store can replace `text` with a text of up to `length` characters. Errors: why it cannot. */
export async function reserveIn(store: SessionStore, key: string, text: string, length: number): Promise<void> {
  if (store.reserve) await store.reserve(key, length)
  else await store.write(key, text)
}

/** Keeps a value in place of the present one; `refreshAt` as of the session. */
export async function remember<T>(session: Session, key: string, value: T, refreshAt?: number): Promise<void> {
  session.invalidate(key, session.get(key)?.value)
  await session.resolve<T>(key, async () => ({ value, ...(refreshAt !== undefined && { refreshAt }) }))
}

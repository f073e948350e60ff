/** Errors that only clients of an API throw: a status that is not a success, a request refused before it is sent, an empty retry budget. */
import { AuthError, type AuthErrorFields, ConfigurationError, type ErrorCode, isAuthError } from '../../errors.ts'
import { isObject } from '../../stac/document.ts'

/**
 * The arguments of a call are invalid; nothing was sent. Codes: `REQUEST_INVALID`, `REQUEST_TOO_LARGE`, `VERB_NOT_ALLOWED`,
 * `FORM_EMPTY_VALUE`.
 *
 * @example
 * try {
 *   await client.call(getProject, { path: { id: '' } })
 * } catch (error) {
 *   if (error instanceof ValidationError) console.error(error.field, error.message)
 * }
 */
export class ValidationError extends AuthError {
  override readonly name = 'ValidationError'
  /** Path of the argument: `query.page`, `id`. */
  readonly field?: string
  /** The number that was exceeded, in the unit of the message: bytes, items, days. */
  readonly limit?: number

  constructor(
    code: ErrorCode,
    message: string,
    { field, limit, ...fields }: AuthErrorFields & Partial<Pick<ValidationError, 'field' | 'limit'>> = {},
  ) {
    super(code, message, fields)
    if (field !== undefined) this.field = field
    if (limit !== undefined) this.limit = limit
  }
}

/** Too many requests of a service failed and were repeated; `cause` is the last failure. `RETRY_BUDGET`. */
export class RetryBudgetError extends AuthError {
  override readonly name = 'RetryBudgetError'
}

/**
 * A response whose status is not a success, without secrets. The code is `HTTP_<status>`: `HTTP_404`. The `name` is that of a more specific
 * class: `BadRequestError` (400), `AuthenticationError` (401), `PermissionError` (403), `NotFoundError` (404), `ConflictError` (409),
 * `PayloadTooLargeError` (413), `UriTooLongError` (414), `UnsupportedMediaTypeError` (415), `RateLimitError` (429, 529),
 * `QuotaExceededError` (456), `UnavailableError` (503, 504), `ServerError` (other 5xx).
 *
 * @example
 * const project = await client.call(getProject, { path: { id: 7 } }).catch((error) => {
 *   if (error instanceof HttpError && error.status === 404) return undefined
 *   throw error
 * })
 */
export class HttpError extends AuthError {
  override readonly name: string
  /** Status of the response. */
  declare readonly status: number
  /** The service's own code from the body, such as `invalid_content_type`. */
  readonly serviceCode?: string
  /** The service's explanation from the body. */
  readonly detail?: string
  /** Identifier of the request for the support of the service, from its headers (`X-Trace-ID`, `X-Request-ID`). */
  readonly traceId?: string
  /** Delay in milliseconds that the server requests (`Retry-After`, RFC 9110 §10.2.3). */
  readonly retryAfterMs?: number
  /** Headers of the response: values of harmless ones, of all others the names alone. */
  readonly headers?: Readonly<Record<string, string>>
  /** The parsed body. */
  readonly body?: unknown
  /** The first 2 KiB of the body. */
  readonly bodyText?: string

  constructor(message: string, { headers, body, bodyText, serviceCode, detail, traceId, retryAfterMs, ...fields }: HttpFields) {
    super(`HTTP_${fields.status}`, message, fields)
    this.name = NAMES[fields.status] ?? (fields.status >= 500 && fields.status < 600 ? 'ServerError' : 'HttpError')
    const own = { serviceCode, detail, traceId, retryAfterMs, headers, body, bodyText }
    for (const [name, value] of Object.entries(own)) if (value !== undefined) annotate(this, { [name]: value })
  }
}

/** The fields of an `HttpError`, redacted. */
export type HttpFields = AuthErrorFields &
  Pick<HttpError, 'status' | 'serviceCode' | 'detail' | 'traceId' | 'retryAfterMs' | 'headers' | 'body' | 'bodyText'>

/** The name of an `HttpError` by its status. */
const NAMES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionError',
  404: 'NotFoundError',
  409: 'ConflictError',
  413: 'PayloadTooLargeError',
  414: 'UriTooLongError',
  415: 'UnsupportedMediaTypeError',
  429: 'RateLimitError',
  456: 'QuotaExceededError',
  503: 'UnavailableError',
  504: 'UnavailableError',
  529: 'RateLimitError',
}

/** Returns true for a response with that status. */
export function hasStatus(error: unknown, status: number): error is HttpError {
  return error instanceof HttpError && error.status === status
}

/** True for a response that asks for fewer requests. */
export function isRefusal(error: unknown): error is HttpError {
  return hasStatus(error, 429) || hasStatus(error, 503) || hasStatus(error, 529)
}

/**
 * The status 403: the credential is not allowed to do this. Code `HTTP_403`.
 *
 * @example if (error instanceof PermissionError) console.error('missing scopes:', error.missingScopes)
 */
export class PermissionError extends HttpError {
  /** Scopes that the server names as missing; empty when it names none. */
  readonly missingScopes: readonly string[] = scopesIn(this.detail)
}

function scopesIn(detail = ''): readonly string[] {
  const named = /missing required scopes?(?:\(s\))?:\s*([\w:.,\s-]+)/i.exec(detail)?.[1] ?? ''
  return named.split(',').flatMap((scope) => scope.trim() || [])
}

/**
 * The status 429 or 529: too many requests, after all retries. Code `HTTP_429` or `HTTP_529`.
 *
 * @example if (error instanceof RateLimitError) console.error('try again in', error.retryAfterMs, 'ms')
 */
export class RateLimitError extends HttpError {
  /** True for 529: the service is overloaded by all its users together. */
  readonly overloaded: boolean = this.status === 529
}

/** Adds fields to an error where possible: a frozen error, or a field that cannot be redefined, stays unchanged. */
export function annotate(error: object, fields: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(fields)) Reflect.defineProperty(error, name, { value, enumerable: true, configurable: true })
}

/**
 * Returns the error of a call with the number of requests that were sent and the name of its operation. An error that is not an `AuthError`
 * is not attached. A `TypeError` here is about an argument, because errors of callers' functions are caught where these are called.
 */
export function described(error: unknown, attempts: number, operation: string): unknown {
  if (!isAuthError(error)) return error instanceof TypeError ? error : described(foreign(error, operation), attempts, operation)
  if (!Object.isExtensible(error) || 'operation' in error)
    return error
    // Shows the stack of the caller instead of that of the socket that failed.
  ;(Error as { captureStackTrace?(target: object, until: unknown): void }).captureStackTrace?.(error, described)
  annotate(error, { attempts, operation })
  return error
}

/**
 * Returns what a function or stream of the caller threw as an `AuthError`: unchanged if it is one, else `CONFIG_INVALID`. The original is not
 * attached, because its message may contain secrets.
 *
 * @param operation for which it was used
 */
export function foreign(error: unknown, operation: string): AuthError {
  if (isAuthError(error)) return error
  return new ConfigurationError('CONFIG_INVALID', `${operation}: a function or stream of the caller failed; its error is not shown`)
}

/** Checks the options of a constructor. Errors: `TypeError` if they are not an object. */
export function requireOptions(options: unknown, name: string): void {
  if (!isObject(options)) throw new TypeError(`new ${name}(options): options must be an object`)
}

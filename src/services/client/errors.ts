/** What only clients of an API raise: a status that is no success, a request refused before it is sent, an empty retry budget. */
import { AuthError, type AuthErrorFields, ConfigurationError, type ErrorCode, isAuthError } from '../../errors.ts'

/** What was refused before anything was sent. */
interface ValidationFields extends AuthErrorFields {
  /** Path of the argument: `query.page`, `id`. */
  readonly field?: string
  readonly limit?: number
}

/** The arguments of a call cannot become a request; nothing was sent. `REQUEST_INVALID`, `REQUEST_TOO_LARGE`, `VERB_NOT_ALLOWED`, `FORM_EMPTY_VALUE`. */
export class ValidationError extends AuthError {
  override readonly name = 'ValidationError'
  readonly field?: string
  readonly limit?: number

  constructor(code: ErrorCode, message: string, { field, limit, ...fields }: ValidationFields = {}) {
    super(code, message, fields)
    if (field !== undefined) this.field = field
    if (limit !== undefined) this.limit = limit
  }
}

/** Too many requests of a service failed and were repeated; `cause` is the last failure. `RETRY_BUDGET`. */
export class RetryBudgetError extends AuthError {
  override readonly name = 'RetryBudgetError'
}

/** What a server said with a status that is no success, redacted. */
export interface HttpFields extends AuthErrorFields {
  readonly status: number
  /** The server's own code, such as `invalid_content_type`. */
  readonly serviceCode?: string
  readonly detail?: string
  readonly traceId?: string
  /** Milliseconds of the server's `Retry-After`. */
  readonly retryAfterMs?: number
  /** Values of harmless headers; of all others the names alone. */
  readonly responseHeaders?: Readonly<Record<string, string>>
  /** The parsed body. */
  readonly body?: unknown
  /** The first 2 KiB of the body. */
  readonly bodyText?: string
}

/** Any status that is no success. `HTTP_<status>`. */
export class HttpError extends AuthError {
  override readonly name: string = 'HttpError'
  declare readonly status: number
  readonly serviceCode?: string
  readonly detail?: string
  readonly traceId?: string
  readonly retryAfterMs?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly bodyText?: string

  constructor(message: string, { serviceCode, detail, traceId, retryAfterMs, responseHeaders, body, bodyText, ...fields }: HttpFields) {
    super(`HTTP_${fields.status}`, message, fields)
    const own = { serviceCode, detail, traceId, retryAfterMs, headers: responseHeaders, body, bodyText }
    for (const [name, value] of Object.entries(own)) {
      if (value !== undefined) Object.defineProperty(this, name, { value, enumerable: true })
    }
  }
}

/** 400: a parameter is wrong. */
export class BadRequestError extends HttpError {
  override readonly name = 'BadRequestError'
}

/** 401: no credential, or not a valid one. */
export class AuthenticationError extends HttpError {
  override readonly name = 'AuthenticationError'
}

/** 403: the credential may not do this. */
export class PermissionError extends HttpError {
  override readonly name = 'PermissionError'
  /** Scopes that the server names as missing; empty when it names none. */
  readonly missingScopes: readonly string[]

  constructor(message: string, fields: HttpFields) {
    super(message, fields)
    const named = /missing required scopes?(?:\(s\))?:\s*([\w:.,\s-]+)/i.exec(fields.detail ?? '')?.[1] ?? ''
    this.missingScopes = named.split(',').flatMap((scope) => scope.trim() || [])
  }
}

/** 404: there is no such thing. */
export class NotFoundError extends HttpError {
  override readonly name = 'NotFoundError'
}

/** 409: it is in another state. */
export class ConflictError extends HttpError {
  override readonly name = 'ConflictError'
}

/** 413: the request is too large. */
export class PayloadTooLargeError extends HttpError {
  override readonly name = 'PayloadTooLargeError'
}

/** 414: the address is too long. */
export class UriTooLongError extends HttpError {
  override readonly name = 'UriTooLongError'
}

/** 415: the server does not read this kind of body. */
export class UnsupportedMediaTypeError extends HttpError {
  override readonly name = 'UnsupportedMediaTypeError'
}

/** 429 and 529: too many requests. */
export class RateLimitError extends HttpError {
  override readonly name = 'RateLimitError'
  /** True for 529: too many requests of everybody. */
  readonly overloaded: boolean

  constructor(message: string, fields: HttpFields) {
    super(message, fields)
    this.overloaded = fields.status === 529
  }
}

/** 456: what was paid for is used up. */
export class QuotaExceededError extends HttpError {
  override readonly name = 'QuotaExceededError'
}

/** 5xx: the server failed. */
export class ServerError extends HttpError {
  override readonly name: string = 'ServerError'
}

/** 503 and 504: the service is away for now. */
export class UnavailableError extends ServerError {
  override readonly name = 'UnavailableError'
}

/** Says more about an error, where that is possible: one that is frozen, or is sealed in what it says, stays as it is. */
export function annotate(error: object, fields: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(fields)) Reflect.defineProperty(error, name, { value, enumerable: true, configurable: true })
}

/**
 * The error of a call, with the number of requests that were sent for it and the name of its operation. A foreign one is not attached; a
 * `TypeError` is ours, about an argument, because those of callers' functions are caught where they are called.
 */
export function described(error: unknown, attempts: number, operation: string): unknown {
  if (!isAuthError(error)) return error instanceof TypeError ? error : foreign(error, operation)
  if (!Object.isExtensible(error) || 'operation' in error)
    return error
    // The frames of whoever waits for the call, instead of those of the socket that failed.
  ;(Error as { captureStackTrace?(target: object, until: unknown): void }).captureStackTrace?.(error, described)
  annotate(error, { attempts, operation })
  return error
}

/**
 * What a function of the caller threw, as an error of the family: its own, else `CONFIG_INVALID`. A foreign one is not attached: what it
 * says may hold anything.
 *
 * @param operation for which the function was called
 */
export function foreign(error: unknown, operation: string): AuthError {
  if (isAuthError(error)) return error
  return new ConfigurationError('CONFIG_INVALID', `${operation}: a callback of the client failed; the error that it threw is not shown`)
}

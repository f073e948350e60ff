/**
 * The error classes of the library.
 *
 * A class names the stage that failed, a code the reason. Callers branch on `code`.
 */

import type { ErrorCode } from './error-codes.ts'

export type { ErrorCode } from './error-codes.ts'

/** Details of an error besides its code and message. They never contain a secret. */
export interface AuthErrorFields {
  /** Advice: a command to run or a credential to add. */
  readonly hint?: string
  /** JSON Pointer (RFC 6901) into the document that caused the error. */
  readonly pointer?: string
  /** URL concerned; its query, fragment and user information are removed. */
  readonly url?: string
  /** Index of the redirect hop; 0 is the first request. */
  readonly hop?: number
  /** HTTP status of the response concerned. */
  readonly status?: number
  /** Name in `auth:refs`. */
  readonly ref?: string
  /** Id of the credential. */
  readonly credential?: string
  /** The expected value. */
  readonly expected?: string
  /** The actual value. */
  readonly actual?: string
  /** Why each alternative was rejected. */
  readonly reasons?: readonly AuthError[]
  /** True when the same call may succeed later. */
  readonly retryable?: boolean
  /** The error that led to this one; never printed. */
  readonly cause?: unknown
}

const BRAND = Symbol.for('stac-auth.error')

const FIELDS = ['hint', 'pointer', 'url', 'hop', 'status', 'ref', 'credential', 'expected', 'actual'] as const

/** The base class of all errors that the library throws. Recognize it with {@link isAuthError}. */
export class AuthError extends Error {
  /** Name of the class, which names the stage that failed. Branch on `code` instead. */
  override readonly name: string = 'AuthError'
  /** The stable reason; docs/errors.md lists all codes. */
  readonly code: ErrorCode
  /** Advice: a command to run or a credential to add. */
  declare readonly hint?: string
  /** JSON Pointer (RFC 6901) into the document that caused the error. */
  declare readonly pointer?: string
  /** URL concerned, without query, fragment and user information. */
  declare readonly url?: string
  /** Index of the redirect hop; 0 is the first request. */
  declare readonly hop?: number
  /** HTTP status of the response concerned. */
  declare readonly status?: number
  /** Name in `auth:refs`. */
  declare readonly ref?: string
  /** Id of the credential. */
  declare readonly credential?: string
  /** The expected value. */
  declare readonly expected?: string
  /** The actual value. */
  declare readonly actual?: string
  /** Why each alternative was rejected. */
  declare readonly reasons?: readonly AuthError[]
  /** True when the same call may succeed later. */
  readonly retryable: boolean
  /** Errors of API clients: number of requests sent for the call. */
  declare readonly attempts?: number
  /** Errors of API clients: name of the operation. */
  declare readonly operation?: string
  /** Network errors of API clients: whether the request may have reached the server. */
  declare readonly sent?: boolean

  constructor(code: ErrorCode, message: string, fields: AuthErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = code
    const { url, reasons, retryable = false } = fields
    for (const name of FIELDS) {
      const value = name === 'url' && url ? bareUrl(url) : fields[name]
      if (value !== undefined) Object.assign(this, { [name]: value })
    }
    if (reasons?.length) this.reasons = reasons
    this.retryable = retryable
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** Returns the fields in a stable order, without stack and cause. */
  toJSON(): Record<string, unknown> {
    const { code, message, hint, pointer, url, reasons } = this
    const texts = reasons?.map((reason) => reason.toJSON())
    const all = Object.assign({ code, message, hint, pointer, url, reasons }, this, { name: undefined, reasons: texts })
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  }
}

/** A configuration or an argument is invalid. */
export class ConfigurationError extends AuthError {
  override readonly name = 'ConfigurationError'
}
/** No reference of the target can be used. Nothing was sent. */
export class SelectionError extends AuthError {
  override readonly name = 'SelectionError'
}
/** A credential's value, source or login failed, or the server refused it. */
export class CredentialError extends AuthError {
  override readonly name = 'CredentialError'
}
/** A URL, an IP address or a redirect was refused while sending. */
export class TrustError extends AuthError {
  override readonly name = 'TrustError'
}
/** A challenge cannot be answered. */
export class ChallengeError extends AuthError {
  override readonly name = 'ChallengeError'
}
/** A response violates its protocol. */
export class ProtocolError extends AuthError {
  override readonly name = 'ProtocolError'
}
/** A network request failed. */
export class NetworkError extends AuthError {
  override readonly name: string = 'NetworkError'
}
/** A network request exceeded its timeout. */
export class TimeoutError extends NetworkError {
  override readonly name = 'TimeoutError'
}
/** A file or a document is invalid, inaccessible or does not match its checksum. */
export class IntegrityError extends AuthError {
  override readonly name = 'IntegrityError'
}
/** The runtime, the platform or this version does not support the operation. */
export class UnsupportedError extends AuthError {
  override readonly name = 'UnsupportedError'
}
/** The caller aborted the call. `cause` is the reason of the signal; `name` is `AbortError`, as in `fetch`. */
export class AbortedError extends AuthError {
  override readonly name = 'AbortError'
  constructor(reason: unknown) {
    super('ABORTED', 'the call was aborted by its caller', { cause: reason })
  }
}

/**
 * Returns true for every {@link AuthError}, including one created by another copy of the package.
 *
 * @example
 * try {
 *   await auth.fetch(assetOf(item, 'B04'))
 * } catch (error) {
 *   if (!isAuthError(error)) throw error
 *   console.error(error.code, error.message, error.hint)
 * }
 */
export function isAuthError(value: unknown): value is AuthError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true
}

/** Returns the signal's reason when it is an {@link AuthError}, else an `ABORTED` error. */
export function abortedBy({ reason }: AbortSignal): AuthError {
  return isAuthError(reason) ? reason : new AbortedError(reason)
}

/** Removes query, fragment and user information, which may contain secrets. */
function bareUrl(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')
}

/**
 * Every error that leaves the library, and every stable code.
 *
 * Families name the stage at which something failed, codes name the reason. Callers branch on `code`.
 */

import type { ErrorCode } from './error-codes.ts'

export type { ErrorCode } from './error-codes.ts'

/** What can be said about a failure besides its code and message. Nothing in here is ever a secret. */
export interface AuthErrorFields {
  /** What to do next: a command to type or an entry to paste. */
  readonly hint?: string
  /** RFC 6901 pointer into the document that caused it. */
  readonly pointer?: string
  /** Address concerned; query, fragment and user info are removed on construction. */
  readonly url?: string
  /** Number of the network hop, 0 is the first request. */
  readonly hop?: number
  /** HTTP status of the answer concerned. */
  readonly status?: number
  /** Name in `auth:refs`. */
  readonly ref?: string
  /** Id of the user's credential entry. */
  readonly credential?: string
  /** Value that would have been accepted. */
  readonly expected?: string
  /** Value that was found. */
  readonly actual?: string
  /** Why each alternative was left out. */
  readonly reasons?: readonly AuthError[]
  /** True when the same call may succeed later. */
  readonly retryable?: boolean
  readonly cause?: unknown
}

const BRAND = Symbol.for('stac-auth.error')

const FIELDS = ['hint', 'pointer', 'url', 'hop', 'status', 'ref', 'credential', 'expected', 'actual'] as const

/** The only error type that leaves the library. Recognise it with {@link isAuthError}. */
export class AuthError extends Error {
  override readonly name: string = 'AuthError'
  readonly code: ErrorCode
  readonly hint?: string
  readonly pointer?: string
  readonly url?: string
  readonly hop?: number
  readonly status?: number
  readonly ref?: string
  readonly credential?: string
  readonly expected?: string
  readonly actual?: string
  readonly reasons?: readonly AuthError[]
  readonly retryable: boolean
  /** Errors of clients of an API: requests that were sent for the call. */
  declare readonly attempts?: number
  /** Errors of clients of an API: name of the operation. */
  declare readonly operation?: string
  /** Failures of the network under such clients: whether the request may have arrived. */
  declare readonly sent?: boolean

  constructor(code: ErrorCode, message: string, fields: AuthErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = code
    const { url, reasons, retryable = false } = fields
    for (const name of FIELDS) {
      const value = name === 'url' && url !== undefined ? bareUrl(url) : fields[name]
      if (value !== undefined) Object.assign(this, { [name]: value })
    }
    if (reasons?.length) this.reasons = reasons
    this.retryable = retryable
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** The fields in the order in which programs read them; no stack, no cause. */
  toJSON(): Record<string, unknown> {
    const { code, message, hint, pointer, url, reasons } = this
    const texts = reasons?.map((reason) => reason.toJSON())
    const all = Object.assign({ code, message, hint, pointer, url, reasons }, this, { name: undefined, reasons: texts })
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  }
}

/** Something is wrong in what the user configured or passed in. */
export class ConfigurationError extends AuthError {
  override readonly name = 'ConfigurationError'
}
/** No reference of the target can be used; nothing was sent. */
export class SelectionError extends AuthError {
  override readonly name = 'SelectionError'
}
/** A credential's value, source or login failed, or the server refused it. */
export class CredentialError extends AuthError {
  override readonly name = 'CredentialError'
}
/** An address or redirect was refused on the wire. */
export class TrustError extends AuthError {
  override readonly name = 'TrustError'
}
/** A challenge cannot be answered. */
export class ChallengeError extends AuthError {
  override readonly name = 'ChallengeError'
}
/** A server answered in a way its protocol does not allow. */
export class ProtocolError extends AuthError {
  override readonly name = 'ProtocolError'
}
/** The network failed. */
export class NetworkError extends AuthError {
  override readonly name: string = 'NetworkError'
}
/** The network was too slow. */
export class TimeoutError extends NetworkError {
  override readonly name = 'TimeoutError'
}
/** A file or a document is not what it must be. */
export class IntegrityError extends AuthError {
  override readonly name = 'IntegrityError'
}
/** This runtime or this version cannot do it. */
export class UnsupportedError extends AuthError {
  override readonly name = 'UnsupportedError'
}
/** The caller aborted; `cause` is the signal's reason and `name` is that of fetch. */
export class AbortedError extends AuthError {
  override readonly name = 'AbortError'
  constructor(reason: unknown) {
    super('ABORTED', 'the call was aborted by its caller', { cause: reason })
  }
}

/** True for every {@link AuthError}, also for one made by another copy of the package. */
export function isAuthError(value: unknown): value is AuthError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true
}

/** What ended a wait: the signal's reason when that is ours, else `ABORTED`. */
export function abortedBy({ reason }: AbortSignal): AuthError {
  return isAuthError(reason) ? reason : new AbortedError(reason)
}

/** Origin and path only: queries carry signatures and keys. */
function bareUrl(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')
}

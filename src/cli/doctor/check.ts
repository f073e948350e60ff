/** The result of one check of `doctor`. */
import { type AuthError, type ErrorCode, isAuthError } from '../../errors.ts'
import { adviceFor } from '../exit-code.ts'

export interface Check {
  /** Name of the check, with the id of a credential or an origin: `secret portal.token`. */
  readonly check: string
  /** `error`: commands that need it fail; `warning`: they work, but perhaps not as expected. */
  readonly level: 'ok' | 'warning' | 'error'
  /** The result of the check. */
  readonly message: string
  /** Error code; absent for a check that passes. */
  readonly code?: ErrorCode
  /** The next step. */
  readonly hint?: string
}

export function ok(check: string, message: string): Check {
  return { check, level: 'ok', message }
}

/** Returns a warning: the command works, but perhaps not as expected. */
export function warning(check: string, code: ErrorCode, message: string, hint: string): Check {
  return { check, level: 'warning', code, message, hint }
}

export function problem(check: string, code: ErrorCode, message: string, hint: string): Check {
  return { check, level: 'error', code, message, hint }
}

/** Returns the failed check of an error, with the advice for its code if nothing better is known. Other errors are thrown. */
export function failed(check: string, error: unknown, hint?: string): Check {
  if (!isAuthError(error)) throw error
  const { code, message }: AuthError = error
  const advice = error.hint ?? hint ?? adviceFor(code)
  return { check, level: 'error', code, message, ...(advice !== undefined && { hint: advice }) }
}

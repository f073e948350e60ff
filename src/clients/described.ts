import { isAuthError } from '../errors.ts'
import { annotate } from './annotate.ts'
import { foreign } from './foreign.ts'

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

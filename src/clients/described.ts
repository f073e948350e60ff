import { ConfigurationError, isAuthError } from '../errors.ts'

/**
 * The error of a call, with the number of requests that were sent for it and the name of its operation. A foreign one is not attached:
 * what it says may hold anything.
 */
export function described(error: unknown, attempts: number, operation: string): unknown {
  if (!isAuthError(error)) return error instanceof TypeError ? error : unexpected(operation)
  if (!Object.isExtensible(error) || 'operation' in error)
    return error
    // The frames of whoever waits for the call, instead of those of the socket that failed.
  ;(Error as { captureStackTrace?(target: object, until: unknown): void }).captureStackTrace?.(error, described)
  return Object.defineProperties(error, {
    attempts: { value: attempts, enumerable: true },
    operation: { value: operation, enumerable: true },
  })
}

function unexpected(operation: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `${operation}: a function that the client was given failed; what it threw is not shown`)
}

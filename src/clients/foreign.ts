import { type AuthError, ConfigurationError, isAuthError } from '../errors.ts'

/**
 * What a function of the caller threw, as an error of the family: its own, else `CONFIG_INVALID`. A foreign one is not attached: what it
 * says may hold anything.
 *
 * @param operation for which the function was called
 */
export function foreign(error: unknown, operation: string): AuthError {
  if (isAuthError(error)) return error
  return new ConfigurationError('CONFIG_INVALID', `${operation}: a function that the client was given failed; what it threw is not shown`)
}

/** How often something is tried again, and when. */
import type { AuthError } from '../errors.ts'

/** What servers say about when to come back, in milliseconds; not a part of errors that leave the library. */
const RETRY_AFTER = new WeakMap<AuthError, number>()

/** The error, with the milliseconds after which its server wants to be asked again. */
export function withRetryAfter<E extends AuthError>(error: E, milliseconds: number | undefined): E {
  if (milliseconds !== undefined) RETRY_AFTER.set(error, milliseconds)
  return error
}

/** The milliseconds that {@link withRetryAfter} was given. */
export function retryAfterOf(error: AuthError): number | undefined {
  return RETRY_AFTER.get(error)
}

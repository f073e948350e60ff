import type { CallOptions } from './call-options.ts'
import { ValidationError } from './errors.ts'
import type { PreparedOperation } from './operation.ts'
import type { Timeouts } from './settings.ts'

/** Milliseconds for one attempt: what the call says, else the operation, else the client; a stream takes as long as it takes. */
export function attemptTimeout(
  { operation, responseKind }: PreparedOperation,
  { timeout }: CallOptions,
  timeouts: Required<Timeouts>,
): number {
  const usual = responseKind === 'stream' ? Number.POSITIVE_INFINITY : timeouts.attempt
  return timeout ?? operation.timeout ?? usual
}

/**
 * Epoch milliseconds at which the call ends; Infinity for never. Errors: `REQUEST_INVALID` for a time that is none, which would end
 * nothing.
 */
export function deadlineOf({ timeout = 0, totalTimeout, deadline }: CallOptions, timeouts: Required<Timeouts>, now: number): number {
  const total = totalTimeout ?? timeouts.total
  const ends = { timeout, totalTimeout: total === false ? Number.POSITIVE_INFINITY : now + total, deadline: deadline?.getTime() ?? now }
  for (const [field, end] of Object.entries(ends)) if (Number.isNaN(end)) throw noTime(field)
  return deadline ? Math.min(ends.totalTimeout, ends.deadline) : ends.totalTimeout
}

function noTime(field: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `${field} is no time; nothing was sent`, { field })
}

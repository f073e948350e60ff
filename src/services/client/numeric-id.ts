import { ValidationError } from './errors.ts'
import type { PathValue } from './request-builder.ts'

/**
 * An id that is a whole number, as it stands in a path: a safe integer from 0 on, or up to 20 digits as text, which lose nothing.
 *
 * Errors: `REQUEST_INVALID`.
 */
export function numericId(id: unknown): PathValue {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return id
  if ((typeof id === 'string' || typeof id === 'bigint') && /^\d{1,20}$/.test(String(id))) return id
  const hint = 'use a whole number of 0 or more, or its digits as a string if it is too large for a number'
  throw new ValidationError('REQUEST_INVALID', 'the id is not a number; nothing was sent', { field: 'id', hint })
}

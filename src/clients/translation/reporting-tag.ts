import { ValidationError } from '../errors.ts'

/** A tag for reports of use, without outer blanks. Errors: `REQUEST_INVALID` for what the service refuses. */
export function reportingTag(tag: string): string {
  const trimmed = tag.trim()
  if (/^[\x21-\x7e]{1,100}$/.test(trimmed)) return trimmed
  const message = 'a reporting tag has 1 to 100 characters of ASCII and no blanks; nothing was sent'
  throw new ValidationError('REQUEST_INVALID', message, { field: 'reportingTag', limit: 100 })
}

import { ValidationError } from '../errors.ts'

/** Errors: `REQUEST_TOO_LARGE` for a text of more than so many characters (code points); `TypeError` for what is no text. */
export function checkTextLength(text: string, field: string, limit: number): void {
  if (typeof text !== 'string') throw new TypeError(`${field} is a text`)
  if (text.length <= limit || (text.length <= limit * 2 && [...text].length <= limit)) return
  throw new ValidationError('REQUEST_TOO_LARGE', `${field} has more than ${limit} characters; nothing was sent`, { field, limit })
}

/** Errors: `REQUEST_TOO_LARGE` for a list of more than so many; `REQUEST_INVALID` for an empty one unless it may be; `TypeError`. */
export function checkCount(
  list: readonly unknown[],
  field: string,
  { least = 1, most }: { readonly least?: number; readonly most: number },
): void {
  if (!Array.isArray(list)) throw new TypeError(`${field} is a list`)
  if (list.length < least) throw new ValidationError('REQUEST_INVALID', `${field} needs ${least} at least; nothing was sent`, { field })
  if (list.length <= most) return
  const message = `${field} has ${list.length}, at most ${most} can be sent at once; nothing was sent`
  throw new ValidationError('REQUEST_TOO_LARGE', message, { field, limit: most })
}

import { utf8Length } from '../../text/utf8-length.ts'
import { ValidationError } from '../errors.ts'

/** Bytes of a term or of the name of a glossary, in UTF-8. */
const LONGEST_TERM = 1024

/** Controls (C0, DEL, C1) and the line ends of Unicode. */
const UNFIT = /[\0-\x1f\x7f-\x9f\u2028\u2029]/

/** Checks one term. Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE` with the place, never with the term. */
export function checkTerm(term: unknown, at: string): asserts term is string {
  if (typeof term !== 'string') throw new TypeError(`${at} is no text`)
  if (term === '') throw refused(at, 'is empty')
  if (UNFIT.test(term)) throw refused(at, 'has a control character or a line end in it')
  if (term.trim() !== term) throw refused(at, 'begins or ends with a blank')
  if (!term.isWellFormed()) throw refused(at, 'has half of a surrogate pair in it')
  checkTermSize(term, at, 'entries')
}

/** Errors: `REQUEST_TOO_LARGE` for more bytes than a term or a name may have. */
export function checkTermSize(term: string, at: string, field: string): void {
  // No character has more than three bytes a unit.
  if (term.length * 3 <= LONGEST_TERM || utf8Length(term) <= LONGEST_TERM) return
  const message = `${at} has more than ${LONGEST_TERM} bytes in UTF-8`
  throw new ValidationError('REQUEST_TOO_LARGE', message, { field, limit: LONGEST_TERM })
}

function refused(at: string, why: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `${at} ${why}`, { field: 'entries' })
}

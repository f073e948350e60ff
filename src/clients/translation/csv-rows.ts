import { ValidationError } from '../errors.ts'

/** A field in quotes or not, and what ends it (RFC 4180 §2). */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y

/**
 * The rows of comma-separated text (RFC 4180); lines end with CRLF or LF, the last one may.
 *
 * Errors: `REQUEST_INVALID` with the number of the row for quotes that do not match or stand inside a field without quotes.
 */
export function csvRows(text: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  FIELD.lastIndex = 0
  while (FIELD.lastIndex < text.length) {
    const match = FIELD.exec(text)
    if (!match) throw broken(rows.length + 1)
    const [, quoted, plain = '', end] = match
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') {
      if (FIELD.lastIndex < text.length) continue
      row.push('')
    }
    rows.push(row)
    row = []
  }
  return rows
}

/** A field that a reader of comma-separated text gives back as it is. */
export function csvField(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

function broken(row: number): ValidationError {
  const hint = 'put the whole field into quotes and write each quote inside of it twice'
  return new ValidationError('REQUEST_INVALID', `row ${row} is no CSV: a quote is in the wrong place`, { field: 'entries', hint })
}

import { ValidationError } from '../errors.ts'

/** A field without quotes, and what ends a field (RFC 4180 §2). */
const PLAIN = /[^",\r\n]*/y
const END = /,|\r?\n|$/y

/**
 * The rows of comma-separated text (RFC 4180); lines end with CRLF or LF, the last one may.
 *
 * Errors: `REQUEST_INVALID` with the number of the row for quotes that do not match or stand inside a field without quotes.
 */
export function csvRows(text: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const field = fieldAt(text, at)
    const end = field && matchAt(END, text, field.end)
    if (!field || end === undefined) throw broken(rows.length + 1)
    row.push(field.value)
    at = field.end + end.length
    if (end === ',') {
      if (at < text.length) continue
      row.push('')
    }
    rows.push(row)
    row = []
  }
  return rows
}

/** Undefined for a quote that is not closed. A search, because fields may be longer than a pattern with repeated choices can follow. */
function fieldAt(text: string, at: number): { readonly value: string; readonly end: number } | undefined {
  if (text[at] !== '"') {
    const value = matchAt(PLAIN, text, at) ?? ''
    return { value, end: at + value.length }
  }
  let close = text.indexOf('"', at + 1)
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  return close < 0 ? undefined : { value: text.slice(at + 1, close).replaceAll('""', '"'), end: close + 1 }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** A field that a reader of comma-separated text gives back as it is. */
export function csvField(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

function broken(row: number): ValidationError {
  const hint = 'put the whole field into quotes and write each quote inside of it twice'
  return new ValidationError('REQUEST_INVALID', `row ${row} is no CSV: a quote is in the wrong place`, { field: 'entries', hint })
}

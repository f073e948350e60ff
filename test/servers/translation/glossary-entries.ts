import { refuseEntries } from './refuse-entries.ts'

/** Terms in the order in which they were given. */
export type Entries = ReadonlyMap<string, string>

const LARGEST = 10_485_760
const LONGEST_TERM = 1024
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
const EDGE = /^\s|\s$/u

/** Reads tab- or comma-separated terms of one pair of languages; 400 for what breaks a rule of terms. */
export function readEntries(text: string, format: string, source: string, target: string): Entries {
  if (Buffer.byteLength(text) > LARGEST) refuseEntries('The glossary is larger than 10 MiB.')
  const rows = format === 'csv' ? csvRows(text) : tsvRows(text)
  const entries = new Map<string, string>()
  for (const [index, row] of rows.entries()) {
    const [from, to, ...languages] = row
    if (languages.length !== 0 && (format !== 'csv' || languages.length !== 2))
      refuseEntries(`Line ${index + 1} has ${row.length} columns.`)
    if (languages.length === 2 && (languages[0]?.toLowerCase() !== source || languages[1]?.toLowerCase() !== target)) continue
    if (from === undefined || to === undefined) return refuseEntries(`Line ${index + 1} has one column.`)
    checkTerm(from, index)
    checkTerm(to, index)
    if (entries.has(from)) refuseEntries(`Duplicate source term in line ${index + 1}.`)
    entries.set(from, to)
  }
  if (entries.size === 0) refuseEntries('No entries.')
  return entries
}

/** Tab-separated, one term a line. */
export function writeTsv(entries: Entries): string {
  return [...entries].map(([source, target]) => `${source}\t${target}`).join('\n')
}

function checkTerm(term: string, index: number): void {
  const wrong = (what: string) => refuseEntries(`A term in line ${index + 1} ${what}.`)
  if (term === '') wrong('is empty')
  if (UNFIT.test(term)) wrong('has a control character')
  if (EDGE.test(term)) wrong('begins or ends with a blank')
  if (Buffer.byteLength(term) > LONGEST_TERM) wrong('is longer than 1024 bytes')
}

function tsvRows(text: string): readonly (readonly string[])[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => line.split('\t'))
}

/** RFC 4180. */
function csvRows(text: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y
  while (field.lastIndex < text.length) {
    const match = field.exec(text) ?? refuseEntries('The text is no CSV.')
    row.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'))
    if (match[3] === ',') {
      if (field.lastIndex === text.length) row.push('')
      else continue
    }
    rows.push(row)
    row = []
  }
  return rows
}

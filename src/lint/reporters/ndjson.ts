import type { LineReporter, Report } from './report.ts'
import { escapeJson } from './report.ts'

/** A report for programs that read line by line: a finding on each line, then `{"version":1,"summary":…}`. */
export function ndjson({ problems, ...rest }: Report): string {
  return [...problems.map(ndjsonLines.line), ndjsonLines.end(rest)].join('')
}

/** Writes the same report line by line. */
export const ndjsonLines: LineReporter = { line: lineOf, end: lineOf }

function lineOf(value: object): string {
  return `${escapeJson(value)}\n`
}

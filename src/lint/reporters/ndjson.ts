import { inertJson } from './inert.ts'
import type { LineReporter, Report } from './report.ts'

/** The report for programs that read line by line: a finding on each line, then `{"version":1,"summary":…}`. */
export function ndjson({ problems, version, summary }: Report): string {
  const { line, end } = ndjsonLines()
  return [...problems.map(line), end({ version, summary }, 0)].join('')
}

/** The same, line by line. */
export function ndjsonLines(): LineReporter {
  const line = (value: object) => `${inertJson(value)}\n`
  return { most: Number.POSITIVE_INFINITY, line, end: ({ version, summary }) => line({ version, summary }) }
}

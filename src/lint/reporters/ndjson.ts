import { inertJson } from './inert.ts'
import type { Report } from './report.ts'

/** The report for programs that read line by line: a finding on each line, then `{"version":1,"summary":…}`. */
export function ndjson({ problems, version, summary }: Report): string {
  return [...problems, { version, summary }].map((line) => `${inertJson(line)}\n`).join('')
}

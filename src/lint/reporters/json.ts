import type { Report } from './report.ts'
import { escapeJson } from './report.ts'

/** The report for programs: one JSON object, indented, with a line feed at its end. Control characters in texts are escaped. */
export function json(report: Report): string {
  return `${escapeJson(report, 2)}\n`
}

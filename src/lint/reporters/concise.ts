import type { Problem } from '../problem.ts'
import { inert } from './inert.ts'
import type { Report, ReportOptions } from './report.ts'
import { totals } from './totals.ts'

/** A finding per line, `document:line:column: severity: message [rule]`, as editors and `grep` read it; totals last. */
export function concise({ problems, summary }: Report, { limit = 100 }: ReportOptions = {}): string {
  const lines = problems.slice(0, limit).map(lineOf)
  if (problems.length > limit) lines.push(`… and ${problems.length - limit} more`)
  return `${[...lines, totals(summary)].join('\n')}\n`
}

function lineOf({ document = 'document', line, column, pointer, severity, message, rule }: Problem): string {
  const place = line === undefined ? pointer && `#${pointer}` : `:${line}:${column}`
  return inert(`${document}${place}: ${severity}: ${message} [${rule}]`)
}

import type { Problem } from '../problem.ts'
import { inert } from './inert.ts'
import type { LineReporter, Report, ReportOptions } from './report.ts'
import { totals } from './totals.ts'

/** A finding per line, `document:line:column: severity: message [code]`, as editors and `grep` read it; totals last. */
export function concise({ problems, ...rest }: Report, { limit }: ReportOptions = {}): string {
  const { most, line, end } = conciseLines(limit)
  const shown = problems.slice(0, most)
  return [...shown.map(line), end(rest, problems.length - shown.length + (rest.summary.unlisted ?? 0))].join('')
}

/** The same, line by line. */
export function conciseLines(most = 100): LineReporter {
  return {
    most,
    line: (problem) => `${lineOf(problem)}\n`,
    end: ({ summary }, more) => `${more > 0 ? `… and ${more} more\n` : ''}${totals(summary)}\n`,
  }
}

function lineOf({ document = 'document', line, column, pointer, severity, message, code }: Problem): string {
  const place = line === undefined ? pointer && `#${pointer}` : `:${line}:${column}`
  return inert(`${document}${place}: ${severity}: ${message} [${code}]`)
}

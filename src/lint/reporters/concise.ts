import type { Problem } from '../problem.ts'
import type { LineReporter, Report, ReportOptions } from './report.ts'
import { escapeLine, messageOf, totals } from './report.ts'

/** Returns one line per finding, `document:line:column: severity: message [code]`, as editors and `grep` read it, then the totals. */
export function concise({ problems, ...rest }: Report, { limit }: ReportOptions = {}): string {
  const { line, end } = conciseLines(limit)
  return [...problems.map(line), end(rest)].join('')
}

/** Reports line by line: shows findings up to the limit, after that only errors until as many of them are shown. */
export function conciseLines(most = 100): LineReporter {
  let shown = 0
  let errors = 0
  let left = 0
  return {
    line(problem) {
      const isError = problem.severity === 'error'
      if (shown >= most && !(isError && errors < most)) {
        left++
        return ''
      }
      shown++
      if (isError) errors++
      return `${lineOf(problem)}\n`
    },
    end({ summary }) {
      const more = left + (summary.unlisted ?? 0)
      return `${more > 0 ? `… and ${more} more\n` : ''}${totals(summary)}\n`
    },
  }
}

function lineOf(problem: Problem): string {
  const { document = 'document', line, column, pointer, severity, code } = problem
  const place = line === undefined ? pointer && `#${pointer}` : `:${line}:${column}`
  return escapeLine(`${document}${place}: ${severity}: ${messageOf(problem)} [${code}]`)
}

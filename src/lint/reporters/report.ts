/** What reporters show: the outcome of a run. */
import type { Problem } from '../problem.ts'

/** A document that could not be looked at, with the code of the error. */
export interface Incomplete {
  readonly url: string
  readonly code: string
}

/** The versioned report of a run, as `--format json` prints it and schemas/report.json describes it. */
export interface Report {
  readonly version: 1
  readonly problems: readonly Problem[]
  readonly summary: {
    readonly documents: number
    readonly errors: number
    readonly warnings: number
    readonly infos: number
    readonly incomplete: readonly Incomplete[]
  }
}

/** Counts the findings of `documents` documents. The findings keep their order. */
export function reportOf(problems: readonly Problem[], documents: number, incomplete: readonly Incomplete[] = []): Report {
  const count = (severity: Problem['severity']) => problems.filter((problem) => problem.severity === severity).length
  return { version: 1, problems, summary: { documents, errors: count('error'), warnings: count('warn'), infos: count('info'), incomplete } }
}

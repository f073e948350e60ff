/** What reporters show: the outcome of a run. */
import type { Problem, Severity } from '../problem.ts'

/** A document that could not be looked at, with the code of the error. */
export interface Incomplete {
  readonly url: string
  readonly code: string
  /** What failed and what to do about it, where something can be done: for people, and not stable. */
  readonly message?: string
  readonly hint?: string
  /** The exit code that it led to, where that is not the one of the code: 0 for a limit that the user set. */
  readonly exit?: number
}

/** The versioned report of a run, as `--format json` prints it and schemas/report.json describes it. */
export interface Report {
  readonly version: 1
  readonly problems: readonly Problem[]
  readonly summary: Summary
}

/** Totals of a run; they count what a report does not list. */
export interface Summary {
  readonly documents: number
  readonly errors: number
  readonly warnings: number
  readonly infos: number
  /** Findings that the baseline holds: counted here and nowhere else. */
  readonly baselined?: number
  /** Findings that are counted but not listed, because memory has no room for them; absent when there are none. */
  readonly unlisted?: number
  /** Files of folders that are no STAC documents; absent when there are none. */
  readonly skipped?: number
  readonly incomplete: readonly Incomplete[]
}

/** What a reporter may use besides the report. */
export interface ReportOptions {
  /** Escapes for colours; default false. */
  readonly color?: boolean
  /** Texts by document name, for code frames and byte columns. */
  readonly texts?: ReadonlyMap<string, string>
  /** Findings shown for people; totals count all. Default 100. */
  readonly limit?: number
  /** Names of the first documents that were read, with or without findings. */
  readonly names?: readonly string[]
  /** Version of the program, for formats that tell it. */
  readonly version?: string
}

/** A report as text, with a line feed at its end. All text of documents in it is inert where the format is used. */
export type Reporter = (report: Report, options?: ReportOptions) => string

/** A report that can be written while findings come. */
export interface LineReporter {
  /** Findings that have a line. */
  readonly most: number
  /** The line of a finding, with its line feed. */
  line(problem: Problem): string
  /** What comes behind the last finding, when `more` findings have no line. */
  end(report: Omit<Report, 'problems'>, more: number): string
}

/** Counts the findings of `documents` documents. The findings keep their order. */
export function reportOf(problems: readonly Problem[], documents: number, incomplete: readonly Incomplete[] = []): Report {
  const count = (severity: Severity) => problems.filter((problem) => problem.severity === severity).length
  return { version: 1, problems, summary: { documents, errors: count('error'), warnings: count('warn'), infos: count('info'), incomplete } }
}

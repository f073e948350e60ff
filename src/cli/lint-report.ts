/** What comes out of `lint`: reports, and the exit code. */
import { writeFile } from 'node:fs/promises'
import type { Severity } from '../lint/problem.ts'
import { reporterOf } from '../lint/reporters/index.ts'
import { type Report, reportOf } from '../lint/reporters/report.ts'
import { writeFailure } from '../node/system-error.ts'
import type { Context } from './context.ts'
import { EXIT, exitCodeOf, exitOfSignal, worstExit } from './exit-code.ts'
import { write } from './io.ts'
import type { Fresh } from './lint-baseline.ts'
import type { Destination, ReportingOptions } from './lint-options.ts'
import type { LintFailure, LintOutcome } from './lint-run.ts'
import { isColoured } from './style.ts'
import { usageError } from './usage.ts'
import { version } from './version.ts'

/** Where the reports go. `taken` says what else goes to stdout; then people read stderr. Errors: `USAGE`. */
export function destinationsOf({ format }: ReportingOptions, taken?: string): readonly Destination[] {
  const toStdout = format?.filter(({ file }) => file === undefined) ?? []
  if (toStdout.length > 1) throw usageError('only one format can go to stdout', 'write --format json=FILE')
  if (taken !== undefined && toStdout.length > 0) throw usageError(`stdout is for ${taken}`, `write --format ${toStdout[0]?.format}=FILE`)
  return format ?? [{ format: 'pretty' }]
}

/** True when a report tells the fingerprints of findings. */
export function wantsFingerprints(destinations: readonly Destination[]): boolean {
  return destinations.some(({ format }) => format === 'sarif' || format === 'gitlab')
}

/** Writes every report. Those without a file go to `output`. Errors: `FILE_ACCESS`, `DISK_FULL`. */
export async function publish(
  outcome: LintOutcome,
  fresh: Fresh,
  destinations: readonly Destination[],
  { quiet = false, maxProblems }: ReportingOptions,
  { io }: Context,
  output: 'stdout' | 'stderr',
): Promise<void> {
  const report = quietly(reportOfRun(outcome, fresh), quiet)
  const { texts, names } = outcome
  for (const { format, file } of destinations) {
    const color = file === undefined && isColoured(io, io[output])
    const reporter = await reporterOf(format)
    const text = reporter(report, { color, texts, names, version: version(), ...(maxProblems !== undefined && { limit: maxProblems }) })
    if (file === undefined) await write(io[output], text)
    else await writeReport(file, text)
  }
}

function reportOfRun({ documents, failures }: LintOutcome, { problems, baselined }: Fresh): Report {
  const incomplete = failures.map(({ name, error: { code } }) => ({ url: name, code }))
  const report = reportOf(problems, documents, incomplete)
  return baselined === undefined ? report : { ...report, summary: { ...report.summary, baselined } }
}

/** Errors only; the summary counts everything. */
function quietly(report: Report, quiet: boolean): Report {
  return quiet ? { ...report, problems: report.problems.filter(({ severity }) => severity === 'error') } : report
}

/** A report of an earlier run is replaced. Errors: `FILE_ACCESS`. */
async function writeReport(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw writeFailure(error, `"${file}"`)
  }
}

/** Failures for people; all of them are in the report. */
const TOLD = 10

/** Tells what could not be read. What was left out because the user said so comes first, for the last line is that of an error. */
export async function tell(failures: readonly LintFailure[], { diagnostics }: Context): Promise<void> {
  for (const { error, exit } of failures) if (exit === EXIT.done) diagnostics.warn({ code: error.code, message: error.message })
  const failed = failures.filter(({ exit }) => exit !== EXIT.done)
  for (const { error } of failed.slice(0, TOLD)) await diagnostics.error(error)
  if (failed.length > TOLD) await diagnostics.note(`… and ${failed.length - TOLD} more, listed in the report (--format json)`)
}

const FROM: Readonly<Record<Severity, readonly Severity[]>> = {
  error: ['error'],
  warn: ['error', 'warn'],
  info: ['error', 'warn', 'info'],
}

/** Findings from the chosen severity on count, and more warnings than allowed. What could not be read outranks findings. */
export function exitOf({ failures }: LintOutcome, { problems }: Fresh, options: ReportingOptions, { io }: Context): number {
  const { maxWarnings = Number.POSITIVE_INFINITY, failSeverity } = options
  const warnings = problems.filter(({ severity }) => severity === 'warn').length
  const found = warnings > maxWarnings || problems.some(({ severity }) => FROM[failSeverity].includes(severity))
  const codes = failures.map(({ error: { code }, exit }) => exit ?? (code === 'ABORTED' ? exitOfSignal(io.signal) : exitCodeOf(code)))
  return worstExit([...codes, found ? EXIT.findings : EXIT.done])
}

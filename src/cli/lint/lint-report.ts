/** The output of `lint`: reports at the end and during the run, and the exit code. */
import { randomUUID } from 'node:crypto'
import { createReadStream, type Stats } from 'node:fs'
import { access, constants, type FileHandle, open, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Problem } from '../../lint/index.ts'
import {
  escapeLine,
  type LineReporter,
  lineReporterOf,
  plural,
  type Report,
  reporterOf,
  type Shard,
  type Summary,
} from '../../lint/reporters/report.ts'
import { renameWhenFree, systemCode, writeFailure } from '../../node/base/index.ts'
import type { Context } from '../context.ts'
import { EXIT, EXIT_ORDER, exitCodeOf, exitOfFailure, type Failure, usageError, worstExit } from '../exit-code.ts'
import { isBrokenPipe, isColoured, version, write } from '../io.ts'
import type { Fresh } from './lint-baseline.ts'
import type { Destination, ReportOptions } from './lint-options.ts'
import type { LintOutcome } from './lint-run.ts'

/**
 * Returns the destinations of reports. Errors: `USAGE`.
 *
 * @param taken other output on stdout, if any
 * @param read files that the run reads, which a report must not replace
 */
export function destinationsOf(
  { json = false, format: named = [] }: ReportOptions,
  taken?: string,
  read: readonly (string | undefined)[] = [],
): readonly Destination[] {
  const all: readonly Destination[] = json ? [{ format: 'json' }, ...named] : named
  const toStdout = all.filter(({ file }) => file === undefined)
  if (toStdout.length > 1) throw usageError('only one format can be written to stdout', 'give --format json=FILE')
  const files = all.flatMap(({ file }) => (file === undefined ? [] : [resolve(file)]))
  const again = files.find((file, index) => files.indexOf(file) < index)
  if (again !== undefined) throw usageError(`two reports cannot be written to "${again}"`, 'give each format its own file')
  const replaced = files.length > 0 && read.find((name) => name !== undefined && files.includes(resolve(name)))
  if (replaced)
    throw usageError(`the report would replace "${replaced}", which is an input of this run`, 'give --format FORMAT=FILE another file')
  if (taken !== undefined && toStdout.length > 0)
    throw usageError(`stdout is used for ${taken}`, `give --format ${toStdout[0]?.format}=FILE`)
  return all.length > 0 ? all : [{ format: 'pretty' }]
}

/** Returns true if a format contains the fingerprints of findings. */
export function wantsFingerprints(destinations: readonly Destination[]): boolean {
  return destinations.some(({ format }) => format === 'sarif' || format === 'gitlab')
}

/**
 * Writes the report in every format, those without a file to `output`. After a failure the other reports are still written; a closed
 * `output`, as after `head`, is ignored. Errors: `FILE_ACCESS`, `DISK_FULL`.
 */
export async function publish(
  { report, texts, names, lines }: Published,
  destinations: readonly Destination[],
  { quiet = false, maxProblems, failSeverity }: ReportOptions,
  context: Context,
  output: 'stdout' | 'stderr',
): Promise<void> {
  const { io } = context
  const shown = quietly(report, quiet)
  if (destinations.some((destination) => !lines?.to(destination))) warnOfUnlisted(shown.summary, context)
  const failures: unknown[] = []
  for (const destination of destinations) {
    const begun = lines?.to(destination)
    if (begun) {
      await begun.end(report).catch((error) => failures.push(error))
      continue
    }
    const { format, file } = destination
    const color = file === undefined && isColoured(io, io[output])
    const reporter = await reporterOf(format)
    const text = reporter(shown, {
      color,
      texts,
      names,
      failSeverity,
      version: version(),
      ...(maxProblems !== undefined && { limit: maxProblems }),
    })
    const written = file === undefined ? write(io[output], text) : writeReport(file, text)
    await written.catch((error) => failures.push(error))
  }
  const failure = failures.find((error) => !isBrokenPipe(error))
  if (failure !== undefined) throw failure
}

/** A report, with texts and names of its documents. */
export interface Published extends Pick<LintOutcome, 'texts' | 'names'> {
  readonly report: Report
  /** Reports that were written during the run. */
  readonly lines?: LineReports | undefined
}

/** Returns the report of a run, or of one shard. */
export function reportOfRun(
  { documents, skipped, failures, names, shard: seen }: LintOutcome,
  { problems, baselined, totals, unlisted }: Fresh,
  { io }: Context,
  shard?: Pick<Shard, 'index' | 'of'>,
): Report {
  const incomplete = failures.map((failure) => {
    const { name: url, error } = failure
    const exit = exitOfFailure(failure, io.signal)
    const { code, message, hint } = error
    // A limit that the user set counts documents, which differs between the shards of a run.
    const texts = exit !== EXIT.done && { message, ...(hint !== undefined && { hint }) }
    return { url, code, ...texts, ...(exit !== exitCodeOf(code) && { exit }) }
  })
  const more = { ...(baselined !== undefined && { baselined }), ...(unlisted > 0 && { unlisted }), ...(skipped > 0 && { skipped }) }
  const summary = { documents, ...totals, ...more, incomplete }
  return { version: 1, problems, summary, ...(shard && { shard: { ...shard, names, ...(seen ?? EMPTY) } }) }
}

/** The facts of a shard without documents. */
const EMPTY = { definitions: [], outerRefs: [], unsettled: [] }

/** Removes all findings but errors with `--quiet`; the summary still counts everything. */
function quietly(report: Report, quiet: boolean): Report {
  if (!quiet) return report
  const problems = report.problems.filter(({ severity }) => severity === 'error')
  const { unlisted = 0, ...summary } = report.summary
  const left = Math.min(unlisted, summary.errors - problems.length)
  return { ...report, problems, summary: { ...summary, ...(left > 0 && { unlisted: left }) } }
}

async function writeReport(name: string, text: string): Promise<void> {
  const sink = await openReport(name)
  await sink.write(text)
  await sink.close()
}

/** Warns that reports do not list all findings. */
function warnOfUnlisted({ unlisted = 0 }: Summary, { diagnostics }: Context): void {
  if (unlisted === 0) return
  const message = `${unlisted} findings are counted but not listed: the memory limit is reached. Errors are listed first`
  const hint = 'use --format ndjson, which lists all findings without --crawl, or set NODE_OPTIONS=--max-old-space-size=8192'
  diagnostics.warn({ code: 'FINDINGS_UNLISTED', message: `${message}; ${hint}` })
}

/** Limit of failures on stderr; the report contains all. */
const TOLD = 10

/**
 * Reports failures, with the name of the input if the message lacks it. Requested limits come first; the error that decides the exit
 * code comes last.
 */
export async function tell(failures: readonly Failure[], { io, diagnostics }: Context): Promise<void> {
  for (const { error, exit } of failures) if (exit === EXIT.done) diagnostics.warn({ code: error.code, message: error.message })
  const failed = failures.filter(({ exit }) => exit !== EXIT.done)
  const worst = [...failed].sort((one, other) => weight(other, io.signal) - weight(one, io.signal)).slice(0, TOLD)
  for (const { name, error } of worst.sort((one, other) => weight(one, io.signal) - weight(other, io.signal))) {
    if (!error.message.includes(name)) await diagnostics.note(escapeLine(name))
    await diagnostics.error(error)
  }
  if (failed.length > TOLD) await diagnostics.note(`… and ${failed.length - TOLD} more, listed in the report (--format json)`)
}

/** Returns the rank of a failure: higher for a higher precedence of its exit code. */
function weight(failure: Failure, signal: AbortSignal): number {
  return -EXIT_ORDER.indexOf(exitOfFailure(failure, signal))
}

/** Says which option makes a run without listed errors fail; nothing with JSON. */
export async function tellWhyFailed(
  { errors, warnings, infos }: Summary,
  { maxWarnings, failSeverity, quiet }: ReportOptions,
  { diagnostics }: Context,
): Promise<void> {
  if (maxWarnings !== undefined && warnings > maxWarnings)
    await diagnostics.note(`${plural(warnings, 'warning')}: more than --max-warnings ${maxWarnings} allows`)
  const below = failSeverity === 'error' ? 0 : warnings + (failSeverity === 'info' ? infos : 0)
  if (quiet && errors === 0 && below > 0)
    await diagnostics.note(`${plural(below, 'finding')} of --fail-severity ${failSeverity} or higher, which --quiet does not list`)
}

/** Returns the exit code: failures take precedence over findings at or above `failSeverity` and over too many warnings. */
export function exitOf(failures: readonly Failure[], summary: Summary, options: ReportOptions, { io }: Context): number {
  const { maxWarnings = Number.POSITIVE_INFINITY, failSeverity } = options
  const { errors, warnings, infos } = summary
  const counting = { error: errors, warn: errors + warnings, info: errors + warnings + infos }
  const found = warnings > maxWarnings || counting[failSeverity] > 0
  return worstExit([...failures.map((failure) => exitOfFailure(failure, io.signal)), found ? EXIT.findings : EXIT.done])
}

/** Where a report is written. Errors of all methods: `FILE_ACCESS`, `DISK_FULL`. */
interface Sink {
  write(text: string): Promise<void>
  /** Makes the report complete. */
  close(): Promise<void>
  /** Gives up an incomplete report. */
  discard(): Promise<void>
}

/**
 * Opens a file that replaces the report of an earlier run when it is complete; after an error the earlier report is unchanged. Links are
 * followed, and pipes and devices are written directly.
 */
async function openReport(name: string): Promise<Sink> {
  const refuse = (error: unknown): never => {
    throw writeFailure(error, `"${name}"`)
  }
  const stats = await stat(name).catch(() => undefined)
  if (stats) await access(name, constants.W_OK).catch(refuse)
  // A pipe behind /dev/stdout has no path of its own.
  const path = stats?.isFile() ? await realpath(name).catch(refuse) : name
  const { handle, part } = await openPart(path, stats).catch(refuse)
  const discard = async () => {
    await handle.close().catch(() => undefined)
    if (part !== undefined) await rm(part, { force: true })
  }
  const orDiscard = (writing: Promise<void>) => writing.catch((error) => discard().then(() => refuse(error)))
  const close = async () => {
    if (part !== undefined) await handle.sync()
    await handle.close()
    if (part !== undefined) await replace(path, part)
  }
  return { write: (text) => orDiscard(handle.writeFile(text)), close: () => orDiscard(close()), discard }
}

/** Error codes for a folder that is not writable, or a file that is a mount point: only the file itself can be written. */
const ONLY_ITSELF = ['EACCES', 'EPERM', 'EROFS', 'EBUSY']

/** Opens a temporary file beside the report, or in the temporary folder; pipes and devices have none. */
async function openPart(path: string, stats: Stats | undefined): Promise<{ readonly handle: FileHandle; readonly part?: string }> {
  if (stats && !stats.isFile()) return { handle: await open(path, 'w') }
  const beside = `${path}.${randomUUID()}.part`
  try {
    return { handle: await open(beside, 'wx', (stats?.mode ?? 0o666) & 0o777), part: beside }
  } catch (error) {
    if (!stats || !ONLY_ITSELF.includes(systemCode(error))) throw error
    const elsewhere = join(tmpdir(), `stac-auth-${randomUUID()}.part`)
    return { handle: await open(elsewhere, 'wx', 0o600), part: elsewhere }
  }
}

async function replace(path: string, part: string): Promise<void> {
  try {
    await renameWhenFree(part, path)
  } catch (error) {
    if (![...ONLY_ITSELF, 'EXDEV'].includes(systemCode(error))) throw error
    await writeFile(path, createReadStream(part))
    await rm(part, { force: true })
  }
}

/** The reports that are written during a run. */
export class LineReports {
  readonly #reports = new Map<Destination, LineReport>()

  /** Creates the reports of destinations with a line-based format. Files are opened at the first finding. */
  static async of(
    destinations: readonly Destination[],
    { maxProblems, quiet = false }: ReportOptions,
    { io }: Context,
    output: 'stdout' | 'stderr',
  ): Promise<LineReports> {
    const reports = new LineReports()
    for (const destination of destinations) {
      const reporter = await lineReporterOf(destination.format, maxProblems)
      const { file } = destination
      const stdout: Sink = { write: (text) => write(io[output], text), close: async () => {}, discard: async () => {} }
      const start = async () => (file === undefined ? stdout : openReport(file))
      if (reporter) reports.#reports.set(destination, new LineReport(reporter, start, quiet))
    }
    return reports
  }

  /** Returns the line-based report of a destination, if it has one. */
  to(destination: Destination): LineReport | undefined {
    return this.#reports.get(destination)
  }

  async add(problems: readonly Problem[]): Promise<void> {
    for (const report of this.#reports.values()) await report.add(problems)
  }

  /** Removes unfinished reports. */
  async discard(): Promise<void> {
    for (const report of this.#reports.values()) await report.discard()
  }
}

/** Characters that are buffered before a write, and milliseconds after a write until the next finding is written immediately. */
const BUFFERED = { characters: 64 * 1024, milliseconds: 100 }

/** A report that is written line by line. */
class LineReport {
  readonly #reporter: LineReporter
  readonly #open: () => Promise<Sink>
  readonly #isQuiet: boolean
  #sink: Promise<Sink> | undefined
  #isBroken = false
  #text = ''
  #written = 0

  constructor(reporter: LineReporter, openSink: () => Promise<Sink>, isQuiet: boolean) {
    this.#reporter = reporter
    this.#open = openSink
    this.#isQuiet = isQuiet
  }

  /** Writes a line for each finding. A failure is thrown by `end`, so that other reports are still written. */
  async add(problems: readonly Problem[]): Promise<void> {
    if (this.#isBroken) return
    for (const problem of problems) if (!this.#isQuiet || problem.severity === 'error') this.#text += this.#reporter.line(problem)
    const { characters, milliseconds } = BUFFERED
    const isTime = this.#text.length >= characters || (this.#text !== '' && Date.now() - this.#written >= milliseconds)
    if (!isTime) return
    await this.#flush().catch(() => {
      this.#isBroken = true
    })
  }

  /** Writes the totals. Errors: all errors since the start. */
  async end(report: Report): Promise<void> {
    const { unlisted: _none, ...summary } = report.summary
    this.#text += this.#reporter.end({ version: report.version, summary })
    await this.#flush()
    await (await this.#sink)?.close()
    this.#sink = undefined
  }

  async discard(): Promise<void> {
    await this.#sink?.then((sink) => sink.discard()).catch(() => undefined)
  }

  async #flush(): Promise<void> {
    this.#sink ??= this.#open()
    const sink = await this.#sink
    const text = this.#text
    this.#text = ''
    // After a failure the sink refuses all writes with its error.
    this.#sink = sink.write(text).then(() => sink)
    this.#written = Date.now()
    await this.#sink
  }
}

/** The output of `lint`: reports at the end and during the run, and the exit code. */
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
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
  const file = await ReportFile.open(name)
  await file.write(text)
  await file.close()
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

/** Error codes for a folder that is not writable, or a file that is a mount point: only the file itself can be written. */
const ONLY_ITSELF = ['EACCES', 'EPERM', 'EROFS', 'EBUSY']

/**
 * Replaces the report of an earlier run atomically; links are followed, and pipes and devices are written directly. Errors of all
 * methods: `FILE_ACCESS`, `DISK_FULL`; the earlier report is unchanged then.
 */
class ReportFile {
  readonly #name: string
  readonly #place: string
  readonly #handle: FileHandle
  /** The temporary file; absent for pipes and devices. */
  readonly #part: string | undefined

  private constructor(name: string, place: string, handle: FileHandle, part?: string) {
    this.#name = name
    this.#place = place
    this.#handle = handle
    this.#part = part
  }

  static async open(name: string): Promise<ReportFile> {
    try {
      const stats = await stat(name).catch(() => undefined)
      // A pipe behind /dev/stdout has no path of its own.
      const place = stats?.isFile() ? await realpath(name) : name
      if (stats) await access(place, constants.W_OK)
      if (stats && !stats.isFile()) return new ReportFile(name, place, await open(place, 'w'))
      const part = `${place}.${randomUUID()}.part`
      const handle = await open(part, 'wx', (stats?.mode ?? 0o666) & 0o777).catch((error) => {
        if (!stats || !ONLY_ITSELF.includes(systemCode(error))) throw error
      })
      if (handle) return new ReportFile(name, place, handle, part)
      const elsewhere = join(tmpdir(), `stac-auth-${randomUUID()}.part`)
      return new ReportFile(name, place, await open(elsewhere, 'wx', 0o600), elsewhere)
    } catch (error) {
      throw writeFailure(error, `"${name}"`)
    }
  }

  write(text: string): Promise<void> {
    return this.#orDiscard(() => this.#handle.writeFile(text))
  }

  /** Syncs the report to disk and moves it to its path. */
  close(): Promise<void> {
    return this.#orDiscard(async () => {
      const part = this.#part
      if (part !== undefined) await this.#handle.sync()
      await this.#handle.close()
      if (part === undefined) return
      try {
        await renameWhenFree(part, this.#place)
      } catch (error) {
        if (![...ONLY_ITSELF, 'EXDEV'].includes(systemCode(error))) throw error
        await writeFile(this.#place, createReadStream(part))
        await rm(part, { force: true })
      }
    })
  }

  /** Removes the temporary file and keeps the earlier report. */
  async discard(): Promise<void> {
    await this.#handle.close().catch(() => undefined)
    if (this.#part !== undefined) await rm(this.#part, { force: true })
  }

  async #orDiscard(writing: () => Promise<void>): Promise<void> {
    try {
      await writing()
    } catch (error) {
      await this.discard()
      throw writeFailure(error, `"${this.#name}"`)
    }
  }
}

/** Characters that are buffered before a write. */
const ENOUGH = 64 * 1024

/** Milliseconds after a write until the next finding is written immediately. */
const SOON = 100

/** The reports that are written during a run. */
export class LineReports {
  readonly #reports = new Map<Destination, LineReport>()

  /** Creates the reports of destinations with a line-based format. Files are opened at the first finding. */
  static async of(
    destinations: readonly Destination[],
    options: ReportOptions,
    { io }: Context,
    output: 'stdout' | 'stderr',
  ): Promise<LineReports> {
    const reports = new LineReports()
    for (const destination of destinations) {
      const reporter = await lineReporterOf(destination.format, options.maxProblems)
      const { file } = destination
      const stdout: Sink = { write: (text) => write(io[output], text), close: async () => {}, discard: async () => {} }
      const start = async () => (file === undefined ? stdout : ReportFile.open(file))
      if (reporter) reports.#reports.set(destination, new LineReport(reporter, start, options.quiet))
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

type Sink = Pick<ReportFile, 'write' | 'close' | 'discard'>

/** A report that is written line by line. */
class LineReport {
  readonly #reporter: LineReporter
  readonly #open: () => Promise<Sink>
  readonly #isQuiet: boolean
  #sink: Sink | undefined
  #error: unknown
  #text = ''
  #written = 0

  constructor(reporter: LineReporter, openSink: () => Promise<Sink>, isQuiet = false) {
    this.#reporter = reporter
    this.#open = openSink
    this.#isQuiet = isQuiet
  }

  /** Writes a line for each finding. A failure is thrown by `end`, so that other reports are still written. */
  async add(problems: readonly Problem[]): Promise<void> {
    for (const problem of problems) {
      if (this.#error === undefined && !(this.#isQuiet && problem.severity !== 'error')) this.#text += this.#reporter.line(problem)
    }
    const isTime = this.#text.length >= ENOUGH || (this.#text !== '' && Date.now() - this.#written >= SOON)
    if (isTime) await this.#flush().catch(() => undefined)
  }

  /** Writes the totals. Errors: all errors of `ReportFile` and `write` since the start. */
  async end(report: Report): Promise<void> {
    const { unlisted: _none, ...summary } = report.summary
    this.#text += this.#reporter.end({ version: report.version, summary })
    await this.#flush()
    await this.#sink?.close()
    this.#sink = undefined
  }

  async discard(): Promise<void> {
    await this.#sink?.discard()
    this.#sink = undefined
  }

  async #flush(): Promise<void> {
    const text = this.#text
    this.#text = ''
    try {
      if (this.#error !== undefined) throw this.#error
      this.#sink ??= await this.#open()
      await this.#sink.write(text)
      this.#written = Date.now()
    } catch (error) {
      this.#error = error
      throw error
    }
  }
}

/** What comes out of `lint`: reports, and the exit code. */

import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, constants, type FileHandle, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { reporterOf } from '../../lint/reporters/index.ts'
import { inert, type Report, type Shard, type Summary } from '../../lint/reporters/report.ts'
import { systemCode, writeFailure } from '../../node/system-error.ts'
import type { Context } from '../context.ts'
import { EXIT, EXIT_ORDER, exitCodeOf, exitOfFailure, type Failure, worstExit } from '../exit-code.ts'
import { isBrokenPipe, write } from '../io.ts'
import { isColoured } from '../style.ts'
import { usageError } from '../usage.ts'
import { version } from '../version.ts'
import type { LineReports } from './line-reports.ts'
import type { Fresh } from './lint-baseline.ts'
import type { Destination, ReportOptions } from './lint-options.ts'
import type { LintOutcome } from './lint-run.ts'

/** Where the reports go. `taken` says what else goes to stdout; then people read stderr. Errors: `USAGE`. */
export function destinationsOf({ format }: ReportOptions, taken?: string): readonly Destination[] {
  const toStdout = format?.filter(({ file }) => file === undefined) ?? []
  if (toStdout.length > 1) throw usageError('only one format can go to stdout', 'write --format json=FILE')
  const files = format?.flatMap(({ file }) => (file === undefined ? [] : [resolve(file)])) ?? []
  const again = files.find((file, index) => files.indexOf(file) < index)
  if (again !== undefined) throw usageError(`two reports cannot go to "${again}"`, 'give each format a file of its own')
  if (taken !== undefined && toStdout.length > 0) throw usageError(`stdout is for ${taken}`, `write --format ${toStdout[0]?.format}=FILE`)
  return format ?? [{ format: 'pretty' }]
}

/** True when a report tells the fingerprints of findings. */
export function wantsFingerprints(destinations: readonly Destination[]): boolean {
  return destinations.some(({ format }) => format === 'sarif' || format === 'gitlab')
}

/**
 * Writes the report in every format, those without a file to `output`. One that cannot be written keeps none of the others from being
 * written; a reader of `output` that has gone, as `head` does, changes nothing else. Errors: `FILE_ACCESS`, `DISK_FULL`.
 */
export async function publish(
  { report, texts, names, lines }: Published,
  destinations: readonly Destination[],
  { quiet = false, maxProblems }: ReportOptions,
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
    const text = reporter(shown, { color, texts, names, version: version(), ...(maxProblems !== undefined && { limit: maxProblems }) })
    const written = file === undefined ? write(io[output], text) : writeReport(file, text)
    await written.catch((error) => failures.push(error))
  }
  const failure = failures.find((error) => !isBrokenPipe(error))
  if (failure !== undefined) throw failure
}

/** A report, and what is known about its documents besides. */
export interface Published extends Pick<LintOutcome, 'texts' | 'names'> {
  readonly report: Report
  /** Those reports that were written while the run went on. */
  readonly lines?: LineReports | undefined
}

/** The report of a run, or of a part of one. */
export function reportOfRun(
  { documents, skipped, failures, names, definitions = [] }: LintOutcome,
  { problems, baselined, totals, unlisted }: Fresh,
  { io }: Context,
  shard?: Pick<Shard, 'index' | 'of'>,
): Report {
  const incomplete = failures.map((failure) => {
    const { name: url, error } = failure
    const exit = exitOfFailure(failure, io.signal)
    const { code, message, hint } = error
    return { url, code, ...(hint !== undefined && { message, hint }), ...(exit !== exitCodeOf(code) && { exit }) }
  })
  const more = { ...(baselined !== undefined && { baselined }), ...(unlisted > 0 && { unlisted }), ...(skipped > 0 && { skipped }) }
  const summary = { documents, ...totals, ...more, incomplete }
  return { version: 1, problems, summary, ...(shard && { shard: { ...shard, names, definitions } }) }
}

/** Errors only; the summary counts everything. */
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

/** Says that reports do not list everything. */
function warnOfUnlisted({ unlisted = 0 }: Summary, { diagnostics }: Context): void {
  if (unlisted === 0) return
  const message = `${unlisted} findings are counted but not listed: memory has room for no more. Errors are listed first`
  const hint = 'write --format ndjson, which lists all findings of a run without --crawl, or set NODE_OPTIONS=--max-old-space-size=8192'
  diagnostics.warn({ code: 'FINDINGS_UNLISTED', message: `${message}; ${hint}` })
}

/** Failures for people; all of them are in the report. */
const TOLD = 10

/**
 * Tells what could not be read, each under its name where the message leaves it out. What was left out because the user said so
 * comes first, for the last line is that of the error that decides the exit code.
 */
export async function tell(failures: readonly Failure[], { io, diagnostics }: Context): Promise<void> {
  for (const { error, exit } of failures) if (exit === EXIT.done) diagnostics.warn({ code: error.code, message: error.message })
  const failed = failures.filter(({ exit }) => exit !== EXIT.done)
  const worst = [...failed].sort((one, other) => weight(other, io.signal) - weight(one, io.signal)).slice(0, TOLD)
  for (const { name, error } of worst.sort((one, other) => weight(one, io.signal) - weight(other, io.signal))) {
    if (!error.message.includes(name)) await diagnostics.note(inert(name))
    await diagnostics.error(error)
  }
  if (failed.length > TOLD) await diagnostics.note(`… and ${failed.length - TOLD} more, listed in the report (--format json)`)
}

/** Grows with what goes before in the order of exit codes. */
function weight(failure: Failure, signal: AbortSignal): number {
  return -EXIT_ORDER.indexOf(exitOfFailure(failure, signal))
}

/** Findings from the chosen severity on count, and more warnings than allowed. What could not be read outranks findings. */
export function exitOf(failures: readonly Failure[], summary: Summary, options: ReportOptions, { io }: Context): number {
  const { maxWarnings = Number.POSITIVE_INFINITY, failSeverity } = options
  const { errors, warnings, infos } = summary
  const counting = { error: errors, warn: errors + warnings, info: errors + warnings + infos }
  const found = warnings > maxWarnings || counting[failSeverity] > 0
  return worstExit([...failures.map((failure) => exitOfFailure(failure, io.signal)), found ? EXIT.findings : EXIT.done])
}

/** In a folder that nobody may write to, or over a file that is mounted by itself, there is only the file itself. */
const ONLY_ITSELF = ['EACCES', 'EPERM', 'EROFS', 'EBUSY']

/**
 * Replaces the report of an earlier run, whole or not at all; a link is followed, and what is not a regular file (a pipe, a device) is
 * written to as it is. Errors of all methods: `FILE_ACCESS`, `DISK_FULL`; then the earlier report is still there.
 */
export class ReportFile {
  readonly #name: string
  readonly #place: string
  readonly #handle: FileHandle
  /** Absent for what is written to as it is. */
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
      const place = stats ? await realpath(name) : name
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

  /** Puts the report in its place when the disk has it. */
  close(): Promise<void> {
    return this.#orDiscard(async () => {
      const part = this.#part
      if (part !== undefined) await this.#handle.sync()
      await this.#handle.close()
      if (part === undefined) return
      try {
        await rename(part, this.#place)
      } catch (error) {
        if (![...ONLY_ITSELF, 'EXDEV'].includes(systemCode(error))) throw error
        await writeFile(this.#place, createReadStream(part))
        await rm(part, { force: true })
      }
    })
  }

  /** Leaves the earlier report as it is. */
  async discard(): Promise<void> {
    await this.#handle.close().catch(() => undefined)
    if (this.#part !== undefined) await rm(this.#part, { force: true })
  }

  async #orDiscard(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      await this.discard()
      throw writeFailure(error, `"${this.#name}"`)
    }
  }
}

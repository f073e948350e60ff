/** Line-based reports, written during the run, so that memory does not grow with findings. */
import type { Problem } from '../../lint/index.ts'
import { lineReporterOf } from '../../lint/reporters/index.ts'
import type { LineReporter, Report } from '../../lint/reporters/report.ts'
import type { Context } from '../context.ts'
import { write } from '../io.ts'
import type { Destination, ReportOptions } from './lint-options.ts'
import { ReportFile } from './lint-report.ts'

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
      const open = async () => (file === undefined ? stdout : ReportFile.open(file))
      if (reporter) reports.#reports.set(destination, new LineReport(reporter, open, options.quiet))
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

  constructor(reporter: LineReporter, open: () => Promise<Sink>, isQuiet = false) {
    this.#reporter = reporter
    this.#open = open
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

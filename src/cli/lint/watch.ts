/** `lint --watch`: lints again after each change, until it is interrupted. */
import { isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { lineReporterOf, reporterOf, totals } from '../../lint/reporters/report.ts'
import { forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { exitCodeOf, exitOfSignal, usageError } from '../exit-code.ts'
import { exists, fileGlob, isGlob, leftOutBelow } from '../inputs/input-files.ts'
import { isColoured, type Output, write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import { RunBaseline } from './lint-baseline.ts'
import { type Changes, LintMemory } from './lint-memory.ts'
import type { ReportingOptions, SelectionOptions } from './lint-options.ts'
import { exitOf, reportOfRun, tell } from './lint-report.ts'
import { type LintOutcome, type LintSettings, lintAll, settingsOf } from './lint-run.ts'
import { Watched } from './watch-files.ts'

type WatchOptions = ReportingOptions & SelectionOptions & { readonly stdinFilename: string }

/**
 * Lints files and folders now, and after each change of them or of the configuration; texts that stay the same are not linted again.
 * Returns the exit code of the last state after Ctrl-C, that of the signal after another one. Errors: `USAGE`, and at first those of the
 * configuration.
 */
export async function watch(inputs: readonly string[], options: WatchOptions, context: Context): Promise<number> {
  const other = inputs.find((name) => name === '-' || isAddress(name))
  if (inputs.length === 0) throw usageError('nothing to watch: name files or folders')
  if (other !== undefined) throw usageError(`--watch accepts files and folders, not ${other === '-' ? 'stdin' : 'URLs'}`)
  const { signal } = context.io
  let wake = () => {}
  let isChanged = true
  const watched = new Watched(() => {
    isChanged = true
    wake()
  })
  signal.addEventListener('abort', () => wake(), { once: true })
  const runs = new Runs(inputs, options, watched, context)
  try {
    while (!signal.aborted) {
      if (isChanged) {
        isChanged = false
        await runs.run()
      } else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  } finally {
    watched.close()
  }
  return signal.reason === 'SIGINT' && runs.exitCode !== undefined ? runs.exitCode : exitOfSignal(signal)
}

/** Runs of the linter over the same inputs. */
class Runs {
  /** That of the last complete run. */
  exitCode: number | undefined
  readonly #inputs: readonly string[]
  readonly #options: WatchOptions
  readonly #watched: Watched
  readonly #context: Context
  #memory: LintMemory | undefined
  /** The configuration, and what could not be read, as they were told last. */
  #config = ''
  #failures = ''

  constructor(inputs: readonly string[], options: WatchOptions, watched: Watched, context: Context) {
    this.#inputs = inputs
    this.#options = options
    this.#watched = watched
    this.#context = context
  }

  async run(): Promise<void> {
    const isFirst = this.#memory === undefined
    const settings = await this.#settings(isFirst)
    if (!settings) return
    if (isFirst) await this.#watchInputs(settings)
    const config = JSON.stringify(settings.levels.config)
    const isConfigured = config !== this.#config
    if (isConfigured || !this.#memory) this.#memory = new LintMemory(settings)
    const { io } = this.#context
    const outcome = await lintAll(this.#inputs, { ...settings, linter: this.#memory }, io, openAuth(this.#context, {}, []))
    const changes = this.#memory.next()
    if (io.signal.aborted) return
    const failures = JSON.stringify(outcome.failures.map(({ name, error }) => [name, error.code]))
    const isTold = Object.values(changes).flat().length === 0 && failures === this.#failures && !isConfigured
    this.#config = config
    this.#failures = failures
    if (!isTold)
      await this.#show(outcome, settings, isFirst ? '' : isConfigured ? `changed: ${this.#options.config}` : textOf(changes), changes)
  }

  /** Reads configuration and baseline. One that became invalid is told, and its correction awaited. */
  async #settings(isFirst: boolean): Promise<LintSettings | undefined> {
    const { baseline, quiet } = this.#options
    if (baseline !== undefined) this.#watched.addFile(baseline)
    try {
      const settings = await settingsOf(this.#options, baseline !== undefined, this.#context.io, (file) => this.#watched.addFile(file))
      const comparison = (await RunBaseline.open({ ...this.#options }, this.#context))?.comparison
      return {
        ...settings,
        ...(comparison && { baseline: comparison }),
        ...(quiet && { isShown: ({ severity }) => severity === 'error' }),
      }
    } catch (error) {
      if (isFirst || !isAuthError(error)) throw error
      this.exitCode = exitCodeOf(error.code)
      this.#config = ''
      await this.#context.diagnostics.error(error)
      return undefined
    }
  }

  async #watchInputs({ selection }: LintSettings): Promise<void> {
    for (const name of this.#inputs) {
      const folder = isGlob(name) && !(await exists(name)) ? (await fileGlob(name)).folder : name
      await this.#watched.add(folder, await leftOutBelow(folder, selection))
    }
  }

  /** On a terminal the report replaces the one before, and fits the screen; else the changed documents are reported. */
  async #show(outcome: LintOutcome, settings: LintSettings, what: string, changes: Changes): Promise<void> {
    const { io, diagnostics } = this.#context
    const { stdout } = io
    const { baseline } = settings
    const report = reportOfRun(outcome, { ...outcome.found, ...(baseline && { baselined: baseline.known }) }, this.#context)
    this.exitCode = exitOf(outcome.failures, report.summary, this.#options, this.#context)
    const { quiet = false, maxProblems } = this.#options
    const problems = quiet ? report.problems.filter(({ severity }) => severity === 'error') : report.problems
    if (stdout.isTTY && isColoured(io, stdout)) {
      const limit = maxProblems === undefined ? {} : { limit: maxProblems }
      const text = (await reporterOf('pretty'))({ ...report, problems }, { color: true, texts: outcome.texts, ...limit })
      await write(stdout, CLEAR + fitted(text, stdout))
      await tell(outcome.failures, this.#context)
      return diagnostics.note(`${what === '' ? '' : `${what}. `}Waiting for changes, Ctrl-C ends`)
    }
    const fresh = new Set([...changes.changed, ...changes.added])
    const told = problems.filter(({ document = '' }) => fresh.has(document))
    const lines = await lineReporterOf('concise', maxProblems)
    await write(
      stdout,
      `${told.map((problem) => lines?.line(problem)).join('')}${what === '' ? '' : `${what}. `}${totals(report.summary)}\n`,
    )
    await tell(outcome.failures, this.#context)
  }
}

/** Clears the screen of a terminal, with what is above it. */
const CLEAR = '\x1b[2J\x1b[3J\x1b[H'

/** Returns the report as far as it fits the screen, above the totals and the line that says what changed. */
function fitted(report: string, { rows, columns }: Output): string {
  const [totalsLine = '', blank = '', ...above] = report.trimEnd().split('\n').toReversed()
  const lines = above.toReversed()
  const heightOf = (line: string) => Math.max(1, Math.ceil(line.replace(COLOUR, '').length / (columns || 80)))
  let room = (rows || 24) - heightOf(totalsLine) - AROUND
  const end = lines.findIndex((line) => (room -= heightOf(line)) < 0)
  return [...(end < 0 ? lines : [...lines.slice(0, end), '…']), blank, totalsLine, ''].join('\n')
}

const COLOUR = /\x1b\[\d+m/g

/** Lines for what is not the report: an empty line, what changed, the cursor, and a sign that it is cut. */
const AROUND = 4

/** Names in a line. */
const MOST_NAMES = 3

function textOf(changes: Changes): string {
  const parts = Object.entries(changes).filter(([, names]) => names.length > 0)
  return parts.map(([what, names]) => `${what}: ${namesText(names)}`).join('; ')
}

function namesText(names: readonly string[]): string {
  const more = names.length - MOST_NAMES
  return `${names.slice(0, MOST_NAMES).map(forLine).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

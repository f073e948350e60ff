/** Lints inputs one by one, in this process or by workers, and keeps only their findings. */

import type { Auth } from '../../auth/auth.ts'
import { isMine } from '../../crawl/expand.ts'
import { AbortedError, isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { type Comparison, withFingerprint } from '../../lint/baseline.ts'
import { levelOfCode, RULE_NAMES } from '../../lint/config.ts'
import { LintRun, type Problem, type TextOptions } from '../../lint/index.ts'
import type { Shard } from '../../lint/reporters/report.ts'
import { DOCUMENT_LIMITS } from '../../stac/document.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { Failure } from '../exit-code.ts'
import { type LintInput, lintInputs, type Selection } from '../inputs/input-files.ts'
import { type Piece, piecesOf } from '../inputs/pieces.ts'
import type { Io } from '../io.ts'
import { Collector, type FoundProblems, roomForFindings } from './collector.ts'
import type { ChangedOptions } from './lint-changed.ts'
import { type GivenRules, type RunLevels, readLintConfig } from './lint-config.ts'
import { type SelectionOptions, unknownRule } from './lint-options.ts'
import { compared, type Linter, type LintResult, localLinter, siteOf } from './linter.ts'

export interface LintSettings {
  readonly levels: RunLevels
  /** The state shared by all documents of the run. */
  readonly run: LintRun
  /** Completes each finding, such as with its fingerprint. */
  readonly complete: TextOptions['complete']
  /** Returns true for a finding that a report lists, so that its position is needed; default: all. */
  readonly isShown?: TextOptions['isShown']
  /** The name of stdin in findings. */
  readonly stdinName: string
  /** Options for skipping files of folders and globs. */
  readonly selection: Selection
  /** The comparison with the baseline, so that only new findings are reported. */
  readonly baseline?: Comparison
  /** Limit of the kept findings in characters. */
  readonly room: number
  /** Called with the findings of each piece, in the order of the documents, and awaited. */
  readonly list?: (problems: readonly Problem[]) => Promise<void>
  /** The linter; default: in this process. */
  readonly linter?: Linter
  /** The part of the inputs that is linted. */
  readonly shard?: Pick<Shard, 'index' | 'of'>
  /** Reads the content of an input instead of its file; then all inputs are file names. */
  readonly read?: (name: string) => AsyncIterable<Uint8Array>
}

/** The findings and failures of a run. */
export interface LintOutcome {
  readonly documents: number
  /** Number of files of folders and globs that are not STAC documents. */
  readonly skipped: number
  readonly found: FoundProblems
  readonly failures: readonly Failure[]
  /** Texts of the first documents with findings, by name, up to {@link TEXTS} units. */
  readonly texts: ReadonlyMap<string, string>
  /** Names of the first inputs, at most {@link NAMES}. */
  readonly names: readonly string[]
  /** Facts about a part of a crawl, besides its findings, that `merge` needs. */
  readonly shard?: Omit<Shard, 'index' | 'of' | 'names'>
}

/** Limit of the texts kept for code frames, in UTF-16 units; findings in other documents have no code frame. */
const TEXTS = 8 * 1024 * 1024

/** Limit of the input names in an outcome. */
export const NAMES = 10_000

/** Checks the names of rules and codes. Errors: `USAGE`. */
export function requireRules(ids: readonly string[]): void {
  const unknown = ids.find((id) => !RULE_NAMES.includes(id))
  if (unknown !== undefined) throw unknownRule(unknown, RULE_NAMES)
}

/** Returns the settings of a run from options and configuration file; `onFile` as in `readLintConfig`. Errors: those of it. */
export async function settingsOf(
  options: GivenRules & InputOptions,
  fingerprints: boolean,
  io: Io,
  onFile?: (file: string) => void,
): Promise<LintSettings> {
  const { stdinFilename: stdinName, failOnUnmatchedGlobs, ignore = [], gitignore, changed, staged, shard } = options
  const areListed = changed !== undefined || staged === true
  const levels = await readLintConfig(options, io, onFile)
  return {
    levels,
    run: new LintRun({ siteOf }),
    complete: fingerprints ? withFingerprint : undefined,
    stdinName,
    room: roomForFindings(),
    ...(shard && { shard }),
    selection: { mayMiss: !failOnUnmatchedGlobs, ignore, ignores: levels.ignores, gitignore, areListed },
  }
}

interface InputOptions extends SelectionOptions, ChangedOptions {
  readonly stdinFilename: string
  readonly shard?: LintSettings['shard']
}

/** Lints every input. An unreadable input is a failure and the others are linted; an interruption returns the partial outcome. */
export async function lintAll(inputs: readonly string[], settings: LintSettings, io: Io, auth: () => Promise<Auth>): Promise<LintOutcome> {
  const linting = new Linting(settings)
  const found = settings.read ? inputs.map((name): LintInput => ({ name, isListed: true })) : lintInputs(inputs, settings.selection)
  let number = 0
  for await (const input of found) {
    number++
    // A file belongs to one shard as a whole.
    if (settings.shard && !isMine(input.name, settings.shard)) continue
    const document = nameOf(input.name, settings)
    try {
      if ('error' in input) throw input.error
      if (io.signal.aborted) throw new AbortedError(io.signal.reason)
      const isAlone = inputs.length === 1 && !input.isListed
      await linting.lint({ document, number, isAlone, isListed: input.isListed }, piecesOf(input, io, auth, settings.read), io.signal)
    } catch (error) {
      if (!isAuthError(error)) throw error
      linting.fail({ name: 'error' in input || input.name === '-' ? input.name : document, error }, number)
      if (error.code === 'ABORTED') break
    }
    if (linting.isLost) break
  }
  return linting.end()
}

/** How an input is linted. */
interface NumberedInput {
  readonly document: string
  readonly number: number
  /** True if the user named this input alone. */
  readonly isAlone: boolean
  /** True for a file that need not be a STAC document. */
  readonly isListed: boolean | undefined
}

/** The state of a run over inputs. */
class Linting {
  /** True when the connection to the workers is lost, so that there are no further results. */
  isLost = false
  readonly #settings: LintSettings
  readonly #linter: Linter
  readonly #collector: Collector
  readonly #failures: Failure[] = []
  readonly #texts = new Map<string, string>()
  readonly #names: string[] = []
  /** Numbers of the inputs, for `merge`. */
  readonly #numbers = new Map<string, number>()
  /** Collects the results in the order of their pieces. */
  #collected: Promise<void> = Promise.resolve()
  /** The number of the input whose documents are collected. */
  #begun = 0
  #documents = 0
  #skipped = 0
  #room = TEXTS

  constructor(settings: LintSettings) {
    this.#settings = settings
    this.#linter = settings.linter ?? localLinter(settings, settings.shard ? undefined : settings.run)
    this.#collector = new Collector(settings, false)
  }

  /** Lints the pieces of an input. Errors: those of reading, `ABORTED`. */
  async lint(input: NumberedInput, pieces: AsyncIterable<Piece>, signal: AbortSignal): Promise<void> {
    const { document, isAlone, isListed } = input
    const { levels } = this.#settings
    const about = {
      ...{ preset: levels.preset, rules: levels.levelsFor(document), document },
      ...(!isAlone && { skipUnused: true }),
      ...(isListed && { mayBeForeign: true }),
    }
    const found = { linted: 0, foreign: 0 }
    for await (const piece of pieces) {
      const result = piece.oversized
        ? { problems: tooLarge(document, piece.task.line, this.#settings) }
        : this.#linter.lint(piece.task, about)
      // It may reject before it is awaited.
      if (result instanceof Promise) result.catch(() => undefined)
      this.#collected = this.#collected.then(async () => {
        found[(await this.#add(input, piece, result)) ? 'foreign' : 'linted']++
      })
      if (this.#linter.isFull()) await this.#collected
      if (this.isLost) return
      if (signal.aborted) throw new AbortedError(signal.reason)
    }
    this.#collected = this.#collected.then(() => {
      if (found.foreign > 0 && found.linted === 0) this.#skipped++
    })
  }

  #begin({ document, number }: NumberedInput): void {
    if (this.#begun === number) return
    this.#begun = number
    if (this.#names.length < NAMES) this.#names.push(document)
    if (this.#settings.shard && !this.#numbers.has(document)) this.#numbers.set(document, number)
  }

  fail(failure: Failure, number: number): void {
    this.#failures.push(failure)
    if (!this.#numbers.has(failure.name)) this.#numbers.set(failure.name, number)
  }

  /** Collects the remaining results and returns the outcome. */
  async end(): Promise<LintOutcome> {
    await this.#collected
    await this.#list(this.#collector.end())
    const files = { inputs: Object.fromEntries(this.#numbers), pending: this.#collector.pending }
    return {
      documents: this.#documents,
      skipped: this.#skipped,
      found: this.#collector.found,
      failures: this.#failures,
      texts: this.#texts,
      names: this.#names,
      shard: { definitions: [], outerRefs: this.#settings.run.outerRefs.all(), unsettled: [], files },
    }
  }

  /** Adds the result of a task; returns true for a file that is not STAC. */
  async #add(input: NumberedInput, piece: Piece, result: LintResult | Promise<LintResult>): Promise<boolean> {
    if (this.isLost) return false
    const { document, number } = input
    const { documents, text, placed, list } = piece
    const { run, shard } = this.#settings
    try {
      const linted = result instanceof Promise ? await result : result
      if (linted.isForeign) return true
      this.#begin(input)
      run.addOuterRefs(linted.outerRefs ?? [])
      const problems = shard ? linted.problems : compared(linted, run)
      const all = placed ? placed(problems) : problems
      const reported = this.#collector.add(all, list, linted.definitions)
      this.#documents += documents ?? linted.documents ?? 1
      await this.#list(reported)
      if (all.length === 0 || text === undefined || text.length > this.#room) return false
      this.#texts.set(document, new TextDecoder().decode(text))
      this.#room -= text.length
    } catch (error) {
      if (!isAuthError(error)) throw error
      this.fail({ name: document, error }, number)
      this.isLost = error.code !== 'JOB_FAILED'
    }
    return false
  }

  async #list(problems: readonly Problem[]): Promise<void> {
    if (problems.length > 0) await this.#settings.list?.(problems)
  }
}

/** Returns the name of an input in the report. */
function nameOf(name: string, { stdinName }: LintSettings): string {
  return name === '-' ? stdinName : isAddress(name) ? forUrl(name) : name
}

/** Returns the finding of the rule `document-limit` for a document that is too large to read. */
function tooLarge(document: string, line: number | undefined, { levels }: LintSettings): readonly Problem[] {
  const code = 'document-limit'
  const severity = levelOfCode(code, levels.preset, levels.levelsFor(document))
  const message = `larger than ${DOCUMENT_LIMITS.other / 2 ** 20} MiB`
  return severity === 'off' ? [] : [{ rule: code, code, severity, message, document, pointer: '', ...(line !== undefined && { line }) }]
}

/** Lints inputs one by one and keeps only findings: all are counted, and as many are kept as fit in memory. */

import { getHeapStatistics } from 'node:v8'
import type { Auth } from '../../auth/auth.ts'
import { AbortedError, type AuthError, isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { type Comparison, withFingerprint } from '../../lint/baseline.ts'
import { type LevelTable, type LintConfig, levelOfCode, RULE_NAMES } from '../../lint/config.ts'
import { LintRun, type Problem, type Severity, type TextOptions } from '../../lint/index.ts'
import { isRefutable } from '../../lint/lint-run.ts'
import { Repeats, type Shard, type Summary, Totals, withoutRepeats } from '../../lint/reporters/report.ts'
import { DOCUMENT_LIMITS } from '../../stac/document.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { Failure } from '../exit-code.ts'
import { type InputFile, type LintInput, lintInputs, type Selection } from '../inputs/input-files.ts'
import { isForeign, type Piece, piecesOf } from '../inputs/pieces.ts'
import type { Io } from '../io.ts'
import type { ChangedOptions } from './lint-changed.ts'
import { type GivenRules, readLintConfig } from './lint-config.ts'
import { type SelectionOptions, unknownRule } from './lint-options.ts'
import type { LintShard } from './lint-shard.ts'
import { compared, type Linter, type LintResult, localLinter, siteOf } from './linter.ts'

export interface LintSettings {
  readonly levels: LevelTable & { readonly config: LintConfig }
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
  readonly shard?: LintShard
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

/** Limit of different findings that are collected before a list of documents ends. */
const MOST_REPEATS = 5000

/** Limit of findings that are kept until the end of the run; further ones are reported at once. */
const MOST_REFUTABLE = 10_000

/** Limit of the input names in an outcome. */
export const NAMES = 10_000

/** Checks the names of rules and codes. Errors: `USAGE`. */
export function requireRules(ids: readonly string[]): void {
  const unknown = ids.find((id) => !RULE_NAMES.includes(id))
  if (unknown !== undefined) throw unknownRule(unknown, RULE_NAMES)
}

/** Returns the settings of a run from options and configuration file. Errors: those of `readLintConfig`. */
export async function settingsOf(options: GivenRules & InputOptions, fingerprints: boolean, io: Io): Promise<LintSettings> {
  const { stdinFilename: stdinName, failOnUnmatchedGlobs, ignore = [], gitignore, changed, staged, shard, crawl } = options
  const part = shard && !crawl ? new (await import('./lint-shard.ts')).LintShard(shard) : undefined
  const areListed = changed !== undefined || staged === true
  return {
    levels: await readLintConfig(options, io),
    run: part?.run ?? new LintRun({ siteOf }),
    complete: fingerprints ? withFingerprint : undefined,
    stdinName,
    room: roomForFindings(),
    ...(part && { shard: part }),
    selection: { mayMiss: !failOnUnmatchedGlobs, ignore, gitignore, areListed },
  }
}

interface InputOptions extends SelectionOptions, ChangedOptions {
  readonly stdinFilename: string
  readonly shard?: { readonly index: number; readonly of: number }
  readonly crawl?: boolean
}

/** Lints every input. An unreadable input is a failure and the others are linted; an interruption returns the partial outcome. */
export async function lintAll(inputs: readonly string[], settings: LintSettings, io: Io, auth: () => Promise<Auth>): Promise<LintOutcome> {
  const linter = settings.linter ?? localLinter(settings, settings.run)
  const collector = new RunCollector(settings)
  const started: StartedPiece[] = []
  /** Collects results in the order of their requests; returns false to stop the run. */
  const take = async (isEnough: () => boolean): Promise<boolean> => {
    for (let one = started[0]; one && !isEnough(); one = started[0]) {
      started.shift()
      const error = await collector.add(one)
      // The connection is lost, so there are no further results.
      if (error && error.code !== 'JOB_FAILED') return false
    }
    return true
  }
  let number = 0
  const found = settings.read ? inputs.map((name): LintInput => ({ name, isListed: true })) : lintInputs(inputs, settings.selection)
  for await (const input of found) {
    number++
    // A file belongs to one shard as a whole.
    if (settings.shard && !settings.shard.owns(input.name)) continue
    if ('error' in input) {
      collector.fail(input, number)
      continue
    }
    try {
      let skipped = 0
      let linted = 0
      const isAlone = inputs.length === 1 && !input.isListed
      for await (const piece of lintOne(input, isAlone, settings, linter, io, auth)) {
        if (piece === undefined) {
          skipped++
          continue
        }
        if (linted++ === 0) collector.begin(input.name, number)
        started.push({ ...piece, number })
        if (!(await take(() => !linter.isFull()))) return await ended(collector)
        if (io.signal.aborted) throw new AbortedError(io.signal.reason)
      }
      if (skipped > 0 && linted === 0) collector.skipped++
    } catch (error) {
      if (!isAuthError(error)) throw error
      collector.fail({ name: isAddress(input.name) ? forUrl(input.name) : input.name, error }, number)
      if (error.code === 'ABORTED') break
    }
  }
  await take(() => false)
  return ended(collector)
}

async function ended(collector: RunCollector): Promise<LintOutcome> {
  await collector.end()
  return collector
}

/** A piece of an input that is being linted. */
interface StartedPiece {
  readonly name: string
  /** The number of the input. */
  readonly number: number
  readonly piece: Piece
  readonly result: LintResult | Promise<LintResult>
}

/** Yields the pieces of an input; undefined for a piece that is skipped as not STAC. */
async function* lintOne(
  input: InputFile,
  isAlone: boolean,
  settings: LintSettings,
  linter: Linter,
  io: Io,
  auth: () => Promise<Auth>,
): AsyncGenerator<Omit<StartedPiece, 'number'> | undefined> {
  const { name } = input
  const { levels } = settings
  if (io.signal.aborted) throw new AbortedError(io.signal.reason)
  const document = nameOf(name, settings)
  const about = { preset: levels.preset, rules: levels.levelsFor(document), document, ...(!isAlone && { skipUnused: true }) }
  for await (const piece of piecesOf(input, io, auth, settings.read)) {
    if (input.isListed && isForeign(piece)) {
      yield undefined
      continue
    }
    const result = piece.oversized ? { problems: tooLarge(document, piece.task.line, settings) } : linter.lint(piece.task, about)
    // It may reject before it is awaited.
    if (result instanceof Promise) result.catch(() => undefined)
    yield { name, piece, result }
  }
}

/** A finding that a later document may refute, and the number of the document or list that it is in. */
interface Refutable {
  readonly problem: Problem
  readonly block: number
}

/** Collects the outcome of a run. */
class RunCollector implements LintOutcome {
  documents = 0
  skipped = 0
  readonly failures: Failure[] = []
  readonly texts = new Map<string, string>()
  readonly names: string[] = []
  readonly #settings: LintSettings
  readonly #findings: Findings
  /** Findings in the current list of documents. */
  readonly #repeats = new Repeats()
  /** Findings that a later document may refute. */
  readonly #refutable: Refutable[] = []
  #list: object | undefined
  /** Number of documents and of lists of documents so far. */
  #block = 0
  #room = TEXTS

  constructor(settings: LintSettings) {
    this.#settings = settings
    this.#findings = new Findings(settings.room)
  }

  get shard(): Omit<Shard, 'index' | 'of' | 'names'> {
    const { run, shard } = this.#settings
    return { definitions: [], outerRefs: run.outerRefs.all(), unsettled: [], ...(shard && { files: shard.ofFiles() }) }
  }

  get found(): FoundProblems {
    return this.#findings.found()
  }

  begin(name: string, number: number): void {
    if (this.names.length >= NAMES) return
    this.names.push(nameOf(name, this.#settings))
    this.#settings.shard?.mention(nameOf(name, this.#settings), number)
  }

  /** Awaits and adds the result of a piece; returns its error, if any. */
  async add({ name, number, piece, result }: StartedPiece): Promise<AuthError | undefined> {
    const { documents, text, placed, list } = piece
    try {
      const problems = compared(result instanceof Promise ? await result : result, this.#settings.run)
      if (list !== this.#list) await this.#endList()
      if (list === undefined || list !== this.#list) this.#block++
      this.#list = list
      const all = placed ? placed(problems) : problems
      if (all.length > 0) this.#settings.shard?.mention(nameOf(name, this.#settings), number)
      const found = this.#news(this.#withoutRefutable(all))
      this.documents += documents
      if (list) this.#repeats.add(found)
      else await this.#report(withoutRepeats(found))
      if (this.#repeats.size > MOST_REPEATS) await this.#endList()
      if (all.length > 0 && text !== undefined && text.length <= this.#room) {
        this.texts.set(nameOf(name, this.#settings), new TextDecoder().decode(text))
        this.#room -= text.length
      }
      return undefined
    } catch (error) {
      if (!isAuthError(error)) throw error
      this.fail({ name: isAddress(name) ? forUrl(name) : name, error }, number)
      return error
    }
  }

  fail(failure: Failure, number: number): void {
    this.failures.push(failure)
    this.#settings.shard?.mention(failure.name, number)
  }

  /** Reports the remaining findings after the last piece. */
  async end(): Promise<void> {
    await this.#endList()
    const blocks = new Map<number, Problem[]>()
    for (const { problem, block } of this.#refutable.splice(0)) {
      if (this.#settings.run.settled([problem]).length > 0) blocks.set(block, [...(blocks.get(block) ?? []), problem])
    }
    for (const [block, problems] of blocks) await this.#report(withoutRepeats(this.#news(problems)), block)
  }

  /** Keeps findings for the end of the run, or for `merge`, that another document may refute, and returns the others. */
  #withoutRefutable(problems: readonly Problem[]): readonly Problem[] {
    const { shard } = this.#settings
    if (shard) return problems.filter((problem) => !shard.postpones(problem, this.#block, () => this.#news([problem]).length === 0))
    return problems.filter((problem) => {
      if (!isRefutable(problem) || this.#refutable.length >= MOST_REFUTABLE) return true
      this.#refutable.push({ problem, block: this.#block })
      return false
    })
  }

  #news(problems: readonly Problem[]): readonly Problem[] {
    return this.#settings.baseline?.news(problems) ?? problems
  }

  async #endList(): Promise<void> {
    if (this.#repeats.size > 0) await this.#report(this.#repeats.take())
  }

  async #report(problems: readonly Problem[], block = this.#block): Promise<void> {
    if (problems.length === 0) return
    this.#findings.add(problems, block)
    await this.#settings.list?.(problems)
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

/** The kept findings of a run, and the totals of all. */
export interface FoundProblems {
  /** In the order of the report. */
  readonly problems: readonly Problem[]
  readonly totals: Omit<Summary, 'documents' | 'incomplete'>
  /** Findings that are counted and not in `problems`. */
  readonly unlisted: number
}

/** Limit of a report in characters of JSON: half of the longest string in V8. */
const MOST = 256 * 2 ** 20

/** Divisor of the heap size: findings as objects, and while printed, need several times their size as JSON. */
const SHARE = 16

/** Overhead of a finding in characters: its object, and its lines in an indented report. */
const OVERHEAD = 300

/** Returns the limit of kept findings in characters: with 4 GiB of heap about 400,000 findings. */
export function roomForFindings(): number {
  return Math.min(MOST, Math.floor(getHeapStatistics().heap_size_limit / SHARE))
}

type Order = (one: Problem, other: Problem) => number

interface Kept {
  readonly problem: Problem
  readonly at: number
  readonly block: number
  readonly size: number
}

/** Compares findings by document, the order of a crawl report. */
export function byDocument({ document: one = '' }: Pick<Problem, 'document'>, { document: other = '' }: Pick<Problem, 'document'>): number {
  return compare(one, other)
}

/** Compares findings by document, position, and then by all other fields, because several documents may share a name. */
export function inOrder(one: Problem, other: Problem): number {
  return byDocument(one, other) || byPosition(one, other) || byContent(one, other)
}

/** Compares findings of one document by line and column. */
export function byPosition(one: Problem, other: Problem): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
}

function byContent(one: Problem, other: Problem): number {
  return compare(one.code, other.code) || compare(JSON.stringify(one), JSON.stringify(other))
}

/** Compares findings of a document, so that the order of those in one place does not depend on when they were added. */
function byPlace(one: Problem, other: Problem): number {
  return byPosition(one, other) || (one.line === undefined ? 0 : byContent(one, other))
}

/** Compares texts by their UTF-16 units. */
export function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, warn: 1, info: 2 }

/**
 * Counts findings and keeps the most severe ones. The selection does not depend on the order in which a crawl reads its documents.
 */
export class Findings {
  readonly #totals = new Totals()
  readonly #room: number
  readonly #order: Order
  #kept: Kept[] = []
  #size = 0

  /**
   * @param room limit in characters of JSON; 0 keeps nothing, `Infinity` everything
   * @param order the order of documents; default: that in which their findings are added
   */
  constructor(room: number, order: Order = () => 0) {
    this.#room = room
    this.#order = order
  }

  /** @param block number of the document or list; its findings are listed together, by position */
  add(problems: readonly Problem[], block = 0): void {
    for (const problem of problems) {
      this.#totals.add(problem)
      if (this.#room === 0) continue
      const size = Number.isFinite(this.#room) ? JSON.stringify(problem).length + OVERHEAD : 0
      this.#kept.push({ problem, at: this.#totals.findings, block, size })
      this.#size += size
      // Cut at twice the limit, so that sorting is rare.
      if (this.#size > 2 * this.#room) this.#cut()
    }
  }

  /** Returns the findings so far. More may be added afterwards. */
  found(): FoundProblems {
    if (this.#size > this.#room) this.#cut()
    const problems = this.#kept.sort((one, other) => this.#compare(one, other)).map(({ problem }) => problem)
    return { problems, totals: this.#totals.summary(), unlisted: this.#totals.findings - problems.length }
  }

  #compare(one: Kept, other: Kept): number {
    return this.#order(one.problem, other.problem) || one.block - other.block || byPlace(one.problem, other.problem) || one.at - other.at
  }

  /** Removes the least severe findings beyond the limit. */
  #cut(): void {
    const worstFirst = this.#kept.sort(
      (one, other) => RANK[one.problem.severity] - RANK[other.problem.severity] || this.#compare(one, other),
    )
    let size = 0
    const end = worstFirst.findIndex((kept) => {
      if (size + kept.size > this.#room) return true
      size += kept.size
      return false
    })
    this.#kept = worstFirst.slice(0, end < 0 ? worstFirst.length : end)
    this.#size = size
  }
}

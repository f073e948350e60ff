/** Lints inputs one after the other and keeps only findings, as many as there is room for. */
import type { Auth } from '../../auth/auth.ts'
import { AbortedError, type AuthError, isAuthError } from '../../errors.ts'
import type { Comparison } from '../../lint/baseline.ts'
import { withFingerprint } from '../../lint/baseline.ts'
import type { LevelTable, LintConfig } from '../../lint/config.ts'
import { LintRun, type Problem, type TextOptions } from '../../lint/index.ts'
import { levelOfCode, RULE_NAMES } from '../../lint/levels.ts'
import { Repeats, withoutRepeats } from '../../lint/repeated.ts'
import type { ShardDefinition } from '../../lint/reporters/report.ts'
import { DOCUMENT_LIMITS } from '../../stac/json.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { Failure } from '../exit-code.ts'
import { isForeign } from '../inputs/foreign.ts'
import { type Piece, piecesOf } from '../inputs/pieces.ts'
import type { Io } from '../io.ts'
import { isAddress } from '../read-document.ts'
import { usageError } from '../usage.ts'
import { Findings, type Found as FoundProblems, roomForFindings } from './findings.ts'
import type { ChangedOptions } from './lint-changed.ts'
import { type GivenRules, readLintConfig } from './lint-config.ts'
import { type Found, type LintInput, lintInputs, type Selection } from './lint-inputs.ts'
import type { SelectionOptions } from './lint-options.ts'
import { compared, type Judged, type Linter, localLinter } from './linter.ts'

export interface LintSettings {
  readonly levels: LevelTable & { readonly config: LintConfig }
  /** What the documents have in common. */
  readonly run: LintRun
  /** What is added to each finding. */
  readonly complete: TextOptions['complete']
  /** What standard input is called in findings. */
  readonly stdinName: string
  /** What is left out of folders and globs. */
  readonly selection: Selection
  /** What holds the findings that are known, so that only the others are reported. */
  readonly baseline?: Comparison
  /** Characters of findings that are kept for the report. */
  readonly room: number
  /** Hears the findings of each piece, in the order of the documents; the run goes on when it is done. */
  readonly list?: (problems: readonly Problem[]) => Promise<void>
  /** Other processes that judge; default: this one. */
  readonly linter?: Linter
  /** Where the bytes of inputs are that are not to be read from their files; then inputs are names of files only. */
  readonly read?: (name: string) => AsyncIterable<Uint8Array>
}

/** What was found, and what could not be looked at. */
export interface LintOutcome {
  readonly documents: number
  /** Files of folders and globs that are no STAC documents. */
  readonly skipped: number
  readonly found: FoundProblems
  readonly failures: readonly Failure[]
  /** Texts of the first documents with findings by name, as many as {@link TEXTS} units hold. */
  readonly texts: ReadonlyMap<string, string>
  /** Names of the first inputs, at most {@link NAMES}. */
  readonly names: readonly string[]
  /** Schemes of a crawl, for its other parts. */
  readonly definitions?: readonly ShardDefinition[]
}

/** UTF-16 units of text kept for the lines that a report shows; what is left out is shown without its lines. */
const TEXTS = 8 * 1024 * 1024

/** Different findings of a list of documents that wait for its end, so that memory has room for them. */
const MOST_REPEATS = 5000

/** Names of inputs that an outcome keeps. */
export const NAMES = 10_000

/** Errors: `USAGE` for the name of no rule and no case. */
export function requireRules(ids: readonly string[]): void {
  const unknown = ids.find((id) => !RULE_NAMES.includes(id))
  if (unknown !== undefined) throw usageError(`there is no rule "${unknown}"`, 'stac-auth rules lists them')
}

/** What the command line says about a run, and the configuration that it names. Errors: those of `readLintConfig`. */
export async function settingsOf(options: GivenRules & InputOptions, fingerprints: boolean, io: Io): Promise<LintSettings> {
  const { stdinFilename: stdinName, failOnUnmatchedGlobs, ignore = [], gitignore, changed, staged } = options
  const areListed = changed !== undefined || staged === true
  return {
    levels: await readLintConfig(options, io),
    run: new LintRun(),
    complete: fingerprints ? withFingerprint : undefined,
    stdinName,
    room: roomForFindings(),
    selection: { mayMiss: !failOnUnmatchedGlobs, ignore, gitignore, areListed },
  }
}

interface InputOptions extends SelectionOptions, ChangedOptions {
  readonly stdinFilename: string
}

/** Lints every input. One that cannot be read is a failure and the rest goes on; an interruption ends it with what there is. */
export async function lintAll(inputs: readonly string[], settings: LintSettings, io: Io, auth: () => Promise<Auth>): Promise<LintOutcome> {
  const linter = settings.linter ?? localLinter(settings.complete, settings.run)
  const gathered = new Gathered(settings)
  const begun: Begun[] = []
  /** Takes results in the order in which they were asked for; false when nothing more is to be asked. */
  const take = async (isEnough: () => boolean): Promise<boolean> => {
    for (let one = begun[0]; one && !isEnough(); one = begun[0]) {
      begun.shift()
      const error = await gathered.add(one)
      // The next result would not come either.
      if (error && error.code !== 'JOB_FAILED') return false
    }
    return true
  }
  const found = settings.read ? inputs.map((name): LintInput => ({ name, isListed: true })) : lintInputs(inputs, settings.selection)
  for await (const input of found) {
    if ('error' in input) {
      gathered.fail(input)
      continue
    }
    try {
      let skipped = 0
      let judged = 0
      for await (const piece of lintOne(input, settings, linter, io, auth)) {
        if (piece === undefined) {
          skipped++
          continue
        }
        if (judged++ === 0) gathered.begin(input.name)
        begun.push(piece)
        if (!(await take(() => !linter.isFull()))) return await ended(gathered)
        if (io.signal.aborted) throw new AbortedError(io.signal.reason)
      }
      if (skipped > 0 && judged === 0) gathered.skipped++
    } catch (error) {
      if (!isAuthError(error)) throw error
      gathered.fail({ name: isAddress(input.name) ? forUrl(input.name) : input.name, error })
      if (error.code === 'ABORTED') break
    }
  }
  await take(() => false)
  return ended(gathered)
}

async function ended(gathered: Gathered): Promise<LintOutcome> {
  await gathered.end()
  return gathered
}

/** A piece of an input that is being judged. */
interface Begun {
  readonly name: string
  readonly piece: Piece
  readonly judged: Judged | Promise<Judged>
}

/** The pieces of an input, undefined for one that is no STAC document and is not told about. */
async function* lintOne(
  input: Found,
  settings: LintSettings,
  linter: Linter,
  io: Io,
  auth: () => Promise<Auth>,
): AsyncGenerator<Begun | undefined> {
  const { name } = input
  const { levels } = settings
  if (io.signal.aborted) throw new AbortedError(io.signal.reason)
  const document = nameOf(name, settings)
  const about = { preset: levels.preset, rules: levels.levelsFor(document), document }
  for await (const piece of piecesOf(input, io, auth, settings.read)) {
    if (input.isListed && isForeign(piece)) {
      yield undefined
      continue
    }
    const judged = piece.oversized ? { problems: tooLarge(document, settings) } : linter.lint(piece.task, about)
    // It may fail before its turn comes.
    if (judged instanceof Promise) judged.catch(() => undefined)
    yield { name, piece, judged }
  }
}

/** What a run has led to so far. */
class Gathered implements LintOutcome {
  documents = 0
  skipped = 0
  readonly failures: Failure[] = []
  readonly texts = new Map<string, string>()
  readonly names: string[] = []
  readonly #settings: LintSettings
  readonly #findings: Findings
  /** Findings in the list of documents whose pieces come now. */
  readonly #repeats = new Repeats()
  #list: object | undefined
  #room = TEXTS

  constructor(settings: LintSettings) {
    this.#settings = settings
    this.#findings = new Findings(settings.room)
  }

  get found(): FoundProblems {
    return this.#findings.found()
  }

  begin(name: string): void {
    if (this.names.length < NAMES) this.names.push(nameOf(name, this.#settings))
  }

  /** Adds a piece when its result is there, or the error that is there instead. */
  async add({ name, piece: { documents, text, placed, list }, judged }: Begun): Promise<AuthError | undefined> {
    try {
      const problems = compared(judged instanceof Promise ? await judged : judged, this.#settings.run)
      const all = placed ? placed(problems) : problems
      const found = this.#settings.baseline?.news(all) ?? all
      this.documents += documents
      if (list !== this.#list) await this.#endList()
      this.#list = list
      if (list) this.#repeats.add(found)
      else await this.#report(withoutRepeats(found))
      if (this.#repeats.size > MOST_REPEATS) await this.#endList()
      if (found.length > 0 && text !== undefined && text.length <= this.#room) {
        this.texts.set(nameOf(name, this.#settings), new TextDecoder().decode(text))
        this.#room -= text.length
      }
      return undefined
    } catch (error) {
      if (!isAuthError(error)) throw error
      this.fail({ name: isAddress(name) ? forUrl(name) : name, error })
      return error
    }
  }

  fail(failure: Failure): void {
    this.failures.push(failure)
  }

  /** Reports what is left when all pieces were added. */
  end(): Promise<void> {
    return this.#endList()
  }

  async #endList(): Promise<void> {
    if (this.#repeats.size > 0) await this.#report(this.#repeats.take())
  }

  async #report(problems: readonly Problem[]): Promise<void> {
    if (problems.length === 0) return
    this.#findings.add(problems)
    await this.#settings.list?.(problems)
  }
}

/** The name of an input in the report. */
function nameOf(name: string, { stdinName }: LintSettings): string {
  return name === '-' ? stdinName : isAddress(name) ? forUrl(name) : name
}

/** A document that was not read to its end is a finding, of the rule that stands for limits. */
function tooLarge(document: string, { levels }: LintSettings): readonly Problem[] {
  const code = 'document-limit'
  const severity = levelOfCode(code, levels.preset, levels.levelsFor(document))
  const message = `larger than ${DOCUMENT_LIMITS.other / 2 ** 20} MiB`
  return severity === 'off' ? [] : [{ rule: code, code, severity, message, document, pointer: '' }]
}

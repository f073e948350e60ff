/** Lints inputs one after the other and keeps only the findings. */
import type { Auth } from '../auth/auth.ts'
import { AbortedError, type AuthError, isAuthError } from '../errors.ts'
import { type Levels, type Preset, type Problem, rules } from '../lint/index.ts'
import { DOCUMENT_LIMITS } from '../stac/limits.ts'
import { forUrl } from '../text/sanitize.ts'
import { piecesOf } from './inputs/pieces.ts'
import type { Io } from './io.ts'
import { lintInputs } from './lint-inputs.ts'
import { isAddress } from './read-document.ts'
import { usageError } from './usage.ts'

export interface LintSettings {
  readonly preset: Preset
  readonly levels: Levels
  /** What standard input is called in findings. */
  readonly stdinName: string
  /** True when a glob may match nothing. */
  readonly mayMiss?: boolean
}

/** What was found, and what could not be looked at. */
export interface LintOutcome {
  readonly documents: number
  readonly problems: readonly Problem[]
  readonly failures: readonly LintFailure[]
  /** Texts of the first documents with findings by name, as many as {@link TEXTS} units hold. */
  readonly texts: ReadonlyMap<string, string>
}

/** UTF-16 units of text kept for the lines that a report shows; what is left out is shown without its lines. */
const TEXTS = 8 * 1024 * 1024

export interface LintFailure {
  readonly name: string
  readonly error: AuthError
  /** The exit code, where it is not that of the error: 0 for what the user asked to leave out. */
  readonly exit?: number
}

/** Errors: `USAGE` for a rule that does not exist. */
export function requireRules(levels: Levels): void {
  const unknown = Object.keys(levels).find((id) => !rules.some(({ meta }) => meta.id === id))
  if (unknown !== undefined) throw usageError(`there is no rule "${unknown}"`, 'stac-auth rules lists them')
}

/** Lints every input. One that cannot be read is a failure and the rest goes on; an interruption ends it with what there is. */
export async function lintAll(inputs: readonly string[], settings: LintSettings, io: Io, auth: () => Promise<Auth>): Promise<LintOutcome> {
  const problems: Problem[] = []
  const failures: LintFailure[] = []
  const texts = new Map<string, string>()
  let documents = 0
  let room = TEXTS
  for await (const input of lintInputs(inputs, settings.mayMiss)) {
    if ('error' in input) {
      failures.push(input)
      continue
    }
    try {
      const linted = lintOne(input.name, settings, io, auth)
      for await (const { documents: count, found, text } of linted) {
        if (io.signal.aborted) throw new AbortedError(io.signal.reason)
        documents += count
        problems.push(...found)
        if (found.length > 0 && text !== undefined && text.length <= room) {
          texts.set(nameOf(input.name, settings), new TextDecoder().decode(text))
          room -= text.length
        }
      }
    } catch (error) {
      if (!isAuthError(error)) throw error
      failures.push({ name: isAddress(input.name) ? forUrl(input.name) : input.name, error })
      if (error.code === 'ABORTED') break
    }
  }
  return { documents, problems, failures, texts }
}

/** What is wrong with a piece of an input. */
interface Linted {
  readonly documents: number
  readonly found: readonly Problem[]
  /** All of the input, when the piece is that. */
  readonly text?: Uint8Array
}

async function* lintOne(name: string, settings: LintSettings, io: Io, auth: () => Promise<Auth>): AsyncGenerator<Linted> {
  const { preset, levels } = settings
  if (io.signal.aborted) throw new AbortedError(io.signal.reason)
  const document = nameOf(name, settings)
  for await (const piece of piecesOf(name, io, auth)) {
    const { documents, text, oversized } = piece
    const found = oversized ? tooLarge(document, settings) : piece.lint({ preset, rules: levels, document })
    yield { documents, found, ...(text && { text }) }
  }
}

/** The name of an input in the report. */
function nameOf(name: string, { stdinName }: LintSettings): string {
  return name === '-' ? stdinName : isAddress(name) ? forUrl(name) : name
}

/** A document that was not read to its end is a finding, of the rule that stands for limits. */
function tooLarge(document: string, { preset, levels }: LintSettings): readonly Problem[] {
  const rule = 'document-limit'
  const severity = levels[rule] ?? rules.find(({ meta }) => meta.id === rule)?.meta.severity[preset] ?? 'error'
  const message = `larger than ${DOCUMENT_LIMITS.other / 2 ** 20} MiB`
  return severity === 'off' ? [] : [{ rule, severity, message, document, pointer: '' }]
}

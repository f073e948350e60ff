/** Lints inputs one after the other and keeps only the findings. */
import type { Auth } from '../auth/auth.ts'
import { AbortedError, type AuthError, isAuthError } from '../errors.ts'
import { type Levels, lintText, type Preset, type Problem, rules } from '../lint/index.ts'
import { forUrl } from '../text/sanitize.ts'
import type { Io } from './io.ts'
import { lintInputs } from './lint-inputs.ts'
import { readInput } from './read-bytes.ts'
import { fetchBytes, isAddress } from './read-document.ts'
import { usageError } from './usage.ts'

export interface LintSettings {
  readonly preset: Preset
  readonly levels: Levels
  /** What standard input is called in findings. */
  readonly stdinName: string
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
  for await (const input of lintInputs(inputs)) {
    if ('error' in input) {
      failures.push(input)
      continue
    }
    try {
      if (io.signal.aborted) throw new AbortedError(io.signal.reason)
      const { document, found, text } = await lintOne(input.name, settings, io, auth)
      documents++
      problems.push(...found)
      if (found.length > 0 && text !== undefined && text.length <= room) {
        texts.set(document, text)
        room -= text.length
      }
    } catch (error) {
      if (!isAuthError(error)) throw error
      failures.push({ name: isAddress(input.name) ? forUrl(input.name) : input.name, error })
      if (error.code === 'ABORTED') break
    }
  }
  return { documents, problems, failures, texts }
}

/** What is wrong with one document, under the name that it has in the report. */
interface Linted {
  readonly document: string
  readonly found: readonly Problem[]
  readonly text?: string
}

async function lintOne(name: string, settings: LintSettings, io: Io, auth: () => Promise<Auth>): Promise<Linted> {
  const { preset, levels } = settings
  const document = name === '-' ? settings.stdinName : isAddress(name) ? forUrl(name) : name
  try {
    const { body, url } = isAddress(name)
      ? await fetchBytes(name, io.signal, await auth())
      : { body: await readInput(name, io), url: undefined }
    const found = lintText(body, { preset, rules: levels, document, ...(url !== undefined && { url }) })
    return found.length > 0 ? { document, found, text: new TextDecoder().decode(body) } : { document, found }
  } catch (error) {
    if (isAuthError(error) && error.code === 'DOC_TOO_LARGE') return { document, found: tooLarge(error.message, document, settings) }
    throw error
  }
}

/** A document that was not read to its end is a finding, of the rule that stands for limits. */
function tooLarge(message: string, document: string, { preset, levels }: LintSettings): readonly Problem[] {
  const rule = 'document-limit'
  const severity = levels[rule] ?? rules.find(({ meta }) => meta.id === rule)?.meta.severity[preset] ?? 'error'
  return severity === 'off' ? [] : [{ rule, severity, message, document, pointer: '' }]
}

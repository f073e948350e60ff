/** The record of an unfinished translation, beside its first output: `translate --resume` continues from it. It holds no key. */

import { randomUUID } from 'node:crypto'
import { lstat, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { AuthError, ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import { bareAddress, isAddress } from '../../http/url.ts'
import { newPath, writeNewFile } from '../../node/base/index.ts'
import type { TranslateParams, TranslationClient } from '../../services/translation/index.ts'
import { own, ownString } from '../../stac/document.ts'
import { commandWord } from '../../text/shell-word.ts'
import type { Context } from '../context.ts'
import { replacePrivateFile } from '../credentials/edit-credentials.ts'
import { withHint } from '../io.ts'
import type { TranslateOptions } from './open-client.ts'
import { hashOf, memoryIn, type TextMemory } from './text-memory.ts'

/** An input in a record. */
export interface RecordedInput {
  /** Absolute path, URL, or `-` for standard input; `text` for an argument. */
  readonly name: string
  /** The text of an argument. */
  readonly text?: string
  /** Absolute path of its output; undefined for stdout. */
  readonly output?: string
  /** Hash of its content; an input that has changed is refused. */
  readonly sha256: string
  /** True when it was delivered completely. */
  readonly done?: boolean
  /** Hash of an incomplete output, which may be replaced. */
  readonly written?: string
}

export interface ResumeRecord {
  readonly kind: 'texts' | 'catalog'
  /** Origin of the service. */
  readonly service: string
  readonly params: TranslateParams
  readonly inputs: readonly RecordedInput[]
  readonly texts: TextMemory
}

/**
 * Returns a record in a parsed file; undefined for any other file. Errors: `CONFIG_INVALID` for a damaged record, or another service;
 * `PATH_UNSAFE` for an output that is not beside the record, which may come from others.
 */
export async function recordIn(parsed: unknown, file: string, client: TranslationClient): Promise<ResumeRecord | undefined> {
  const kind = ownString(parsed, 'kind')
  if (kind !== 'texts' && kind !== 'catalog') return undefined
  const [params, inputs, texts, service] = [
    own(parsed, 'params'),
    own(parsed, 'inputs'),
    memoryIn(own(parsed, 'texts')),
    ownString(parsed, 'service'),
  ]
  const isText = (value: unknown) => value === undefined || typeof value === 'string'
  const isInput = (input: unknown) =>
    ownString(input, 'name') !== undefined &&
    ownString(input, 'sha256') !== undefined &&
    ['text', 'output', 'written'].every((name) => isText(own(input, name)))
  if (ownString(params, 'target_lang') === undefined || !texts || !Array.isArray(inputs) || !inputs.every(isInput))
    throw new ConfigurationError('CONFIG_INVALID', `the resume file "${file}" is damaged; nothing was sent`)
  checkService(file, service, client)
  if (!(await isSpare(file))) for (const { output } of inputs as RecordedInput[]) await checkBeside(file, output)
  return { kind, service: client.origin ?? '', params: params as TranslateParams, inputs: inputs as RecordedInput[], texts }
}

/** True for a record that this user's own command wrote into the temporary folder, into which others can write too. */
async function isSpare(file: string): Promise<boolean> {
  if (dirname(resolve(file)) !== tmpdir() || !SPARE.test(basename(file))) return false
  const status = await lstat(file)
  return status.isFile() && (process.getuid === undefined || status.uid === process.getuid())
}

async function checkBeside(file: string, output = file): Promise<void> {
  const [folder, other] = await Promise.all([file, output].map((path) => realpath(dirname(path)).catch(() => undefined)))
  if (folder === other) return
  const hint = 'a record only writes into its own folder: move it back, or remove it to translate anew'
  throw new IntegrityError('PATH_UNSAFE', `"${output}" is not in the folder of the resume file "${file}"; nothing was sent`, { hint })
}

/** Checks that a resume file belongs to the service of the client. Errors: `CONFIG_INVALID`. */
export function checkService(file: string, service: string | undefined, client: TranslationClient): void {
  if (service === client.origin) return
  const problem = `the translation of "${file}" is at ${service ?? 'another service'}, not at ${client.origin}`
  throw new ConfigurationError('CONFIG_INVALID', problem, { hint: 'give the same --base-url or --plan as before' })
}

/** Checks that an input is what it was. Errors: `FILE_CHANGED`. */
export function checkSame({ name, sha256 }: RecordedInput, content: string | Uint8Array, file: string): void {
  if (hashOf(content) === sha256) return
  const what = name === '-' ? 'standard input differs from the text' : `"${nameOf(name)}" has changed since its translation`
  const hint = `give the same text, or remove ${commandWord(file)} to translate it anew`
  throw new IntegrityError('FILE_CHANGED', `${what} that began with "${file}"; nothing was sent`, { hint })
}

/** Returns the name of an input for messages; without the query of a URL, which may be a secret. */
export function nameOf(name: string): string {
  return name === '-' ? 'standard input' : isAddress(name) ? bareAddress(name) : name
}

/** The file of the record of one command. */
export class ResumeFile {
  #path: string
  #isKept: boolean
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined
  readonly #head: () => Omit<ResumeRecord, 'texts'>
  readonly #context: Context

  /**
   * @param path undefined for a file in the temporary folder, because there is no output to put it beside
   * @param isKept true if the file exists and is continued
   * @param head the record without its texts
   */
  constructor(path: string | undefined, isKept: boolean, head: () => Omit<ResumeRecord, 'texts'>, context: Context) {
    this.#path = path ?? spareFile()
    this.#isKept = isKept
    this.#head = head
    this.#context = context
  }

  /** Writes the record. Calls while it is written share the next write. Never rejects: where it cannot be written, a warning says so. */
  save(texts: TextMemory): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      this.#running = this.#write(texts)
      return this.#running
    })
    return this.#next
  }

  async remove(): Promise<void> {
    if (this.#isKept) await rm(this.#path, { force: true })
    this.#isKept = false
  }

  /** Returns the command that continues; undefined if nothing could be kept. */
  command({ baseUrl, plan, credentials, memory }: TranslateOptions): string | undefined {
    if (!this.#isKept) return undefined
    const given = { '--base-url': baseUrl, '--plan': plan, '--credentials': credentials, '--memory': memory }
    const options = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name, commandWord(value)]))
    const isRead = this.#head().inputs.some(({ name, done }) => name === '-' && !done)
    return ['stac-auth translate --resume', commandWord(this.#path), ...options, ...(isRead ? ['< TEXT'] : [])].join(' ')
  }

  async #write(texts: TextMemory): Promise<void> {
    const make = async () => `${JSON.stringify({ version: 1, ...this.#head(), texts: Object.fromEntries(texts) }, undefined, 1)}\n`
    const { diagnostics } = this.#context
    try {
      await replacePrivateFile(this.#path, make)
      this.#isKept = true
    } catch (error) {
      const why = isAuthError(error) ? error.message : this.#path
      const spare = spareFile()
      const isKept = await replacePrivateFile(spare, make).then(
        () => true,
        () => false,
      )
      if (!isKept) return diagnostics.warn({ code: 'HANDLE_LOST', message: `${why}: an interrupted translation cannot be resumed` })
      this.#path = spare
      this.#isKept = true
      diagnostics.warn({ code: 'HANDLE_ELSEWHERE', message: `${why}: the resume file is ${spare} until the translation is complete` })
    }
  }
}

/** Names of records that are not beside their outputs. */
const SPARE = /^stac-auth-[\da-f-]{36}\.resume\.json$/

function spareFile(): string {
  return join(tmpdir(), `stac-auth-${randomUUID()}.resume.json`)
}

/** Returns the name of the record beside an output. */
export function recordFileOf(output: string): string {
  return `${output}.resume.json`
}

/** Checks that there is no record beside an output yet. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`. */
export async function checkNoRecord(output: string): Promise<void> {
  const file = recordFileOf(output)
  await newPath(file).catch((error: unknown) => {
    if (!isAuthError(error) || error.code !== 'PATH_EXISTS') throw error
    const hint = `continue it with: stac-auth translate --resume ${commandWord(file)} (or remove the file to begin again)`
    throw new IntegrityError('PATH_EXISTS', `"${file}" exists already: it is the record of a translation that is not finished`, { hint })
  })
}

/** Checks that an output may be written: it is new, or the incomplete one of a record. Errors: those of `newPath`. */
export async function checkOutput({ output = '', written }: Pick<RecordedInput, 'output' | 'written'>): Promise<string> {
  return newPath(output, await mayReplace(output, written))
}

/** Writes an output and returns its hash. Errors: those of `writeNewFile`. */
export async function writeOutput({ output = '', written }: Pick<RecordedInput, 'output' | 'written'>, text: string): Promise<string> {
  await writeNewFile(output, async () => Readable.from([Buffer.from(text)]), await mayReplace(output, written))
  return hashOf(text)
}

async function mayReplace(output: string, written: string | undefined): Promise<boolean> {
  if (written === undefined || !(await lstat(output).catch(() => undefined))?.isFile()) return false
  return hashOf(await readFile(output).catch(() => '')) === written
}

/** A text that is not translated. */
export interface MissingText {
  /** The input, for messages. */
  readonly input: string
  /** Number of a paragraph from 1, or a JSON pointer; undefined for a whole input. */
  readonly place?: number | string
  readonly error: AuthError
  readonly notSent: boolean
}

/**
 * Returns the error of a command whose texts are not all translated: `BATCH_INCOMPLETE` with a reason for each cause, `ABORTED` after an
 * interruption.
 *
 * @param total number of texts
 * @param next the command that continues
 */
export function incomplete(missing: readonly MissingText[], total: number, next: string | undefined, signal: AbortSignal): AuthError {
  const hint = next === undefined ? 'run the command again' : `continue with: ${next}`
  const kept = total === 0 ? '' : `${total - missing.length} of ${total} texts are translated and kept; `
  if (signal.aborted) return new AuthError('ABORTED', 'interrupted', { hint: kept + hint })
  const groups = new Map<string, MissingText[]>()
  for (const one of missing) {
    const key = JSON.stringify([one.input, one.notSent, one.error.message])
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  const reasons = [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const { input, error, notSent } = first
    const places = placesText(group.flatMap(({ place }) => place ?? []))
    return [new AuthError(error.code, `${input}${places}${notSent ? ' (not sent)' : ''}: ${error.message}`)]
  })
  return new AuthError('BATCH_INCOMPLETE', `${missing.length} of ${total} texts are not translated`, { hint, reasons })
}

/** Most places that a message names. */
const NAMED = 8

/** Returns the places as text: `, paragraphs 3, 5-9`; `, /title, /description and 12 more`. */
function placesText(places: readonly (number | string)[]): string {
  const runs: { readonly from: number | string; to: number | string }[] = []
  for (const place of places) {
    const last = runs.at(-1)
    if (typeof place === 'number' && last?.to === place - 1) last.to = place
    else runs.push({ from: place, to: place })
  }
  const shown = runs.slice(0, NAMED).map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`))
  const more = runs.length - shown.length
  const word = typeof places[0] === 'number' ? `paragraph${places.length === 1 ? '' : 's'} ` : ''
  return shown.length === 0 ? '' : `, ${word}${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Returns an error with a further hint. */
export function withNext(error: AuthError, next: string | undefined): AuthError {
  if (next === undefined) return error
  const hint = [error.hint, `continue with: ${next}`].flatMap((one) => one ?? []).join('\n')
  return withHint(error, hint)
}

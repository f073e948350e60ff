/** `translate`: translates texts, text files and documents, and continues what was not finished. */

import { readFile, stat } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import { AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import { makeFolder, writeFailure } from '../../node/base/index.ts'
import type { TextOutcome, TranslateParams, TranslationClient } from '../../services/translation/index.ts'
import type { Context } from '../context.ts'
import { EXIT, exitCodeOf, usageError } from '../exit-code.ts'
import { type Io, isBrokenPipe, write } from '../io.ts'
import { jsonIn, readInput, readText } from '../read-document.ts'
import { jsonText } from '../records.ts'
import { catalogAgain } from './catalog.ts'
import { checkHandleFile, handleFileOf, resumeFile, translateFile } from './documents.ts'
import { noteUsage, openClient, paramsOf, printUsage, type TranslateOptions } from './open-client.ts'
import { PaidTexts } from './paid-texts.ts'
import {
  checkNoRecord,
  checkOutput,
  checkSame,
  incomplete,
  type MissingText,
  nameOf,
  type RecordedInput,
  ResumeFile,
  type ResumeRecord,
  recordFileOf,
  recordIn,
  withNext,
  writeOutput,
} from './resume-record.ts'
import { addToMemory, hashOf, readMemory, type TextMemory } from './text-memory.ts'
import { paragraphsOf, type TextPiece } from './text-pieces.ts'

/** Translates all inputs, texts in as few requests as possible, and returns the exit code. Errors: those of reading, of the client and of writing. */
export async function translate(inputNames: readonly string[], options: TranslateOptions, context: Context): Promise<number> {
  if (options.resume !== undefined) return resume(options.resume, inputNames, options, context)
  if (options.usage && inputNames.length === 0 && options.to === undefined) return printUsage(options, context)
  const params = paramsOf(options)
  const client = await openClient(context, options)
  const inputs = await inputsOf(inputNames, options, params.target_lang, context.io)
  await checkOutputs(inputs, options)
  return finishAll({ client, params, inputs, options, context })
}

/** Continues from a resume file: that of a document, or the record of a command. Errors: `USAGE`, `CONFIG_INVALID`, `FILE_CHANGED`. */
async function resume(file: string, inputNames: readonly string[], options: TranslateOptions, context: Context): Promise<number> {
  if (inputNames.length > 0 || options.outputDir !== undefined || options.text || options.to !== undefined)
    throw usageError('--resume continues with what its file names: it excludes texts, files, --to, --output-dir and --text')
  const client = await openClient(context, options)
  const parsed = jsonIn(await readInput(file, context.io))
  const record = await recordIn(parsed, file, client)
  if (record?.kind === 'catalog') return catalogAgain(file, record, client, undefined, options, context)
  if (record) {
    const { params, inputs: recorded, texts } = record
    if (options.output !== undefined) throw usageError('--resume writes to the outputs that its file names: remove --output')
    const inputs: Input[] = []
    for (const input of recorded) inputs.push(await inputAgain(input, file, context.io))
    for (const input of inputs) if (input.output !== undefined && !input.done) await checkOutput(input)
    return finishAll({ client, params, inputs, options, context, file, known: texts })
  }
  const { output, status } = await resumeFile(client, file, parsed, options.output, context)
  if (options.json) await write(context.io.stdout, jsonText([{ input: file, output, ...billed(status) }]))
  else if (options.usage) await noteUsage(client, context)
  return EXIT.done
}

/** The work of one command. */
interface Work {
  readonly client: TranslationClient
  readonly params: TranslateParams
  readonly inputs: readonly Input[]
  readonly options: TranslateOptions
  readonly context: Context
  /** The record that is continued. */
  readonly file?: string
  readonly known?: TextMemory
}

/** The result of one input, for `--json`. */
interface TranslatedInput {
  /** The file, `-` for standard input, `text` for an argument. */
  readonly input: string
  /** The file that was written. */
  readonly output?: string
  /** The translation, where no file was written. */
  readonly text?: string
  /** Language of a text that the service detected. */
  readonly detected_source_language?: string
  /** Characters of a document that were billed. */
  readonly billed_characters?: number
  /** Numbers of the paragraphs that are not translated, with `code` and `message`. */
  readonly missing?: readonly { readonly paragraph: number; readonly code: string; readonly message: string }[]
}

/** What became of the inputs. */
interface Results {
  readonly printed: Map<Input, TranslatedInput>
  readonly missing: MissingText[]
  readonly failures: AuthError[]
}

/** Translates what is not done, writes what is finished, and keeps a record of it until all is. */
async function finishAll(work: Work): Promise<number> {
  const { client, params, inputs, options, context, file } = work
  const { io } = context
  const memory = options.memory === undefined ? new Map() : await readMemory(options.memory)
  const known: TextMemory = new Map([...memory, ...(work.known ?? [])])
  const head = (): Omit<ResumeRecord, 'texts'> => ({ kind: 'texts', service: client.origin ?? '', params, inputs: inputs.map(recordOf) })
  const first = inputs.find(({ output }) => output !== undefined)?.output
  const record = new ResumeFile(file ?? (first && recordFileOf(first)), file !== undefined, head, context)
  const paid = new PaidTexts({ client, known, signal: io.signal, save: (texts) => record.save(texts) })
  const results: Results = { printed: new Map(), missing: [], failures: [] }
  const total = await translateTexts(paid, work, results)
  const hasTexts = paid.finished.size > 0
  const documents = inputs.filter((input) => input.kind === 'document' && !input.done) as DocumentInput[]
  if (documents.length > 0 && hasTexts) await record.save(paid.finished)
  for (const input of documents) await translateDocument(input, work, results)
  // A memory that cannot be written takes nothing away from what was paid for.
  if (options.memory !== undefined && hasTexts) await addToMemory(options.memory, paid.finished).catch(failed(results))
  await printJson(inputs, results, options, io)
  const { missing, failures } = results
  const isDone = missing.length === 0 && failures.length === 0
  // Documents have their own resume files, and nothing is paid for one that has none.
  const isUnfinished = hasTexts && inputs.some(({ kind, done }) => kind === 'text' && !done)
  if (!isDone && (file !== undefined || isUnfinished)) await record.save(paid.finished)
  else await record.remove()
  if (!isDone) throw failureOf(results, total, hasTexts, record.command(options), io.signal)
  if (options.usage && !options.json) await noteUsage(client, context)
  return EXIT.done
}

/** Prints the results with `--json`. What could not be printed is not done. */
async function printJson(
  inputs: readonly Input[],
  { printed, missing, failures }: Results,
  { json }: TranslateOptions,
  io: Io,
): Promise<void> {
  const all = inputs.flatMap((input) => printed.get(input) ?? [])
  if (!json || (all.length === 0 && missing.length + failures.length > 0)) return
  try {
    await write(io.stdout, jsonText(all))
  } catch (error) {
    if (!isAuthError(error)) throw error
    for (const input of inputs) if (input.output === undefined) input.done = false
    failures.push(error)
  }
}

/** Returns the error of a command that is not done: the only one, or one that names all. */
function failureOf(
  { missing, failures }: Results,
  total: number,
  hasTexts: boolean,
  next: string | undefined,
  signal: AbortSignal,
): AuthError {
  const [failure, ...others] = failures
  if (failure && others.length === 0 && missing.length === 0) return withNext(failure, next)
  const [lost] = missing
  if (lost && !failure && !hasTexts && !signal.aborted) return lost.error
  const error = incomplete(missing, total, next, signal)
  if (!failure || signal.aborted) return error
  const message = [...(missing.length > 0 ? [error.message] : []), `${failures.length} files are not written`].join(', ')
  return new AuthError(error.code, message, { hint: error.hint ?? '', reasons: [...failures, ...(error.reasons ?? [])] })
}

/** Translates the paragraphs of all texts, delivers those that are finished, and returns the number of paragraphs. */
async function translateTexts(paid: PaidTexts, { inputs, params, options, context }: Work, results: Results): Promise<number> {
  const texts = inputs.filter((input) => input.kind === 'text' && !input.done) as TextInput[]
  const wanted = texts.flatMap(({ pieces }) => pieces.filter((piece) => piece.translate))
  const outcomes = await paid.translate(
    wanted.map(({ text }) => text),
    params,
  )
  const byPiece = new Map(wanted.map((piece, index) => [piece, outcomes[index]]))
  for (const input of texts) {
    try {
      await deliver(input, byPiece, options, context, results)
    } catch (error) {
      if (isBrokenPipe(error)) throw error
      failed(results)(error)
    }
  }
  return wanted.length
}

/** Returns a function that keeps an error for the end of the command. */
function failed({ failures }: Results): (error: unknown) => void {
  return (error) => {
    if (!isAuthError(error)) throw error
    failures.push(error)
  }
}

/** Writes a text of which at least one paragraph is translated; the others stay in the original language. */
async function deliver(
  input: TextInput,
  outcomes: ReadonlyMap<TextPiece, TextOutcome | undefined>,
  { json }: TranslateOptions,
  { io, diagnostics }: Context,
  results: Results,
): Promise<void> {
  const { name, output, end, pieces, argument } = input
  const own = pieces.filter((piece) => piece.translate).map((piece) => outcomes.get(piece))
  const missing = own.flatMap((outcome, index) => (outcome && 'error' in outcome ? [{ ...outcome, paragraph: index + 1 }] : []))
  for (const { paragraph, error, notSent } of missing) {
    const place = own.length === 1 ? {} : { place: paragraph }
    results.missing.push({ input: argument === undefined ? nameOf(name) : `"${shortened(argument)}"`, ...place, error, notSent })
  }
  if (missing.length > 0 && missing.length === own.length) return
  const text = pieces.map((piece) => textOf(outcomes.get(piece)) ?? piece.text).join('')
  const language = own.flatMap((outcome) => (outcome && 'translation' in outcome ? [outcome.translation.detected_source_language] : []))[0]
  const lost = missing.map(({ paragraph, error: { code, message } }) => ({ paragraph, code, message }))
  if (output !== undefined) {
    const hash = await writeOutput(input, text + end)
    if (missing.length > 0) input.written = hash
    const rest = missing.length === 0 ? '' : `, with ${missing.length} of ${own.length} paragraphs in the original language`
    await diagnostics.note(`${name}: written to ${output}${rest}`)
  } else if (!json) await write(io.stdout, text + end)
  if (missing.length === 0) input.done = true
  results.printed.set(input, {
    input: name,
    ...(output === undefined ? { text } : { output }),
    ...(language && { detected_source_language: language }),
    ...(lost.length > 0 && { missing: lost }),
  })
}

function textOf(outcome: TextOutcome | undefined): string | undefined {
  return outcome && 'translation' in outcome ? outcome.translation.text : undefined
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** Translates one document; a failure is the end of this one only, unless it is that of the key or quota. */
async function translateDocument(input: DocumentInput, { client, params, context }: Work, results: Results): Promise<void> {
  const { name, output } = input
  const { io, diagnostics } = context
  const former = results.failures.find(isForAll)
  if (io.signal.aborted || former) {
    const { code, message } = former ?? new AuthError('ABORTED', 'interrupted')
    results.failures.push(new AuthError(code, `${name} (not sent): ${message}`))
    return
  }
  try {
    const handle = input.mayHaveHandle ? await readFile(handleFileOf(output)).catch(() => undefined) : undefined
    const { status } = handle
      ? await resumeFile(client, handleFileOf(output), jsonIn(handle), output, context)
      : await translateFile(client, name, output, params, context)
    input.done = true
    results.printed.set(input, { input: name, output, ...billed(status) })
    await diagnostics.note(`${name}: written to ${output}`)
  } catch (error) {
    failed(results)(error)
  }
}

/** True for an error of the key or the quota, which other documents would have, too. */
function isForAll({ code }: AuthError): boolean {
  return code === 'HTTP_456' || exitCodeOf(code) === EXIT.credentials
}

function billed({ billed_characters }: { readonly billed_characters?: number }): Pick<TranslatedInput, 'billed_characters'> {
  return billed_characters === undefined ? {} : { billed_characters }
}

/** What changes while an input is translated. */
interface Progress {
  /** True once it is delivered completely. */
  done?: boolean
  /** Hash of an incomplete output. */
  written?: string
}

/** A text and its pieces; `end` is written after it to stdout. */
interface TextInput extends Progress {
  readonly kind: 'text'
  readonly name: string
  readonly pieces: readonly TextPiece[]
  readonly end: string
  readonly sha256: string
  /** The text of an argument. */
  readonly argument?: string
  /** Path of the output; undefined for stdout. */
  readonly output: string | undefined
}

/** A document that the service translates as a whole. */
interface DocumentInput extends Progress {
  readonly kind: 'document'
  readonly name: string
  readonly output: string
  readonly sha256: string
  /** True if a former command may have uploaded it. */
  readonly mayHaveHandle?: boolean
}

type Input = TextInput | DocumentInput

function recordOf(input: Input): RecordedInput {
  const { name, sha256, output, done, written } = input
  const argument = input.kind === 'text' ? input.argument : undefined
  return {
    name: argument !== undefined || name === '-' ? name : resolve(name),
    ...(argument !== undefined && { text: argument }),
    ...(output !== undefined && { output: resolve(output) }),
    sha256,
    ...(done && { done }),
    ...(written !== undefined && { written }),
  }
}

/** Reads an input of a record again. Errors: `FILE_CHANGED`, those of reading. */
async function inputAgain(input: RecordedInput, file: string, io: Io): Promise<Input> {
  const { name, output, text, done, written, sha256 } = input
  const progress = { ...(done && { done }), ...(written !== undefined && { written }) }
  if (text === undefined && name !== '-' && output !== undefined && isDocument(name)) {
    if (!done) checkSame(input, await readInput(name, io), file)
    return { kind: 'document', name, output, sha256, mayHaveHandle: true, ...progress }
  }
  const content = text ?? (done ? '' : await plainText(name, io))
  if (!done) checkSame(input, content, file)
  return { ...(text === undefined ? textInput(name, content, output) : argumentInput(text, output)), sha256, ...progress }
}

function argumentInput(text: string, output: string | undefined): TextInput {
  return {
    kind: 'text',
    name: 'text',
    pieces: [{ text, translate: text.trim() !== '' }],
    end: '\n',
    argument: text,
    sha256: hashOf(text),
    output,
  }
}

function textInput(name: string, text: string, output: string | undefined): TextInput {
  return { kind: 'text', name, pieces: paragraphsOf(text), end: '', sha256: hashOf(text), output }
}

function plainText(name: string, io: Io): Promise<string> {
  return readText(name, io, () => Promise.reject(usageError('URLs cannot be translated: give files or texts')))
}

/** Extensions of document formats. */
const DOCUMENTS = new Set(['.doc', '.docx', '.pptx', '.xlsx', '.pdf', '.htm', '.html', '.xlf', '.xliff', '.srt', '.jpg', '.jpeg', '.png'])

/** Extensions that the service supports; an argument that ends so is a misspelt path, not a text to bill. */
const FILES = new Set([...DOCUMENTS, '.txt'])

function isDocument(name: string): boolean {
  return DOCUMENTS.has(extname(name.trim()).toLowerCase())
}

/**
 * Reads the inputs: an argument is a file if one has that name, else a text; without arguments, or for `-`, stdin is the text.
 *
 * Errors: `USAGE` for a missing or unsupported output, `FILE_ACCESS` for a missing document, those of reading.
 */
async function inputsOf(inputNames: readonly string[], options: TranslateOptions, language: string, io: Io): Promise<readonly Input[]> {
  const given = inputNames.length === 0 ? ['-'] : inputNames
  if (options.output !== undefined && given.length > 1)
    throw usageError('--output accepts one text or document; give --output-dir for several')
  if (options.output !== undefined && options.outputDir !== undefined) throw usageError('--output and --output-dir exclude each other')
  const inputs: Input[] = []
  for (const name of given) inputs.push(await inputOf(name, options, language, io))
  return inputs
}

async function inputOf(name: string, options: TranslateOptions, language: string, io: Io): Promise<Input> {
  const isFile = name !== '-' && !options.text && (await stat(name).catch(() => undefined))?.isFile() === true
  const extension = extname(name.trim()).toLowerCase()
  if (!isFile && !options.text && FILES.has(extension)) {
    const hint = 'check the path, or use --text to translate the argument itself'
    throw new IntegrityError('FILE_ACCESS', `cannot read "${name}": the file does not exist. Nothing was sent`, { hint })
  }
  const translatedName = `${basename(name, extname(name))}.${language.toLowerCase()}${extname(name)}`
  const inFolder = isFile && options.outputDir !== undefined ? join(options.outputDir, translatedName) : undefined
  const output = options.output === '-' ? undefined : (options.output ?? inFolder)
  if (isFile && isDocument(name)) {
    if (output === undefined) throw usageError(`no output is given for "${name}": give --output FILE or --output-dir FOLDER`)
    if (options.context !== undefined) throw usageError(`--context is only supported for texts: remove it to translate "${name}"`)
    return { kind: 'document', name, output, sha256: hashOf(await readInput(name, io)) }
  }
  return !isFile && name !== '-' ? argumentInput(name, output) : textInput(name, await plainText(name, io), output)
}

/**
 * Checks the outputs before anything is billed, and makes their folder. Errors: `USAGE` for two inputs with one output, `PATH_EXISTS`,
 * `PATH_UNSAFE`, `FILE_ACCESS`.
 */
async function checkOutputs(inputs: readonly Input[], { outputDir }: TranslateOptions): Promise<void> {
  if (outputDir !== undefined)
    await makeFolder(resolve(outputDir), 0o777).catch((error: unknown) => {
      throw writeFailure(error, `to the folder "${outputDir}"`)
    })
  const taken = new Map<string, string>()
  for (const { kind, name, output } of inputs) {
    if (output === undefined) continue
    await checkNoRecord(output)
    if (kind === 'document') await checkHandleFile(output)
    const path = await checkOutput({ output })
    const other = taken.get(path)
    if (other !== undefined) throw usageError(`"${other}" and "${name}" would both be written to "${output}": translate them one by one`)
    taken.set(path, name)
  }
}

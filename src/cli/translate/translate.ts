/** `translate`: translates texts, text files and documents. Until a document is fetched, a private resume file holds its id and key. */

import { randomUUID } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import { newPath } from '../../node/base/index.ts'
import type { DocumentHandle } from '../../services/translation/document-upload.ts'
import type { TranslatedDocument } from '../../services/translation/documents.ts'
import type { TranslationClient } from '../../services/translation/index.ts'
import { ownString } from '../../stac/document.ts'
import { parseDocument } from '../../stac/parse-document.ts'
import { forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { replacePrivateFile } from '../credentials/edit-credentials.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { type Io, write } from '../io.ts'
import { shortened } from '../live-block.ts'
import { LiveLine } from '../live-line.ts'
import { readInput, readText } from '../read-document.ts'
import { noteUsage, openClient, paramsOf, refused, type TranslateOptions, writeText } from './open-client.ts'

/** The result of one input, for `--json`. */
interface Outcome {
  readonly input: string
  readonly output?: string
  readonly text?: string
  readonly detected_source_language?: string
  readonly billed_characters?: number
}

/** Translates all inputs, texts in one batch, and returns the exit code. Errors: those of reading, of the client and of writing. */
export async function translate(inputNames: readonly string[], options: TranslateOptions, context: Context): Promise<number> {
  if (options.resume !== undefined && (inputNames.length > 0 || options.outputDir !== undefined || options.text))
    throw usageError('--resume fetches one document: it excludes texts, files, --output-dir and --text')
  const outcomes: Outcome[] = []
  const tell = () => write(context.io.stdout, `${JSON.stringify(outcomes)}\n`)
  const client = await openClient(context, options)
  try {
    if (options.resume === undefined) for await (const outcome of all(client, inputNames, options, context)) outcomes.push(outcome)
    else {
      const { output, status } = await resumeFile(client, options.resume, options.output, context)
      outcomes.push({ input: options.resume, output, ...billed(status) })
    }
  } catch (error) {
    // Finished translations are billed, so they are printed.
    if (options.json && outcomes.length > 0) await tell()
    throw error
  }
  if (options.json) await tell()
  if (options.usage && !options.json) await noteUsage(client, context)
  return EXIT.done
}

async function* all(
  client: TranslationClient,
  inputNames: readonly string[],
  options: TranslateOptions,
  context: Context,
): AsyncGenerator<Outcome, void> {
  const { target_lang } = paramsOf(options)
  const inputs = await inputsOf(inputNames, options, target_lang, context.io)
  await checkOutputs(inputs)
  const texts = await translateTexts(
    client,
    inputs.filter((input) => input.kind === 'text'),
    options,
    context,
  )
  for (const input of inputs) {
    if (input.kind === 'text') yield await deliver(input, texts.get(input) ?? { text: '' }, options, context)
    else {
      const { status } = await translateFile(client, input.name, input.output, options, context)
      yield { input: input.name, output: input.output, ...billed(status) }
      await context.diagnostics.note(`${input.name}: written to ${input.output}`)
    }
  }
}

interface TranslatedText {
  readonly text: string
  readonly language?: string
}

/** Translates the paragraphs of all texts in as few requests as possible. */
async function translateTexts(
  client: TranslationClient,
  inputs: readonly TextInput[],
  options: TranslateOptions,
  { io: { signal } }: Context,
): Promise<ReadonlyMap<TextInput, TranslatedText>> {
  const wanted = inputs.flatMap(({ pieces }) => pieces.filter((piece) => piece.translate))
  const texts = wanted.map(({ text }) => text)
  const found = texts.length === 0 ? [] : await client.translateMany(texts, paramsOf(options), { signal }).toArray().catch(refused)
  const byPiece = new Map(found.map((translation, index) => [wanted[index], translation]))
  return new Map(
    inputs.map((input) => {
      const language = byPiece.get(input.pieces.find((piece) => piece.translate))?.detected_source_language
      const text = input.pieces.map((piece) => (byPiece.get(piece) ?? piece).text).join('')
      return [input, { text, ...(language !== undefined && { language }) }] as const
    }),
  )
}

async function deliver(
  { name, output, end }: TextInput,
  { text, language }: TranslatedText,
  { json }: TranslateOptions,
  { io, diagnostics }: Context,
): Promise<Outcome> {
  const detected = language === undefined ? {} : { detected_source_language: language }
  if (output !== undefined) {
    await writeText(output, text + end)
    await diagnostics.note(`${name}: written to ${output}`)
    return { input: name, output, ...detected }
  }
  if (!json) await write(io.stdout, text + end)
  return { input: name, text, ...detected }
}

function billed({ billed_characters }: { readonly billed_characters?: number }): Pick<Outcome, 'billed_characters'> {
  return billed_characters === undefined ? {} : { billed_characters }
}

/** A text and its pieces; `end` is written after it to stdout. */
interface TextInput {
  readonly kind: 'text'
  readonly name: string
  readonly pieces: readonly TextPiece[]
  readonly end: string
  /** Path of the output; undefined for stdout. */
  readonly output: string | undefined
}

/** A document that the service translates as a whole. */
interface DocumentInput {
  readonly kind: 'document'
  readonly name: string
  readonly output: string
}

/** Extensions of document formats. */
const DOCUMENTS = new Set(['.doc', '.docx', '.pptx', '.xlsx', '.pdf', '.htm', '.html', '.xlf', '.xliff', '.srt', '.jpg', '.jpeg', '.png'])

/** Extensions that the service supports; an argument that ends so is a misspelt path, not a text to bill. */
const FILES = new Set([...DOCUMENTS, '.txt'])

/**
 * Reads the inputs: an argument is a file if one has that name, else a text; without arguments, or for `-`, stdin is the text.
 *
 * Errors: `USAGE` for a missing or unsupported output, `FILE_ACCESS` for a missing document, those of reading.
 */
async function inputsOf(
  inputNames: readonly string[],
  options: TranslateOptions,
  language: string,
  io: Io,
): Promise<readonly (TextInput | DocumentInput)[]> {
  const given = inputNames.length === 0 ? ['-'] : inputNames
  if (options.output !== undefined && given.length > 1)
    throw usageError('--output accepts one text or document; give --output-dir for several')
  if (options.output !== undefined && options.outputDir !== undefined) throw usageError('--output and --output-dir exclude each other')
  const inputs: (TextInput | DocumentInput)[] = []
  for (const name of given) inputs.push(await inputOf(name, options, language, io))
  return inputs
}

async function inputOf(name: string, options: TranslateOptions, language: string, io: Io): Promise<TextInput | DocumentInput> {
  const isFile = name !== '-' && !options.text && (await stat(name).catch(() => undefined))?.isFile() === true
  const extension = extname(name.trim()).toLowerCase()
  if (!isFile && !options.text && FILES.has(extension)) {
    const hint = 'check the path, or use --text to translate the argument itself'
    throw new IntegrityError('FILE_ACCESS', `cannot read "${name}": the file does not exist. Nothing was sent`, { hint })
  }
  const translatedName = `${basename(name, extname(name))}.${language.toLowerCase()}${extname(name)}`
  const inFolder = isFile && options.outputDir !== undefined ? join(options.outputDir, translatedName) : undefined
  const output = options.output === '-' ? undefined : (options.output ?? inFolder)
  if (isFile && DOCUMENTS.has(extension)) {
    if (output === undefined) throw usageError(`no output is given for "${name}": give --output FILE or --output-dir FOLDER`)
    if (options.context !== undefined) throw usageError(`--context is only supported for texts: remove it to translate "${name}"`)
    return { kind: 'document', name, output }
  }
  if (!isFile && name !== '-')
    return { kind: 'text', name: 'text', pieces: [{ text: name, translate: name.trim() !== '' }], end: '\n', output }
  const text = await readText(name, io, () => Promise.reject(usageError('URLs cannot be translated: give files or texts')))
  return { kind: 'text', name, pieces: textPieces(text), end: '', output }
}

/** A paragraph of a text, or the whitespace between two. */
interface TextPiece {
  readonly text: string
  readonly translate: boolean
}

/** Splits a text into paragraphs and whitespace; joined they are the text. */
function textPieces(text: string): readonly TextPiece[] {
  return text.split(/(\r?\n(?:[ \t]*\r?\n)+)/).flatMap((piece) => {
    const words = piece.trim()
    if (words === '') return [{ text: piece, translate: false }]
    const start = piece.length - piece.trimStart().length
    return [
      { text: piece.slice(0, start), translate: false },
      { text: words, translate: true },
      { text: piece.slice(start + words.length), translate: false },
    ]
  })
}

/**
 * Checks the outputs before anything is billed. Errors: `USAGE` for two inputs with one output, `PATH_EXISTS`, `PATH_UNSAFE`,
 * `FILE_ACCESS`.
 */
async function checkOutputs(inputs: readonly (TextInput | DocumentInput)[]): Promise<void> {
  const taken = new Map<string, string>()
  for (const { kind, name, output } of inputs) {
    if (output === undefined) continue
    const path = await newPath(output)
    const other = taken.get(path)
    if (other !== undefined) throw usageError(`"${other}" and "${name}" would both be written to "${output}": translate them one by one`)
    taken.set(path, name)
    if (kind === 'document') await checkHandleFile(output)
  }
}

/** Error codes after which the document cannot be fetched. */
const OVER = new Set(['DOCUMENT_FAILED', 'DOCUMENT_GONE'])

/** Translates a document into a new file, written atomically. Errors: those of `documents.translate`. */
async function translateFile(
  client: TranslationClient,
  name: string,
  output: string,
  options: TranslateOptions,
  context: Context,
): Promise<TranslatedDocument> {
  const { signal } = context.io
  await newPath(output)
  return withProgress(client, name, context.io, async () => {
    const { handle, kept } = await upload(client, name, output, options, context)
    const translation = client.documents.resume(handle, { path: output }, { signal })
    return await (kept === undefined ? translation : finish(kept, translation, context))
  })
}

/**
 * Fetches a document that an earlier command uploaded.
 *
 * @param kept the resume file of that command
 *
 * Errors: `CONFIG_INVALID` for a malformed resume file or one of another service, those of `documents.resume`.
 */
async function resumeFile(
  client: TranslationClient,
  kept: string,
  output: string | undefined,
  context: Context,
): Promise<TranslatedDocument & { readonly output: string }> {
  const record = parseDocument(await readInput(kept, context.io))
  const [service, place, document_id, document_key] = ['service', 'output', 'document_id', 'document_key'].map((name) =>
    ownString(record, name),
  )
  const path = output ?? place
  if (document_id === undefined || document_key === undefined || path === undefined)
    throw new ConfigurationError('CONFIG_INVALID', `"${kept}" is not a resume file of the translation service`)
  if (service !== client.origin) {
    const problem = `the document of "${kept}" is at ${service ?? 'another service'}, not at ${client.origin}`
    throw new ConfigurationError('CONFIG_INVALID', problem, { hint: 'give the same --base-url or --plan as for the upload' })
  }
  return withProgress(client, path, context.io, async () => {
    const done = client.documents.resume({ document_id, document_key }, { path }, { signal: context.io.signal })
    return { ...(await finish(kept, done, context)), output: path }
  })
}

/** Creates the resume file before the upload, so that nothing is billed if the folder is not writable; uses a temporary folder if it is lost later. */
async function upload(
  client: TranslationClient,
  name: string,
  output: string,
  options: TranslateOptions,
  { io, diagnostics }: Context,
): Promise<{ readonly handle: DocumentHandle; readonly kept?: string }> {
  const kept = `${output}.handle.json`
  const handles: DocumentHandle[] = []
  const failure: unknown = await replacePrivateFile(kept, async () => {
    // Checked here, because the file is locked now.
    await checkHandleFile(output)
    const handle = await client.documents.upload({ path: name }, paramsOf(options), { signal: io.signal })
    handles.push(handle)
    return recordOf(client, output, handle)
  }).catch((error: unknown) => error)
  const [handle] = handles
  if (!handle) throw failure
  if (failure === undefined) return { handle, kept }
  const why = failure instanceof Error ? failure.message : kept
  const spare = join(tmpdir(), `stac-auth-${randomUUID()}.handle.json`)
  try {
    await replacePrivateFile(spare, async () => recordOf(client, output, handle))
  } catch {
    diagnostics.warn({ code: 'HANDLE_LOST', message: `${why}: the document is uploaded, but cannot be fetched after an interruption` })
    return { handle }
  }
  diagnostics.warn({ code: 'HANDLE_ELSEWHERE', message: `${why}: the resume file is ${spare} until the translation is complete` })
  return { handle, kept: spare }
}

/** Returns the content of the resume file. */
function recordOf(client: TranslationClient, output: string, handle: DocumentHandle): string {
  return `${JSON.stringify({ service: client.origin, output, ...handle.export() }, undefined, 2)}\n`
}

async function finish(kept: string, translation: Promise<TranslatedDocument>, { diagnostics }: Context): Promise<TranslatedDocument> {
  try {
    const document = await translation
    await rm(kept, { force: true })
    return document
  } catch (error) {
    const code = isAuthError(error) ? error.code : ''
    if (OVER.has(code)) await rm(kept, { force: true })
    else await diagnostics.note(nextStep(code, kept))
    throw error
  }
}

function nextStep(code: string, kept: string): string {
  // The service does not distinguish these cases.
  if (code === 'HTTP_404')
    return `the document was already fetched, has expired, or belongs to another account: remove ${kept} and translate it again`
  const why =
    code === 'RESPONSE_TRUNCATED'
      ? 'the service may still have it; try to fetch it again'
      : 'the service continues the translation; fetch it'
  return `${why} with: stac-auth translate --resume ${kept}`
}

/** Checks that there is no resume file yet. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`. */
async function checkHandleFile(output: string): Promise<void> {
  const name = `${output}.handle.json`
  await newPath(name).catch((error: unknown) => {
    if (!isAuthError(error) || error.code !== 'PATH_EXISTS') throw error
    const hint = `fetch the document with: stac-auth translate --resume ${name} (or remove the file to discard it)`
    const problem = 'it is the resume file of a document that was uploaded and not fetched'
    throw new IntegrityError('PATH_EXISTS', `"${name}" exists already: ${problem}`, { hint })
  })
}

/** Runs with a line on a terminal that says how far a document is. */
async function withProgress<T>(client: TranslationClient, name: string, io: Io, work: () => Promise<T>): Promise<T> {
  const line = new LiveLine(io)
  const close = client.on('progress', (event) => line.show((width) => shortened(forLine(`${name}: ${said(event)}`), width, '...')))
  return work().finally(() => {
    close()
    line.end()
  })
}

function said({ operation, ...detail }: Readonly<Record<string, unknown>>): string {
  if (operation === 'documents.upload') return `${detail.bytes}${detail.total === undefined ? '' : ` of ${detail.total}`} bytes sent`
  if (operation === 'documents.status') return `${detail.status}${detail.seconds_remaining ? `, about ${detail.seconds_remaining} s` : ''}`
  return `${detail.bytes ?? 0} bytes received`
}

/** `translate`: translates texts, text files and documents. */

import { stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { IntegrityError } from '../../errors.ts'
import { newPath, writeNewFile } from '../../node/write-file.ts'
import type { TranslationClient } from '../../services/translation/index.ts'
import { paramsOf, type TranslateOptions } from '../commands/translate.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { type Io, write } from '../io.ts'
import { readText } from '../read-document.ts'
import { checkHandleFile, resumeFile, translateFile } from './document-file.ts'
import { batchFailure, noteUsage, openClient } from './open-client.ts'

/** The result of one input, for `--json`. */
interface Outcome {
  readonly input: string
  readonly output?: string
  readonly text?: string
  readonly detected_source_language?: string
  readonly billed_characters?: number
}

/** Translates all inputs, texts in one batch, and returns the exit code. Errors: those of reading, of the client and of writing. */
export async function translate(names: readonly string[], options: TranslateOptions, context: Context): Promise<number> {
  if (options.resume !== undefined && (names.length > 0 || options.outputDir !== undefined || options.text))
    throw usageError('--resume fetches one document: it excludes texts, files, --output-dir and --text')
  const outcomes: Outcome[] = []
  const tell = () => write(context.io.stdout, `${JSON.stringify(outcomes)}\n`)
  const client = await openClient(context, options)
  try {
    if (options.resume === undefined) for await (const outcome of all(client, names, options, context)) outcomes.push(outcome)
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
  names: readonly string[],
  options: TranslateOptions,
  context: Context,
): AsyncGenerator<Outcome, void> {
  const { target_lang } = paramsOf(options)
  const inputs = await inputsOf(names, options, target_lang, context.io)
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
  const wanted = inputs.flatMap(({ pieces }) => pieces.filter(({ translate }) => translate))
  const texts = wanted.map(({ text }) => text)
  const found = texts.length === 0 ? [] : await client.translateMany(texts, paramsOf(options), { signal }).toArray().catch(refused)
  const byPiece = new Map(found.map((translation, index) => [wanted[index], translation]))
  return new Map(
    inputs.map((input) => {
      const first = input.pieces.find(({ translate }) => translate)
      const language = first && byPiece.get(first)?.detected_source_language
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
    await writeNewFile(output, async () => once(text + end))
    await diagnostics.note(`${name}: written to ${output}`)
    return { input: name, output, ...detected }
  }
  if (!json) await write(io.stdout, text + end)
  return { input: name, text, ...detected }
}

function refused(error: unknown): never {
  throw batchFailure(error)
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
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
  names: readonly string[],
  options: TranslateOptions,
  language: string,
  io: Io,
): Promise<readonly (TextInput | DocumentInput)[]> {
  const given = names.length === 0 ? ['-'] : names
  if (options.output !== undefined && given.length > 1)
    throw usageError('--output accepts one text or document; give --output-dir for several')
  if (options.output !== undefined && options.outputDir !== undefined) throw usageError('--output and --output-dir exclude each other')
  const inputs: (TextInput | DocumentInput)[] = []
  for (const name of given) inputs.push(await inputOf(name, options, language, io))
  return inputs
}

async function inputOf(name: string, options: TranslateOptions, language: string, io: Io): Promise<TextInput | DocumentInput> {
  const isFile = name !== '-' && !options.text && (await names(name))
  if (!isFile && !options.text && FILES.has(extname(name.trim()).toLowerCase())) throw noDocument(name)
  const inFolder = isFile && options.outputDir !== undefined ? join(options.outputDir, translatedName(name, language)) : undefined
  const output = options.output === '-' ? undefined : (options.output ?? inFolder)
  if (isFile && DOCUMENTS.has(extname(name).toLowerCase())) {
    if (output === undefined) throw usageError(`no output is given for "${name}": give --output FILE or --output-dir FOLDER`)
    if (options.context !== undefined) throw usageError(`--context is only supported for texts: remove it to translate "${name}"`)
    return { kind: 'document', name, output }
  }
  if (!isFile && name !== '-')
    return { kind: 'text', name: 'text', pieces: [{ text: name, translate: name.trim() !== '' }], end: '\n', output }
  const text = await readText(name, io, () => Promise.reject(usageError('URLs cannot be translated: give files or texts')))
  return { kind: 'text', name, pieces: textPieces(text), end: '', output }
}

/** Returns `guide.de.docx` for `guide.docx` and the language `DE`. */
function translatedName(name: string, language: string): string {
  const extension = extname(name)
  return `${basename(name, extension)}.${language.toLowerCase()}${extension}`
}

function noDocument(name: string): IntegrityError {
  const hint = 'check the path, or use --text to translate the argument itself'
  return new IntegrityError('FILE_ACCESS', `cannot read "${name}": the file does not exist. Nothing was sent`, { hint })
}

async function names(name: string): Promise<boolean> {
  try {
    return (await stat(name)).isFile()
  } catch {
    return false
  }
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

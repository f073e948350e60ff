/** What is to be translated: texts, files of text, documents. */
import { stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { IntegrityError } from '../../errors.ts'
import type { Io } from '../io.ts'
import { readText } from '../read-document.ts'
import { usageError } from '../usage.ts'
import type { TranslateOptions } from './options.ts'
import { type TextPiece, textPieces } from './text-pieces.ts'

/** A text and its pieces; `end` is what follows it on stdout. */
export interface TextInput {
  readonly kind: 'text'
  readonly name: string
  readonly pieces: readonly TextPiece[]
  readonly end: string
  /** Where it goes; undefined for stdout. */
  readonly output: string | undefined
}

/** A document that the service translates as a whole. */
export interface DocumentInput {
  readonly kind: 'document'
  readonly name: string
  readonly output: string
}

/** Formats that are more than text. */
const DOCUMENTS = new Set(['.doc', '.docx', '.pptx', '.xlsx', '.pdf', '.htm', '.html', '.xlf', '.xliff', '.srt', '.jpg', '.jpeg', '.png'])

/** Endings of files that the service takes; a text that ends so is a name with a mistake in it, and would be billed. */
const FILES = new Set([...DOCUMENTS, '.txt'])

/**
 * An argument that names a file is that file, any other one is a text; without arguments, or for `-`, standard input is the text.
 *
 * Errors: `USAGE` where an output is missing or cannot be meant, `FILE_ACCESS` for the name of a document that is not there, those of
 * reading.
 */
export async function inputsOf(
  names: readonly string[],
  options: TranslateOptions,
  language: string,
  io: Io,
): Promise<readonly (TextInput | DocumentInput)[]> {
  const given = names.length === 0 ? ['-'] : names
  if (options.output !== undefined && given.length > 1)
    throw usageError('--output is for one text or document; for several give --output-dir')
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
    if (output === undefined) throw usageError(`where should the translation of "${name}" go? Give --output FILE or --output-dir FOLDER`)
    if (options.context !== undefined) throw usageError(`--context helps with texts only: leave it out to translate "${name}"`)
    return { kind: 'document', name, output }
  }
  if (!isFile && name !== '-')
    return { kind: 'text', name: 'text', pieces: [{ text: name, translate: name.trim() !== '' }], end: '\n', output }
  const text = await readText(name, io, () => Promise.reject(usageError('addresses are not translated')))
  return { kind: 'text', name, pieces: textPieces(text), end: '', output }
}

/** `guide.docx` in German is `guide.de.docx`. */
function translatedName(name: string, language: string): string {
  const extension = extname(name)
  return `${basename(name, extension)}.${language.toLowerCase()}${extension}`
}

function noDocument(name: string): IntegrityError {
  const hint = 'check the path; with --text the words themselves are translated'
  return new IntegrityError('FILE_ACCESS', `cannot read "${name}": there is no such file. Nothing was sent`, { hint })
}

async function names(name: string): Promise<boolean> {
  try {
    return (await stat(name)).isFile()
  } catch {
    return false
  }
}

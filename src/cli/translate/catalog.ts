/** `translate catalog`: writes a translated copy of a STAC document. */

import { resolve } from 'node:path'
import { isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { type TranslatedCatalog, type TranslateParams, type TranslationClient, translateCatalog } from '../../services/translation/index.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import { jsonIn, readInput, readText } from '../read-document.ts'
import { jsonText } from '../records.ts'
import { noteUsage, openClient, paramsOf, type TranslateOptions } from './open-client.ts'
import { PaidTexts } from './paid-texts.ts'
import {
  checkNoRecord,
  checkOutput,
  checkSame,
  incomplete,
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

/** Writes the copy to stdout or a new file, with `--json` a summary to stdout; returns the exit code. */
export async function catalog(name: string | undefined, options: TranslateOptions, context: Context): Promise<number> {
  const { resume } = options
  if (resume !== undefined) {
    const client = await openClient(context, options)
    const record = await recordIn(jsonIn(await readInput(resume, context.io)), resume, client)
    if (record?.kind !== 'catalog')
      throw usageError(`"${resume}" is not the record of a catalog`, 'continue with: stac-auth translate --resume FILE')
    return catalogAgain(resume, record, client, name, options, context)
  }
  if (name === undefined) throw usageError('no document is given', 'give the path or URL of a STAC document, or - for stdin')
  const params = paramsOf(options)
  const output = options.output === '-' ? undefined : options.output
  if (output !== undefined) {
    await checkNoRecord(output)
    await checkOutput({ output })
  }
  const text = await readText(name, context.io, openAuth(context, options, [name]))
  const client = await openClient(context, options)
  const input = { name, sha256: hashOf(text), ...(output !== undefined && { output }) }
  return finish({ client, params, input, text, options, context })
}

/**
 * Continues a catalog from its record. Errors: `FILE_CHANGED`.
 *
 * @param name of the document, if it is not where it was
 */
export async function catalogAgain(
  file: string,
  { params, inputs, texts }: ResumeRecord,
  client: TranslationClient,
  name: string | undefined,
  options: TranslateOptions,
  context: Context,
): Promise<number> {
  if (options.output !== undefined || options.to !== undefined)
    throw usageError('--resume continues with what its file names: it excludes --to and --output')
  const [first = { name: '', sha256: '' }] = inputs
  const input = name === undefined ? first : { ...first, name }
  const text = await readText(input.name, context.io, openAuth(context, options, [input.name]))
  checkSame(input, text, file)
  if (input.output !== undefined) await checkOutput(input)
  return finish({ client, params, input, text, options, context, file, known: texts })
}

/** The work of one command. */
interface Work {
  readonly client: TranslationClient
  readonly params: TranslateParams
  readonly input: RecordedInput
  readonly text: string
  readonly options: TranslateOptions
  readonly context: Context
  /** The record that is continued. */
  readonly file?: string
  readonly known?: TextMemory
}

/** Translates and writes the copy, and keeps a record until all of its texts are translated. */
async function finish({ client, params, input, text, options, context, file, known = new Map() }: Work): Promise<number> {
  const { io, diagnostics } = context
  const { name, output } = input
  const memory = options.memory === undefined ? new Map() : await readMemory(options.memory)
  let { written } = input
  const head = (): Omit<ResumeRecord, 'texts'> => {
    const own = name === '-' || isAddress(name) ? name : resolve(name)
    const place = output === undefined ? {} : { output: resolve(output) }
    return {
      kind: 'catalog',
      service: client.origin ?? '',
      params,
      inputs: [{ name: own, ...place, sha256: input.sha256, ...(written && { written }) }],
    }
  }
  const record = new ResumeFile(file ?? (output && recordFileOf(output)), file !== undefined, head, context)
  const paid = new PaidTexts({ client, known: new Map([...memory, ...known]), signal: io.signal, save: (texts) => record.save(texts) })
  const copy = await translateCatalog(paid, text, { ...params, partial: true })
  const { missing = [], kept, places } = copy
  const hasTexts = paid.finished.size > 0
  const [first] = missing
  if (first && !hasTexts && !io.signal.aborted) throw first.error
  for (const pointer of kept)
    diagnostics.warn({ code: 'MARKUP_LOST', pointer, message: 'the service lost markup, so this text is not translated' })
  try {
    if (hasTexts || !first) {
      if (output !== undefined) written = await writeOutput(input, copy.text)
      const printed = options.json
        ? account(copy, paid, output === undefined ? copy.text : undefined)
        : output === undefined
          ? copy.text
          : ''
      if (printed !== '') await write(io.stdout, printed)
    }
    if (options.memory !== undefined && hasTexts) await addToMemory(options.memory, paid.finished)
  } catch (error) {
    if (!isAuthError(error)) throw error
    await record.save(paid.finished)
    throw withNext(error, record.command(options))
  }
  const reused = paid.reused > 0 ? `; ${paid.reused} were known already` : ''
  await diagnostics.note(
    `${places - missing.length} texts in ${params.target_lang}; ${paid.sent} were sent, ${paid.characters} characters${reused}`,
  )
  if (first) {
    if (hasTexts || file !== undefined) await record.save(paid.finished)
    const lost = missing.map(({ pointer, error }) => ({
      input: nameOf(name),
      place: pointer,
      error,
      notSent: false,
    }))
    throw incomplete(lost, places, record.command(options), io.signal)
  }
  await record.remove()
  if (options.usage && !options.json) await noteUsage(client, context)
  return EXIT.done
}

/** The account of a catalog, for `--json`. */
interface CatalogAccount {
  /** Number of texts to translate. */
  readonly places: number
  /** Number of texts that were sent and translated; equal texts are sent once. */
  readonly sent: number
  /** Their characters. */
  readonly characters: number
  /** JSON pointers of texts of which a part is in the original language, because the service lost its markup. */
  readonly kept: readonly string[]
  /** Number of texts that were known from a memory or from the command that is continued. */
  readonly reused?: number
  /** JSON pointers of the texts that are not translated, with `code` and `message`. */
  readonly missing?: readonly { readonly pointer: string; readonly code: string; readonly message: string }[]
  /** The copy, where no file was written. */
  readonly text?: string
}

function account({ places, kept, missing = [] }: TranslatedCatalog, { sent, characters, reused }: PaidTexts, text?: string): string {
  const lost = missing.map(({ pointer, error: { code, message } }) => ({ pointer, code, message }))
  const more = { ...(reused > 0 && { reused }), ...(lost.length > 0 && { missing: lost }), ...(text !== undefined && { text }) }
  return jsonText({ places, sent, characters, kept, ...more } satisfies CatalogAccount)
}

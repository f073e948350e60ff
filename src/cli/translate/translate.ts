/** `translate`: texts, files of text and documents. */
import type { TranslationClient } from '../../clients/translation/index.ts'
import { writeNewFile } from '../../node/write-file.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import { write } from '../io.ts'
import { usageError } from '../usage.ts'
import { batchFailure } from './batch-failure.ts'
import { checkOutputs } from './check-outputs.ts'
import { resumeFile, translateFile } from './document-file.ts'
import { inputsOf, type TextInput } from './inputs.ts'
import { noteUsage, openClient } from './open-client.ts'
import { paramsOf, type TranslateOptions } from './options.ts'

/** What became of one input, for `--json`. */
interface Outcome {
  readonly input: string
  readonly output?: string
  readonly text?: string
  readonly detected_source_language?: string
  readonly billed_characters?: number
}

/** Translates everything that is named, texts together; its exit code. Errors: those of reading, of the client and of writing. */
export async function translate(names: readonly string[], options: TranslateOptions, context: Context): Promise<number> {
  if (options.resume !== undefined && (names.length > 0 || options.outputDir !== undefined || options.text))
    throw usageError('--resume fetches one document: give texts, files, --output-dir and --text to a command of their own')
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
    // What is done is paid for, whatever became of the rest.
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

/** All paragraphs of all texts in as few requests as they need. */
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

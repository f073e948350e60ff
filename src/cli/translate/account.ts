/** `translate glossaries`, `style-rules` and `languages`: what the account has, and what the service can do. */

import { basename, extname } from 'node:path'
import type { MultilingualGlossary } from '../../services/translation/glossaries.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { write } from '../io.ts'
import { readText } from '../read-document.ts'
import { jsonText, recordLine, recordText } from '../records.ts'
import { openClient, type TranslateOptions } from './open-client.ts'

export interface AccountOptions extends TranslateOptions {
  readonly name?: string
  readonly resource?: string
}

/** Prints the glossaries, one line each: id, name, dictionaries. */
export async function listGlossaries(options: AccountOptions, context: Context): Promise<number> {
  const client = await openClient(context, options)
  const { glossaries } = await client.glossaries.list({ signal: context.io.signal })
  return print(glossaries, glossaries.map(glossaryLine), options, context)
}

/** Prints a glossary; in the text, each dictionary has a line. */
export async function getGlossary(id: string, options: AccountOptions, context: Context): Promise<number> {
  const client = await openClient(context, options)
  const glossary = await client.glossaries.get(id, { signal: context.io.signal })
  const { dictionaries, ...fields } = glossary
  const lines = dictionaries.map(({ source_lang, target_lang, entry_count }) =>
    recordLine([`${source_lang}-${target_lang}: ${entry_count} entries`]),
  )
  return print(glossary, [recordText(fields), ...lines], options, context)
}

/**
 * Creates a glossary of one dictionary from a file: CSV, or lines with a tab.
 *
 * Errors: `USAGE` without languages; `REQUEST_INVALID` with the row of a wrong entry, before anything is sent; those of reading.
 */
export async function createGlossary(file: string, options: AccountOptions, context: Context): Promise<number> {
  const { from, to } = options
  if (from === undefined || to === undefined) throw usageError('a glossary needs its languages: give --from LANGUAGE and --to LANGUAGE')
  const name = options.name ?? (file === '-' ? undefined : basename(file, extname(file)))
  if (name === undefined) throw usageError('a glossary from stdin needs a name: give --name NAME')
  const text = await readText(file, context.io, () => Promise.reject(usageError('a glossary is read from a file')))
  const pair = { source_lang: from, target_lang: to }
  const format = ['.tsv', '.txt'].includes(extname(file).toLowerCase()) ? 'tsv' : 'csv'
  const dictionary = { ...pair, entries: text.replace(/^\ufeff/, ''), entries_format: format } as const
  const client = await openClient(context, options)
  const glossary = await client.glossaries.create({ name, dictionaries: [dictionary] }, { signal: context.io.signal })
  return print(glossary, [glossaryLine(glossary)], options, context)
}

/** Deletes a glossary. */
export async function deleteGlossary(id: string, options: AccountOptions, context: Context): Promise<number> {
  const client = await openClient(context, options)
  await client.glossaries.delete(id, { signal: context.io.signal })
  await print(undefined, [], options, context)
  await context.diagnostics.note('deleted')
  return EXIT.done
}

/** Prints the lists of style rules, one line each: id, language, name. */
export async function listStyleRules(options: AccountOptions, context: Context): Promise<number> {
  const client = await openClient(context, options)
  const lists = await client.styleRules.iterate({ page_size: 25 }, { signal: context.io.signal }).toArray()
  return print(
    lists,
    lists.map(({ style_id, language, name }) => recordLine([style_id, language, name])),
    options,
    context,
  )
}

/** Prints the languages of a resource, one line each: code, name, whether it can be source and target. */
export async function listLanguages({ resource = 'translate_text', ...options }: AccountOptions, context: Context): Promise<number> {
  const client = await openClient(context, options)
  const languages = await client.languages.list({ resource }, { signal: context.io.signal })
  const lines = languages.map(({ lang, name, usable_as_source, usable_as_target, status }) => {
    const uses = [...(usable_as_source ? ['source'] : []), ...(usable_as_target ? ['target'] : [])].join(', ')
    return recordLine([lang, name, uses, status === 'stable' ? undefined : status])
  })
  return print(languages, lines, options, context)
}

function glossaryLine({ glossary_id, name, dictionaries }: MultilingualGlossary): string {
  const pairs = dictionaries.map(({ source_lang, target_lang, entry_count }) => `${source_lang}-${target_lang} (${entry_count})`)
  return recordLine([glossary_id, name, pairs.join(', ')])
}

async function print(value: unknown, lines: readonly string[], { json }: AccountOptions, { io }: Context): Promise<number> {
  await write(io.stdout, json ? jsonText(value) : lines.join(''))
  return EXIT.done
}

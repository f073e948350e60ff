import { utf8Length } from '../../text/utf8-length.ts'
import { ValidationError } from '../errors.ts'
import { checkGlossarySize, type EntriesFormat, type EntriesInput, GlossaryEntries, type GlossaryPair } from './glossary-entries.ts'
import { checkTermSize } from './glossary-term.ts'
import type { Validation } from './translation-options.ts'

/** A dictionary as callers give it. */
export interface DictionaryInput extends GlossaryPair {
  /** Terms, or text that is sent as it is. */
  readonly entries: EntriesInput | string
  /** Of the text; terms are written that way. Default `tsv`. */
  readonly entries_format?: EntriesFormat
}

/** A dictionary as it is sent. */
export interface DictionaryText extends GlossaryPair {
  readonly entries: string
  readonly entries_format: EntriesFormat
}

/** A dictionary as it is sent. Errors: those of {@link GlossaryEntries}; text is only read to check it, as far as `validation` says. */
export function dictionaryText(dictionary: DictionaryInput, validation: Validation): DictionaryText {
  const { source_lang, target_lang, entries: given, entries_format = 'tsv' } = dictionary
  const entries = typeof given === 'string' ? given : GlossaryEntries.of(given).toText(entries_format)
  if (typeof given === 'string' && validation === 'strict') GlossaryEntries.parse(given, entries_format, dictionary)
  else if (validation !== 'off') checkGlossarySize(utf8Length(entries))
  return { source_lang, target_lang, entries, entries_format }
}

/** All dictionaries of one glossary. Errors: those of {@link dictionaryText}; `REQUEST_TOO_LARGE` for all of them together. */
export function dictionaryTexts(dictionaries: readonly DictionaryInput[], validation: Validation): readonly DictionaryText[] {
  const texts = dictionaries.map((dictionary) => dictionaryText(dictionary, validation))
  if (validation !== 'off') checkGlossarySize(texts.reduce((sum, { entries }) => sum + utf8Length(entries), 0))
  return texts
}

/** Errors: `REQUEST_TOO_LARGE` for a name of more than 1024 bytes; `TypeError`. */
export function checkGlossaryName(name: string, validation: Validation): void {
  if (typeof name !== 'string') throw new TypeError('the name of a glossary is a text')
  if (validation === 'off') return
  checkTermSize(name, 'the name of the glossary', 'name')
}

/** Errors: `REQUEST_INVALID` for more dictionaries than one change may have. */
export function checkOneDictionary(dictionaries: readonly DictionaryInput[], validation: Validation): void {
  if (validation !== 'strict' || dictionaries.length <= 1) return
  const message = `one change has at most one dictionary, these are ${dictionaries.length}; nothing was sent`
  throw new ValidationError('REQUEST_INVALID', message, { field: 'dictionaries', limit: 1, hint: 'use putDictionary for each' })
}

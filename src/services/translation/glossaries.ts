/** Glossaries with dictionaries for several pairs of languages. */
import { ProtocolError } from '../../errors.ts'
import { utf8Length } from '../../text/utf8-length.ts'
import { described, ValidationError } from '../client/errors.ts'
import {
  checkGlossarySize,
  checkTermSize,
  type EntriesFormat,
  type EntriesInput,
  GlossaryEntries,
  type GlossaryPair,
} from './glossary-entries.ts'
import {
  type Nothing,
  named,
  type Result,
  type TranslationCallOptions,
  type TranslationService,
  type Validation,
  withResponse,
} from './translation-service.ts'

/** A dictionary without its entries. */
export interface Dictionary extends GlossaryPair {
  readonly entry_count: number
}

export interface MultilingualGlossary {
  readonly glossary_id: string
  readonly name: string
  readonly creation_time: string
  readonly dictionaries: readonly Dictionary[]
}

/**
 * Glossaries made here and those made on the web are the same. A target of `EN`, `PT` or `ZH` serves every variant of the language.
 *
 * Errors besides those of each call: `REQUEST_INVALID` and `REQUEST_TOO_LARGE` for entries and names that no glossary takes.
 *
 * @example
 * const { glossary_id } = await client.glossaries.create({
 *   name: 'Forest terms',
 *   dictionaries: [{ source_lang: 'en', target_lang: 'de', entries: [['canopy', 'Kronendach']] }],
 * })
 */
export class Glossaries {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  create(
    { name, dictionaries }: { readonly name: string; readonly dictionaries: readonly DictionaryInput[] },
    options: TranslationCallOptions = {},
  ): Promise<Result<MultilingualGlossary>> {
    return named('glossaries.create', async () => {
      const validation = this.#service.validation(options)
      checkGlossaryName(name, validation)
      return this.#service.call('glossaries.create', { body: { name, dictionaries: dictionaryTexts(dictionaries, validation) } }, options)
    })
  }

  /** All of them: this list has no pages. */
  list(options: TranslationCallOptions = {}): Promise<Result<{ readonly glossaries: readonly MultilingualGlossary[] }>> {
    return this.#service.call('glossaries.list', {}, options)
  }

  get(glossary_id: string, options: TranslationCallOptions = {}): Promise<Result<MultilingualGlossary>> {
    return this.#service.call('glossaries.get', { path: { glossary_id } }, options)
  }

  /** Another name, and the entries of one dictionary on top of those that it has. */
  update(
    glossary_id: string,
    { name, dictionaries }: { readonly name?: string; readonly dictionaries?: readonly DictionaryInput[] },
    options: TranslationCallOptions = {},
  ): Promise<Result<MultilingualGlossary>> {
    return named('glossaries.update', async () => {
      const validation = this.#service.validation(options)
      if (name !== undefined) checkGlossaryName(name, validation)
      if (dictionaries) checkOneDictionary(dictionaries, validation)
      const texts = dictionaries && { dictionaries: dictionaryTexts(dictionaries, validation) }
      return this.#service.call(
        'glossaries.update',
        { path: { glossary_id }, body: { ...(name !== undefined && { name }), ...texts } },
        options,
      )
    })
  }

  delete(glossary_id: string, options: TranslationCallOptions = {}): Promise<Result<Nothing>> {
    return this.#service.call('glossaries.delete', { path: { glossary_id } }, options)
  }

  /** The entries of one dictionary as text; `GlossaryEntries.parse` reads them. Errors: `RESPONSE_INVALID` when there is not one. */
  async entries(glossary_id: string, pair: GlossaryPair, options: TranslationCallOptions = {}): Promise<Result<DictionaryText>> {
    const answer = await this.#service.call<EntriesAnswer>('glossaries.entries', { path: { glossary_id }, query: queryOf(pair) }, options)
    try {
      return withResponse({ ...onlyDictionary(answer, pair) }, answer.response)
    } catch (error) {
      throw described(error, answer.response.attempts, 'glossaries.entries')
    }
  }

  /** Makes a dictionary, or puts these entries in the place of those that it has. */
  putDictionary(glossary_id: string, dictionary: DictionaryInput, options: TranslationCallOptions = {}): Promise<Result<Dictionary>> {
    return named('glossaries.putDictionary', async () => {
      const body = dictionaryText(dictionary, this.#service.validation(options))
      return this.#service.call('glossaries.putDictionary', { path: { glossary_id }, body }, options)
    })
  }

  deleteDictionary(glossary_id: string, pair: GlossaryPair, options: TranslationCallOptions = {}): Promise<Result<Nothing>> {
    return this.#service.call('glossaries.deleteDictionary', { path: { glossary_id }, query: queryOf(pair) }, options)
  }
}

/** Both forms are in use: the dictionary itself, or a list that holds it. */
type EntriesAnswer = DictionaryText | { readonly dictionaries: readonly DictionaryText[] }

/** A dictionary may be given for its pair. */
function queryOf({ source_lang, target_lang }: GlossaryPair): Readonly<Record<string, string>> {
  return { source_lang, target_lang }
}

function onlyDictionary(answer: EntriesAnswer, pair: GlossaryPair): DictionaryText {
  const found = 'dictionaries' in answer ? listed(answer.dictionaries, pair) : answer
  if (typeof found?.entries === 'string') return found
  throw new ProtocolError('RESPONSE_INVALID', 'glossaries.entries: the response has no entries for these languages', { retryable: false })
}

function listed(dictionaries: unknown, { source_lang, target_lang }: GlossaryPair): DictionaryText | undefined {
  if (!Array.isArray(dictionaries)) return undefined
  const key = `${source_lang}\t${target_lang}`.toLowerCase()
  return (dictionaries as readonly DictionaryText[]).find(
    (dictionary) => `${dictionary?.source_lang}\t${dictionary?.target_lang}`.toLowerCase() === key,
  )
}

export interface Glossary extends GlossaryPair {
  readonly glossary_id: string
  readonly name: string
  /** Whether translations may use it already. */
  readonly ready: boolean
  readonly creation_time: string
  readonly entry_count: number
}

/** For glossaries with one dictionary; those that were edited on the web or have several are for {@link Glossaries}. */
export class GlossariesV2 {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  /** @deprecated Every two languages of a glossary make a pair. */
  languagePairs(options: TranslationCallOptions = {}): Promise<Result<{ readonly supported_languages: readonly GlossaryPair[] }>> {
    return this.#service.call('glossariesV2.languagePairs', {}, options)
  }

  /** Errors: those of `GlossaryEntries`, `REQUEST_TOO_LARGE` for a name of more than 1024 bytes. */
  create(
    { name, ...dictionary }: { readonly name: string } & DictionaryInput,
    options: TranslationCallOptions = {},
  ): Promise<Result<Glossary>> {
    return named('glossariesV2.create', async () => {
      const validation = this.#service.validation(options)
      checkGlossaryName(name, validation)
      return this.#service.call('glossariesV2.create', { body: { name, ...dictionaryText(dictionary, validation) } }, options)
    })
  }

  list(options: TranslationCallOptions = {}): Promise<Result<{ readonly glossaries: readonly Glossary[] }>> {
    return this.#service.call('glossariesV2.list', {}, options)
  }

  get(glossary_id: string, options: TranslationCallOptions = {}): Promise<Result<Glossary>> {
    return this.#service.call('glossariesV2.get', { path: { glossary_id } }, options)
  }

  /** Errors: 403 for a glossary that {@link Glossaries} or the web has changed. */
  delete(glossary_id: string, options: TranslationCallOptions = {}): Promise<Result<Nothing>> {
    return this.#service.call('glossariesV2.delete', { path: { glossary_id } }, options)
  }

  /** The entries as text; `GlossaryEntries.parse` reads them. */
  async entries(
    glossary_id: string,
    options: TranslationCallOptions = {},
  ): Promise<Result<{ readonly entries: string; readonly entries_format: 'tsv' }>> {
    const answer = await this.#service.send<string>('glossariesV2.entries', { path: { glossary_id } }, options)
    return withResponse({ entries: answer.data, entries_format: 'tsv' as const }, answer)
  }
}

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
function dictionaryText(dictionary: DictionaryInput, validation: Validation): DictionaryText {
  const { source_lang, target_lang, entries: given, entries_format = 'tsv' } = dictionary
  const entries = typeof given === 'string' ? given : GlossaryEntries.of(given).toText(entries_format)
  if (typeof given === 'string' && validation === 'strict') GlossaryEntries.parse(given, entries_format, dictionary)
  else if (validation !== 'off') checkGlossarySize(utf8Length(entries))
  return { source_lang, target_lang, entries, entries_format }
}

/** All dictionaries of one glossary. Errors: those of {@link dictionaryText}; `REQUEST_TOO_LARGE` for all of them together. */
function dictionaryTexts(dictionaries: readonly DictionaryInput[], validation: Validation): readonly DictionaryText[] {
  const texts = dictionaries.map((dictionary) => dictionaryText(dictionary, validation))
  if (validation !== 'off') checkGlossarySize(texts.reduce((sum, { entries }) => sum + utf8Length(entries), 0))
  return texts
}

/** Errors: `REQUEST_TOO_LARGE` for a name of more than 1024 bytes; `TypeError`. */
function checkGlossaryName(name: string, validation: Validation): void {
  if (typeof name !== 'string') throw new TypeError('the name of a glossary must be a string')
  if (validation === 'off') return
  checkTermSize(name, 'the name of the glossary', 'name')
}

/** Errors: `REQUEST_INVALID` for more dictionaries than one change may have. */
function checkOneDictionary(dictionaries: readonly DictionaryInput[], validation: Validation): void {
  if (validation !== 'strict' || dictionaries.length <= 1) return
  const message = `an update can have one dictionary, not ${dictionaries.length}; nothing was sent`
  throw new ValidationError('REQUEST_INVALID', message, { field: 'dictionaries', limit: 1, hint: 'use putDictionary for each' })
}

/** Glossaries with dictionaries for several pairs of languages. */
import { ProtocolError } from '../../errors.ts'
import { described } from '../described.ts'
import {
  checkGlossaryName,
  checkOneDictionary,
  type DictionaryInput,
  type DictionaryText,
  dictionaryText,
  dictionaryTexts,
} from './dictionary-text.ts'
import type { GlossaryPair } from './glossary-entries.ts'
import { named } from './named.ts'
import { type Nothing, type Result, withResponse } from './result.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

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
  throw new ProtocolError('RESPONSE_INVALID', 'glossaries.entries: the answer has no entries for these languages', { retryable: false })
}

function listed(dictionaries: unknown, { source_lang, target_lang }: GlossaryPair): DictionaryText | undefined {
  if (!Array.isArray(dictionaries)) return undefined
  const key = `${source_lang}\t${target_lang}`.toLowerCase()
  return (dictionaries as readonly DictionaryText[]).find(
    (dictionary) => `${dictionary?.source_lang}\t${dictionary?.target_lang}`.toLowerCase() === key,
  )
}

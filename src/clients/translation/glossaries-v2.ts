/** The older family: glossaries for one pair of languages each. */
import { checkGlossaryName, type DictionaryInput, dictionaryText } from './dictionary-text.ts'
import type { GlossaryPair } from './glossary-entries.ts'
import { named } from './named.ts'
import { type Nothing, type Result, withResponse } from './result.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

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

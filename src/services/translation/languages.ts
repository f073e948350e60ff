/** The languages of the service and their features. */
import type { Result, TranslationCallOptions, TranslationService } from './translation-service.ts'

/** A resource that languages are used for; the service may have more. */
export type LanguageResource =
  | 'translate_text'
  | 'translate_document'
  | 'glossary'
  | 'voice'
  | 'write'
  | 'style_rules'
  | 'translation_memory'
  | (string & {})

/** A resource and its features (`GET /v3/languages/resources`). */
export interface LanguageResourceRecord {
  /** Name of the resource: `translate_text`. */
  readonly name: string
  /** Features: `formality`, `glossary`, …, and which languages of a pair must have each. */
  readonly features: readonly {
    readonly name: string
    readonly needs_source_support?: boolean
    readonly needs_target_support?: boolean
  }[]
}

/** A language that the service supports for a resource (`GET /v3/languages`). */
export interface Language {
  /** Code of the language: `de`. */
  readonly lang: string
  /** Name of the language. */
  readonly name: string
  /** Whether texts in it can be translated. */
  readonly usable_as_source: boolean
  /** Whether texts can be translated into it. */
  readonly usable_as_target: boolean
  /** `stable`, `beta`, `early_access`. */
  readonly status: string
  /** The features that the language has, by name. */
  readonly features: Readonly<Record<string, { readonly status: string; readonly external?: boolean }>>
}

/**
 * The languages of the service.
 *
 * @example if (await client.languages.supports({ source: 'en', target: 'de' }, 'formality')) console.log('formality works')
 */
export class Languages {
  readonly #service: TranslationService
  /** Lists that `supports` has requested; kept as long as the client. */
  readonly #known = new Map<string, Promise<readonly unknown[]>>()

  /** @internal */
  constructor(service: TranslationService) {
    this.#service = service
  }

  /** Returns the resources that languages are used for, with the features of each. */
  resources(options: TranslationCallOptions = {}): Promise<Result<readonly LanguageResourceRecord[]>> {
    return this.#service.call('languages.resources', {}, options)
  }

  /** Returns the languages of one resource; `include` adds further ones, such as those in beta. */
  list(
    { resource, include }: { readonly resource: LanguageResource; readonly include?: readonly ('beta' | 'external' | (string & {}))[] },
    options: TranslationCallOptions = {},
  ): Promise<Result<readonly Language[]>> {
    return this.#service.call('languages.list', { query: { resource, ...(include?.length && { include }) } }, options)
  }

  /**
   * Returns true if a feature works for a pair of languages: each language that must have it lists it. Languages are compared without case;
   * the lists are requested once for each client.
   */
  async supports(
    pair: { readonly source: LanguageCode; readonly target: LanguageCode },
    feature: string,
    resource: LanguageResource = 'translate_text',
    options: TranslationCallOptions = {},
  ): Promise<boolean> {
    const [resources, languages] = await Promise.all([
      this.#once('', () => this.resources(options)) as Promise<readonly LanguageResourceRecord[]>,
      this.#once(resource, () => this.list({ resource, include: ['beta', 'external'] }, options)) as Promise<readonly Language[]>,
    ])
    const wanted = resources.find(({ name }) => name === resource)?.features.find(({ name }) => name === feature)
    const [source, target] = [languageOf(languages, pair.source), languageOf(languages, pair.target)]
    if (!wanted || !source?.usable_as_source || !target?.usable_as_target) return false
    const has = (language: Language) => Object.hasOwn(language.features, feature)
    return (!wanted.needs_source_support || has(source)) && (!wanted.needs_target_support || has(target))
  }

  #once(key: string, ask: () => Promise<readonly unknown[]>): Promise<readonly unknown[]> {
    const known = this.#known.get(key)
    if (known) return known
    const asked = ask()
    this.#known.set(key, asked)
    asked.catch(() => this.#known.delete(key))
    return asked
  }
}

function languageOf(languages: readonly Language[], code: string): Language | undefined {
  return languages.find(({ lang }) => lang.toLowerCase() === code.toLowerCase())
}

/** A language code, in any case; editors suggest the known ones. Codes are sent unchanged. */
export type LanguageCode =
  | 'ar'
  | 'bg'
  | 'cs'
  | 'da'
  | 'de'
  | 'el'
  | 'en'
  | 'en-GB'
  | 'en-US'
  | 'es'
  | 'es-419'
  | 'et'
  | 'fi'
  | 'fr'
  | 'he'
  | 'hu'
  | 'id'
  | 'it'
  | 'ja'
  | 'ko'
  | 'lt'
  | 'lv'
  | 'nb'
  | 'nl'
  | 'pl'
  | 'pt'
  | 'pt-BR'
  | 'pt-PT'
  | 'ro'
  | 'ru'
  | 'sk'
  | 'sl'
  | 'sv'
  | 'th'
  | 'tr'
  | 'uk'
  | 'vi'
  | 'zh'
  | 'zh-Hans'
  | 'zh-Hant'
  | (string & {})

/** Which languages there are, and what can be done with them. */
import type { Result, TranslationCallOptions, TranslationService } from './translation-service.ts'

/** What languages are used for; there may be more. */
export type LanguageResource =
  | 'translate_text'
  | 'translate_document'
  | 'glossary'
  | 'voice'
  | 'write'
  | 'style_rules'
  | 'translation_memory'
  | (string & {})

/** A feature of a resource, and which sides of a pair must have it. */
export interface LanguageFeature {
  readonly name: string
  readonly needs_source_support?: boolean
  readonly needs_target_support?: boolean
}

/** What the service offers for a language. */
export interface LanguageResourceRecord {
  readonly name: string
  readonly features: readonly LanguageFeature[]
}

/** A language that the service supports. */
export interface Language {
  readonly lang: string
  readonly name: string
  readonly usable_as_source: boolean
  readonly usable_as_target: boolean
  /** `stable`, `beta`, `early_access`. */
  readonly status: string
  readonly features: Readonly<Record<string, { readonly status: string; readonly external?: boolean }>>
}

/** A language as the older list has it. */
export interface LanguageV2 {
  /** In upper case. */
  readonly language: string
  readonly name: string
  /** Of targets only. */
  readonly supports_formality?: boolean
}

/** Parameters of the list of languages. */
export interface LanguageListParams {
  readonly resource: LanguageResource
  /** What is listed besides. */
  readonly include?: readonly ('beta' | 'external' | (string & {}))[]
}

/** A source and a target language. */
export interface LanguagePair {
  readonly source: LanguageCode
  readonly target: LanguageCode
}

/** The languages of the service. */
export class Languages {
  readonly #service: TranslationService
  /** What `supports` has asked for; kept as long as the client. */
  readonly #known = new Map<string, Promise<readonly unknown[]>>()

  constructor(service: TranslationService) {
    this.#service = service
  }

  /** What languages are used for, and the features of each. */
  resources(options: TranslationCallOptions = {}): Promise<Result<readonly LanguageResourceRecord[]>> {
    return this.#service.call('languages.resources', {}, options)
  }

  /** The languages of one resource. */
  list({ resource, include }: LanguageListParams, options: TranslationCallOptions = {}): Promise<Result<readonly Language[]>> {
    return this.#service.call('languages.list', { query: { resource, ...(include?.length && { include }) } }, options)
  }

  /**
   * True when a feature holds for a pair of languages: every side that must have it lists it. Languages are compared without case; what is
   * asked for once is remembered as long as the client.
   */
  async supports(
    pair: LanguagePair,
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

/** A language code: those that are known, for editors, and any other. Codes go out as they are written. */
export type LanguageCode = KnownLanguage | (string & {})

type KnownLanguage = Base | Uppercase<Base> | Variant | Uppercase<Variant>

type Base =
  | 'ar'
  | 'bg'
  | 'cs'
  | 'da'
  | 'de'
  | 'el'
  | 'en'
  | 'es'
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

type Variant = 'en-GB' | 'en-US' | 'es-419' | 'pt-BR' | 'pt-PT' | 'zh-Hans' | 'zh-Hant'

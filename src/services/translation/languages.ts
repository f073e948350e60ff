/** The languages of the service and their features. */
import { methodsOf, type ServiceMethod, type TranslationCallOptions, type TranslationService } from './translation-service.ts'

/** The words of a text. */
export type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text

/** The 81 languages of January 2026. They need a model other than `latency_optimized`. */
type LaterLanguage =
  | Words<'ace af an as ay az ba be bho bn br bs ca ceb ckb cy eo eu fa ga gl gn gom gu ha hi hr ht hy ig is jv ka kk kmr'>
  | Words<'ky la lb lmo ln mai mg mi mk ml mn mr ms mt my ne oc om pa pag pam prs ps qu sa scn sq sr st su sw ta te tg tk'>
  | Words<'tl tn ts tt ur uz wo xh yi yue zu'>

/** A language code, in any case; editors suggest the known ones, with DE-CH and FR-CA in beta. Codes are sent unchanged. */
export type LanguageCode =
  | Words<'ar bg cs da de de-CH el en en-GB en-US es es-419 et fi fr fr-CA he hu id it ja ko lt lv nb nl pl pt pt-BR pt-PT ro ru'>
  | Words<'sk sl sv th tr uk vi zh zh-Hans zh-Hant'>
  | LaterLanguage
  | (string & {})

/** A resource that languages are used for; the service may have more. */
export type LanguageResource =
  | Words<'translate_text translate_document glossary voice write style_rules translation_memory'>
  | (string & {})

/** A resource and its features (`GET /v3/languages/resources`). */
export interface LanguageResourceRecord {
  /** Name of the resource: `translate_text`. */
  readonly name: LanguageResource
  /** Features: `formality`, `glossary`, …, and which languages of a pair must have each. */
  readonly features: readonly {
    readonly name: string
    readonly needs_source_support?: boolean
    readonly needs_target_support?: boolean
  }[]
}

/** A language that the service supports for a resource (`GET /v3/languages`). */
export interface Language {
  /** Code of the language. */
  readonly lang: LanguageCode
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
export interface Languages {
  /** Returns the resources that languages are used for, with the features of each. */
  readonly resources: ServiceMethod<[], readonly LanguageResourceRecord[]>
  /** Returns the languages of one resource; `include` adds further ones, such as those in beta. */
  readonly list: ServiceMethod<
    [params: { readonly resource: LanguageResource; readonly include?: readonly ('beta' | 'external' | (string & {}))[] }],
    readonly Language[]
  >
  /**
   * Returns true if a feature works for a pair of languages: each language that must have it lists it. Languages are compared without case;
   * the lists are requested once for each client.
   */
  supports(
    pair: { readonly source: LanguageCode; readonly target: LanguageCode },
    feature: string,
    resource?: LanguageResource,
    options?: TranslationCallOptions,
  ): Promise<boolean>
}

export function languagesOf(service: TranslationService): Languages {
  const methods = methodsOf<Omit<Languages, 'supports'>>(service, 'languages')
  const asked = new Map<string, Promise<unknown>>()
  /** Requests a list once, and again after a failure. */
  const once = <T>(key: string, ask: () => Promise<T>) => {
    const list = (asked.get(key) as Promise<T> | undefined) ?? ask()
    asked.set(key, list)
    list.catch(() => asked.delete(key))
    return list
  }
  return {
    ...methods,
    async supports(pair, feature, resource = 'translate_text', options = {}) {
      const [known, listed] = await Promise.all([
        once('', () => methods.resources(options)),
        once(resource, () => methods.list({ resource, include: ['beta', 'external'] }, options)),
      ])
      const wanted = known.find(({ name }) => name === resource)?.features.find(({ name }) => name === feature)
      const [source, target] = [languageIn(listed, pair.source), languageIn(listed, pair.target)]
      if (!wanted || !source?.usable_as_source || !target?.usable_as_target) return false
      const has = (language: Language) => Object.hasOwn(language.features, feature)
      return (!wanted.needs_source_support || has(source)) && (!wanted.needs_target_support || has(target))
    },
  }
}

function languageIn(languages: readonly Language[], code: string): Language | undefined {
  return languages.find(({ lang }) => lang.toLowerCase() === code.toLowerCase())
}

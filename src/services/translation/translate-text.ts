/** Translates, rephrases and corrects texts with one request each. */

import { ProtocolError } from '../../errors.ts'
import type { LanguageCode } from './languages.ts'
import { operations } from './operations.ts'
import type { Result, TranslationCallOptions, TranslationService } from './translation-service.ts'

/** Returns the translations of up to 50 texts, in their order; see `TranslationClient`. */
export function translateText(
  service: TranslationService,
  { text, ...params }: TranslateTextParams,
  options?: TranslationCallOptions,
): Promise<Result<Translations>> {
  const texts = typeof text === 'string' ? [text] : text
  const { translateText: row } = operations
  const { text: size, ...sizes } = { ...row.sizes }
  const limited = size ? { ...row, sizes: { ...sizes, text: { ...size, most: service.maxTextsPerRequest } } } : row
  const read = (result: Result<Translations>) => withCount(result, result.translations, texts, row.name)
  return service.call(limited, { body: { text: texts, ...params } }, options, read)
}

/** Returns improved texts, in their order; see `TranslationClient`. */
export function improveText(
  service: TranslationService,
  operation: 'rephraseText' | 'correctText',
  { text, ...params }: RephraseTextParams,
  options?: TranslationCallOptions,
): Promise<Result<Improvements>> {
  const texts = typeof text === 'string' ? [text] : text
  const read = (result: Result<Improvements>) => withCount(result, result.improvements, texts, operation)
  return service.call(operation, { body: { text: texts, ...params } }, options, read)
}

/** Checks that a result has one item for each text that was sent. Errors: `RESPONSE_INVALID`. */
function withCount<T>(result: T, items: readonly unknown[], { length }: readonly string[], operation: string): T {
  if (items.length === length) return result
  throw new ProtocolError('RESPONSE_INVALID', `${operation}: ${length} texts were sent, the response has ${items.length}`)
}

/** Parameters of a translation (`POST /v2/translate`), with the names of the service. */
export interface TranslateParams {
  /** Target language. */
  readonly target_lang: LanguageCode
  /** Language of the texts; default: detected. Required with a glossary. */
  readonly source_lang?: LanguageCode
  /** Text that helps to translate each text; it is not translated and not billed. */
  readonly context?: string
  /** Adds `billed_characters` to each translation. */
  readonly show_billed_characters?: boolean
  /** Splitting of texts: `0` none, `1` at punctuation and line ends, `nonewlines` at punctuation. */
  readonly split_sentences?: '0' | '1' | 'nonewlines' | (string & {})
  /** Keeps punctuation and case unchanged; default false. */
  readonly preserve_formatting?: boolean
  /** Formality of the translation; `more` and `less` fail for languages without it, `prefer_…` do not. */
  readonly formality?: 'default' | 'more' | 'less' | 'prefer_more' | 'prefer_less' | (string & {})
  /** The model; adds `model_type_used` to each translation. */
  readonly model_type?: 'quality_optimized' | 'prefer_quality_optimized' | 'latency_optimized' | (string & {})
  /** Glossary for the pair of languages. */
  readonly glossary_id?: string
  /** At most 5 glossaries, not together with `glossary_id`. */
  readonly glossary_ids?: readonly string[]
  /** List of style rules for the target language. JSON only. */
  readonly style_id?: string
  /** Translation memory for the pair of languages. */
  readonly translation_memory_id?: string
  /** Similarity in percent that a segment of the memory needs; 75 or more is advised. */
  readonly translation_memory_threshold?: number
  /** At most 10 instructions of 300 characters, for targets in de, en, es, fr, it, ja, ko and zh. JSON only. */
  readonly custom_instructions?: readonly string[]
  /** Markup in the texts. */
  readonly tag_handling?: 'xml' | 'html' | (string & {})
  /** Version of the handling of markup; the default depends on the account. JSON only. */
  readonly tag_handling_version?: 'v1' | 'v2' | (string & {})
  /** Detects the structure of XML; default true. */
  readonly outline_detection?: boolean
  /** Tags that do not split sentences. */
  readonly non_splitting_tags?: readonly string[]
  /** Tags that split sentences. */
  readonly splitting_tags?: readonly string[]
  /** Tags whose content is not translated. */
  readonly ignore_tags?: readonly string[]
  /** Formerly allowed languages in beta. @deprecated It has no effect. */
  readonly enable_beta_languages?: boolean
}

export type TranslateTextParams = TranslateParams & { readonly text: string | readonly string[] }

/** A translated text. */
export interface Translation {
  /** That of the parameters, or the detected one. */
  readonly detected_source_language: string
  /** The translated text. */
  readonly text: string
  /** Number of billed characters, with `show_billed_characters`. */
  readonly billed_characters?: number
  /** The model that was used, with `model_type`. */
  readonly model_type_used?: string
  /** Version of the handling of markup that was used. */
  readonly tag_handling_version?: string
}

/** The translations in the order of the texts. */
export interface Translations {
  readonly translations: readonly Translation[]
}

/** Parameters of `rephraseText` (`POST /v2/write/rephrase`): a style or a tone, not both. */
export interface RephraseTextParams {
  /** One or more texts, together at most 10 KiB. */
  readonly text: string | readonly string[]
  /** The language of the texts; default: detected. */
  readonly target_lang?: LanguageCode
  /** The style to write in. */
  readonly writing_style?: 'default' | `${'' | 'prefer_'}${'academic' | 'business' | 'casual' | 'simple'}` | (string & {})
  /** The tone to write in. */
  readonly tone?: 'default' | `${'' | 'prefer_'}${'confident' | 'diplomatic' | 'enthusiastic' | 'friendly'}` | (string & {})
}

/** An improved text. */
export interface Improvement {
  /** The rephrased or corrected text. */
  readonly text: string
  /** Language of the result. */
  readonly target_language: string
  /** Language that was detected in the text. */
  readonly detected_source_language: string
}

/** The improved texts in the order of the texts. */
export interface Improvements {
  readonly improvements: readonly Improvement[]
}

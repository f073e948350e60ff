/** What a translation of texts is asked with, and what it gives. */
import type { LanguageCode } from './language-code.ts'

/** Names are those of the service. What is left out is not sent: the service has defaults of its own. */
export interface TranslateParams {
  readonly target_lang: LanguageCode
  /** Left out: detected. Needed with a glossary. */
  readonly source_lang?: LanguageCode
  /** Helps with every text, is not translated and not billed. */
  readonly context?: string
  /** Each translation says what it costs in `billed_characters`. */
  readonly show_billed_characters?: boolean
  /** `0` not at all, `1` at punctuation and line ends, `nonewlines` at punctuation. */
  readonly split_sentences?: '0' | '1' | 'nonewlines' | (string & {})
  readonly preserve_formatting?: boolean
  readonly formality?: 'default' | 'more' | 'less' | 'prefer_more' | 'prefer_less' | (string & {})
  /** Each translation says what was used in `model_type_used`. */
  readonly model_type?: 'quality_optimized' | 'prefer_quality_optimized' | 'latency_optimized' | (string & {})
  readonly glossary_id?: string
  /** At most 5, not together with `glossary_id`. */
  readonly glossary_ids?: readonly string[]
  /** JSON only. Its language must be that of the target. */
  readonly style_id?: string
  readonly translation_memory_id?: string
  /** Percent that a segment of the memory must match; 75 or more is advised. */
  readonly translation_memory_threshold?: number
  /** JSON only. At most 10 of 300 characters, for targets in de, en, es, fr, it, ja, ko and zh. */
  readonly custom_instructions?: readonly string[]
  readonly tag_handling?: 'xml' | 'html' | (string & {})
  /** JSON only. The default of the service depends on the account. */
  readonly tag_handling_version?: 'v1' | 'v2' | (string & {})
  readonly outline_detection?: boolean
  readonly non_splitting_tags?: readonly string[]
  readonly splitting_tags?: readonly string[]
  readonly ignore_tags?: readonly string[]
  /** @deprecated It has no effect. */
  readonly enable_beta_languages?: boolean
}

export interface TranslateTextParams extends TranslateParams {
  /** Each is translated for itself. */
  readonly text: string | readonly string[]
}

export interface Translation {
  /** As it was given, or as it was detected. */
  readonly detected_source_language: string
  readonly text: string
  readonly billed_characters?: number
  readonly model_type_used?: string
  readonly tag_handling_version?: string
}

/** In the order of the texts. */
export interface Translations {
  readonly translations: readonly Translation[]
}

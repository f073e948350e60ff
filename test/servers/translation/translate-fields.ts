import type { Fields } from './fields.ts'

/** What a text translation may say. */
export const TRANSLATE_FIELDS: Fields = {
  text: { type: 'strings', required: true },
  target_lang: { type: 'string', required: true },
  source_lang: { type: 'string' },
  context: { type: 'string' },
  show_billed_characters: { type: 'boolean' },
  split_sentences: { type: 'string', values: ['0', '1', 'nonewlines'] },
  preserve_formatting: { type: 'boolean' },
  formality: { type: 'string', values: ['default', 'more', 'less', 'prefer_more', 'prefer_less'] },
  model_type: { type: 'string', values: ['quality_optimized', 'prefer_quality_optimized', 'latency_optimized'] },
  glossary_id: { type: 'string' },
  glossary_ids: { type: 'list' },
  style_id: { type: 'string', jsonOnly: true },
  translation_memory_id: { type: 'string' },
  translation_memory_threshold: { type: 'number' },
  custom_instructions: { type: 'strings', jsonOnly: true },
  tag_handling: { type: 'string', values: ['xml', 'html'] },
  tag_handling_version: { type: 'string', values: ['v1', 'v2'], jsonOnly: true },
  outline_detection: { type: 'boolean' },
  enable_beta_languages: { type: 'boolean' },
  non_splitting_tags: { type: 'list' },
  splitting_tags: { type: 'list' },
  ignore_tags: { type: 'list' },
}

/** What both kinds of translation may choose. */
export interface TranslationChoices {
  readonly target_lang: string
  readonly source_lang?: string
  readonly formality?: string
  readonly glossary_id?: string
  readonly glossary_ids?: readonly string[]
  readonly style_id?: string
  readonly translation_memory_id?: string
  readonly translation_memory_threshold?: number
}

/** The values of a text translation once they are checked. */
export interface TranslateValues extends TranslationChoices {
  readonly text: readonly string[]
  readonly show_billed_characters?: boolean
  readonly model_type?: string
  readonly custom_instructions?: readonly string[]
  readonly tag_handling?: string
  readonly tag_handling_version?: string
}

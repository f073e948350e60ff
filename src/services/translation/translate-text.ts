/** Translates, rephrases and corrects texts with one request each, and checks what is sent. */

import { ProtocolError } from '../../errors.ts'
import { ValidationError } from '../client/errors.ts'
import { encodeForm } from '../client/form.ts'
import type { CallInput } from '../client/request.ts'
import type { LanguageCode } from './languages.ts'
import { inForm } from './operations.ts'
import type { Result, TranslationCallOptions, TranslationService, Validation } from './translation-service.ts'

/** Returns the translations of up to 50 texts, in their order; see `TranslationClient`. */
export async function translateText(
  service: TranslationService,
  { text, ...params }: TranslateTextParams,
  options: TranslationCallOptions = {},
): Promise<Result<Translations>> {
  const texts = typeof text === 'string' ? [text] : text
  const input = (validation: Validation): CallInput => {
    checkTexts(texts, service.maxTextsPerRequest, validation)
    checkTranslation(params, validation)
    const body = { text: texts, ...params }
    if (validation !== 'off') checkBodySize(body, LARGEST_TRANSLATION, options)
    return { body }
  }
  const read = (result: Result<Translations>) => withCount(result, result.translations, texts, 'translateText')
  return service.call('translateText', input, options, read)
}

/** Returns improved texts, in their order; see `TranslationClient`. */
export async function improveText(
  service: TranslationService,
  operation: 'rephraseText' | 'correctText',
  { text, ...params }: RephraseTextParams,
  options: TranslationCallOptions = {},
): Promise<Result<Improvements>> {
  const texts = typeof text === 'string' ? [text] : text
  const input = (validation: Validation): CallInput => {
    if (validation === 'strict') checkChoice(params)
    checkTexts(texts, Number.POSITIVE_INFINITY, validation)
    const body = { text: texts, ...params }
    if (validation === 'strict') checkBodySize(body, LARGEST_IMPROVEMENT, options)
    return { body }
  }
  return service.call(operation, input, options, (result: Result<Improvements>) => withCount(result, result.improvements, texts, operation))
}

/** Checks that a result has one item for each text that was sent. Errors: `RESPONSE_INVALID`. */
function withCount<T>(result: T, items: readonly unknown[], { length }: readonly string[], operation: string): T {
  if (items.length === length) return result
  throw new ProtocolError('RESPONSE_INVALID', `${operation}: ${length} texts were sent, the response has ${items.length}`)
}

/** Maximum size of a request to improve texts, in bytes. */
const LARGEST_IMPROVEMENT = 10 * 1024

/** Maximum size of a whole request in bytes. */
export const LARGEST_TRANSLATION = 128 * 1024

type Encoding = 'json' | 'form'

const ENCODER = new TextEncoder()

/** Returns the size of a text in bytes of UTF-8. */
export function utf8Size(text: string): number {
  return ENCODER.encode(text).length
}

/**
 * Checks the size of a body. Errors: `REQUEST_TOO_LARGE` if it exceeds the limit.
 *
 * @param limit in bytes
 */
function checkBodySize(body: Readonly<Record<string, unknown>>, limit: number, { extraBody, encoding }: TranslationCallOptions): void {
  const size = bodySize({ ...body, ...extraBody }, encoding)
  if (size <= limit) return
  const message = `a request has at most ${limit} bytes, this one would have ${size}; nothing was sent`
  const hint =
    limit === LARGEST_TRANSLATION
      ? 'send fewer texts at once: translateMany splits them into several requests'
      : 'divide the text and send each part by itself'
  throw new ValidationError('REQUEST_TOO_LARGE', message, { field: 'text', limit, hint })
}

/** Returns the size of the body in bytes as it is sent. */
export function bodySize(body: Readonly<Record<string, unknown>>, encoding: Encoding = 'json'): number {
  return encoding === 'form' ? encodeForm(inForm(body), { arrays: 'repeat' }).length : utf8Size(JSON.stringify(body) ?? '')
}

const MOST_INSTRUCTIONS = 10

const LONGEST_INSTRUCTION = 300

const MOST_GLOSSARIES = 5

/** Languages that support custom instructions, with all their variants. */
const INSTRUCTED = new Set(['de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'zh'])

/** Refuses options that the service would refuse. Errors: `REQUEST_INVALID`; `TypeError` for a target that is not a string. */
export function checkTranslation(params: Partial<TranslateParams>, validation: Validation): void {
  const { target_lang: target, source_lang: source, custom_instructions: instructions } = params
  if (typeof target !== 'string') throw new TypeError('target_lang must be a string, such as "DE"')
  if (instructions && !isTexts(instructions)) throw new TypeError('custom_instructions must be an array of strings')
  if (validation === 'off') return
  if (target === '') throw refused('target_lang', 'target_lang is empty')
  const hasGlossary = params.glossary_id !== undefined || params.glossary_ids !== undefined
  if (hasGlossary && source === undefined) throw refused('source_lang', 'a glossary needs source_lang')
  if (instructions) checkInstructions(instructions, target)
  if (validation === 'strict') checkPublic(params)
}

/** Checks a list of texts. Errors: `REQUEST_INVALID` for an empty one, `REQUEST_TOO_LARGE`; `TypeError` for anything else. */
function checkTexts(texts: readonly string[], most: number, validation: Validation): void {
  if (!isTexts(texts)) throw new TypeError('text must be a string or an array of strings')
  if (validation === 'off') return
  if (texts.length === 0) throw refused('text', 'text is empty')
  if (validation === 'strict' && texts.length > most) {
    const hint = 'use translateMany, which splits them into several requests'
    const message = `a request has at most ${most} texts, not ${texts.length}; nothing was sent`
    throw new ValidationError('REQUEST_TOO_LARGE', message, { field: 'text', limit: most, hint })
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

function checkInstructions(instructions: readonly string[], target: string): void {
  if (instructions.length > MOST_INSTRUCTIONS)
    throw refused('custom_instructions', `there are at most ${MOST_INSTRUCTIONS} custom instructions`, MOST_INSTRUCTIONS)
  const long = instructions.findIndex((text) => text.length > LONGEST_INSTRUCTION && [...text].length > LONGEST_INSTRUCTION)
  if (long >= 0) {
    const why = `a custom instruction has at most ${LONGEST_INSTRUCTION} characters`
    throw refused(`custom_instructions[${long}]`, why, LONGEST_INSTRUCTION)
  }
  const [base = ''] = target.toLowerCase().split('-')
  if (instructions.length > 0 && !INSTRUCTED.has(base)) throw refused('target_lang', `custom instructions are not supported for ${target}`)
}

/** Limits that only the public documentation of the service names. */
function checkPublic({ glossary_id, glossary_ids, translation_memory_threshold: threshold }: Partial<TranslateParams>): void {
  if (glossary_id !== undefined && glossary_ids !== undefined)
    throw refused('glossary_ids', 'glossary_id and glossary_ids cannot be used together')
  if (glossary_ids && glossary_ids.length > MOST_GLOSSARIES)
    throw refused('glossary_ids', `there are at most ${MOST_GLOSSARIES} glossaries`, MOST_GLOSSARIES)
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 100))
    throw refused('translation_memory_threshold', 'the threshold must be a number from 0 to 100', 100)
}

function refused(field: string, why: string, limit?: number): ValidationError {
  return new ValidationError('REQUEST_INVALID', `${why}; nothing was sent`, { field, ...(limit !== undefined && { limit }) })
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

/** Parameters of a translation of up to 50 texts. */
export type TranslateTextParams = TranslateParams & { readonly text: string | readonly string[] }

/** A translated text. */
export interface Translation {
  /** Source language: that of the parameters, or the detected one. */
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

function checkChoice({ writing_style: style = 'default', tone = 'default' }: Partial<RephraseTextParams>): void {
  if (style !== 'default' && tone !== 'default') throw refused('tone', 'writing_style and tone cannot be used together')
}

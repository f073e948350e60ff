/** Translates, rephrases and corrects texts with one request each, and checks what is sent. */

import { ValidationError } from '../client/errors.ts'
import { encodeForm } from '../client/form.ts'
import type { LanguageCode } from './languages.ts'
import { inForm } from './operations.ts'
import {
  named,
  type Result,
  type TranslationCallOptions,
  type TranslationService,
  type Validation,
  withCount,
} from './translation-service.ts'

/**
 * Returns the translations of up to 50 texts, in their order; a single text counts as a list of one. The whole request has at most 128 KiB.
 *
 * Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE` before anything is sent; `RESPONSE_INVALID` when the number of translations is not that of
 * the texts; those of every call.
 */
export function translateText(
  service: TranslationService,
  params: TranslateTextParams,
  options: TranslationCallOptions = {},
): Promise<Result<Translations>> {
  return named('translateText', async () => {
    const { text, ...rest } = params
    const validation = service.validation(options)
    const texts = typeof text === 'string' ? [text] : text
    checkTexts(texts, service.maxTextsPerRequest, validation)
    checkTranslation(rest, validation)
    const body = { text: texts, ...rest }
    if (validation !== 'off') checkBodySize({ ...body, ...options.extraBody }, LARGEST_TRANSLATION, options.encoding)
    const result = await service.call<Translations>('translateText', { body }, options)
    return withCount(result, result.translations, texts.length, 'translateText')
  })
}

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
function checkBodySize(body: Readonly<Record<string, unknown>>, limit: number, encoding?: Encoding): void {
  const size = bodySize(body, encoding)
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

/**
 * Checks the length of a text. Errors: `REQUEST_TOO_LARGE` for more than `limit` characters (code points); `TypeError` for a value that is
 * not a string.
 */
export function checkTextLength(text: string, field: string, limit: number): void {
  if (typeof text !== 'string') throw new TypeError(`${field} must be a string`)
  if (text.length <= limit || (text.length <= limit * 2 && [...text].length <= limit)) return
  throw new ValidationError('REQUEST_TOO_LARGE', `${field} has more than ${limit} characters; nothing was sent`, { field, limit })
}

/**
 * Checks the length of a list. Errors: `REQUEST_TOO_LARGE` for more than `most` elements; `REQUEST_INVALID` for fewer than `least`;
 * `TypeError`.
 */
export function checkCount(
  list: readonly unknown[],
  field: string,
  { least = 1, most }: { readonly least?: number; readonly most: number },
): void {
  if (!Array.isArray(list)) throw new TypeError(`${field} must be an array`)
  if (list.length < least) throw new ValidationError('REQUEST_INVALID', `${field} needs at least ${least}; nothing was sent`, { field })
  if (list.length <= most) return
  const message = `${field} has ${list.length}, at most ${most} can be sent at once; nothing was sent`
  throw new ValidationError('REQUEST_TOO_LARGE', message, { field, limit: most })
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

type CorrectTextParams = Pick<RephraseTextParams, 'text' | 'target_lang'>

/** An improved text. */
export interface Improvement {
  /** The rephrased or corrected text. */
  readonly text: string
  /** Language of the result. */
  readonly target_language: string
  /** Language that was detected in the text. */
  readonly detected_source_language: string
}

interface Improvements {
  readonly improvements: readonly Improvement[]
}

/** Maximum size of a request to improve texts, in bytes. */
const LARGEST_IMPROVEMENT = 10 * 1024
/** The service limits the size of a request, not the number of texts. */
const ANY_NUMBER = Number.POSITIVE_INFINITY

/**
 * Returns improved texts. Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE` (10 KiB) before anything is sent, `RESPONSE_INVALID`, those
 * of every call.
 */
export function rephraseText(
  service: TranslationService,
  params: RephraseTextParams,
  options: TranslationCallOptions = {},
): Promise<Result<Improvements>> {
  return named('rephraseText', async () => {
    if (service.validation(options) === 'strict') checkChoice(params)
    return improved(service, 'rephraseText', params, options)
  })
}

/** Returns texts with corrected spelling and grammar. Errors: as of {@link rephraseText}. */
export function correctText(
  service: TranslationService,
  params: CorrectTextParams,
  options: TranslationCallOptions = {},
): Promise<Result<Improvements>> {
  return named('correctText', () => improved(service, 'correctText', params, options))
}

function checkChoice({ writing_style: style = 'default', tone = 'default' }: RephraseTextParams): void {
  if (style !== 'default' && tone !== 'default')
    throw new ValidationError('REQUEST_INVALID', 'writing_style and tone cannot be used together; nothing was sent', { field: 'tone' })
}

async function improved(
  service: TranslationService,
  operation: 'rephraseText' | 'correctText',
  { text, ...params }: CorrectTextParams,
  options: TranslationCallOptions,
): Promise<Result<Improvements>> {
  const validation = service.validation(options)
  const texts = typeof text === 'string' ? [text] : text
  checkTexts(texts, ANY_NUMBER, validation)
  const body = { text: texts, ...params }
  if (validation === 'strict') checkBodySize({ ...body, ...options.extraBody }, LARGEST_IMPROVEMENT, options.encoding)
  const result = await service.call<Improvements>(operation, { body }, options)
  return withCount(result, result.improvements, texts.length, operation)
}

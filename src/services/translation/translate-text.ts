/** Translates texts: up to 50 in one request, or any number in several requests. */

import { type AuthError, isAuthError } from '../../errors.ts'
import { described, hasStatus, ValidationError } from '../client/errors.ts'
import { encodeForm } from '../client/form.ts'
import { abortable } from '../client/paging.ts'
import { BatchError } from './errors.ts'
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
  return named('translateText', () => translated(service, params, options))
}

async function translated(
  service: TranslationService,
  { text, ...params }: TranslateTextParams,
  options: TranslationCallOptions,
): Promise<Result<Translations>> {
  const validation = service.validation(options)
  const texts = typeof text === 'string' ? [text] : text
  checkTexts(texts, service.maxTextsPerRequest, validation)
  checkTranslation(params, validation)
  const body = { text: texts, ...params }
  if (validation !== 'off') checkBodySize({ ...body, ...options.extraBody }, LARGEST_TRANSLATION, options.encoding)
  const result = await service.call<Translations>('translateText', { body }, options)
  return withCount(result, result.translations, texts.length, 'translateText')
}

/** The translation of one text, or its error; `index` is its position in the input, from 0. */
export type TextOutcome =
  | { readonly index: number; readonly translation: Translation }
  /** `notSent`: it was not sent, because the quota is used up. */
  | { readonly index: number; readonly error: AuthError; readonly notSent: boolean }

/** Options of `translateMany`. */
export interface TranslateManyOptions extends TranslationCallOptions {
  /** Maximum number of requests at a time; default 4. */
  readonly concurrency?: number
}

/** The translations of many texts, for `for await`, in the order of the texts. Leaving the loop aborts running requests. */
export interface TranslatedTexts extends AsyncIterable<TextOutcome> {
  /** Returns all translations. Errors: `BATCH_INCOMPLETE` with those that succeeded, if one failed, after all were tried. */
  toArray(): Promise<readonly Translation[]>
}

/**
 * Translates texts in requests of at most 50 texts and 128 KiB, options included. A text that is too long, or whose request fails, has its
 * own outcome; a single text counts as a list of one. Once the quota is used up (456) nothing more is sent.
 *
 * Errors of the loop: `REQUEST_INVALID` for the options, `ABORTED`, and errors of the source of the texts.
 */
export function translateMany(
  service: TranslationService,
  texts: Iterable<string> | AsyncIterable<string>,
  params: TranslateParams,
  options: TranslateManyOptions = {},
): TranslatedTexts {
  const outcomes = () => abortable((signal) => new Batches(service, params, { ...options, signal }).run(texts), options.signal)
  return {
    [Symbol.asyncIterator]: outcomes,
    async toArray() {
      return complete(await all(this))
    },
  }
}

class Batches {
  readonly #service: TranslationService
  readonly #params: TranslateParams
  readonly #options: TranslateManyOptions
  /** The error that stops further requests. */
  #stopped: AuthError | undefined

  constructor(service: TranslationService, params: TranslateParams, options: TranslateManyOptions) {
    this.#service = service
    this.#params = params
    this.#options = options
  }

  async *run(texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<TextOutcome, void> {
    const { concurrency = 4, extraBody, encoding } = this.#options
    const packer = await named('translateMany', async () => {
      checkTranslation(this.#params, this.#service.validation(this.#options))
      return new TextPacker({ ...this.#params, ...extraBody }, this.#service.maxTextsPerRequest, encoding)
    })
    /** In the order of the texts; these promises never reject. */
    const underWay: Promise<readonly TextOutcome[] | Ended>[] = []
    for await (const batch of packer.batches(typeof texts === 'string' ? [texts] : texts)) {
      if (underWay.length >= concurrency) yield* outcomesOf(await underWay.shift())
      underWay.push(this.#send(batch))
    }
    while (underWay.length > 0) yield* outcomesOf(await underWay.shift())
  }

  async #send({ indices, texts, refusal }: Batch): Promise<readonly TextOutcome[] | Ended> {
    if (refusal) return failed(indices, described(refusal, 0, 'translateText') as AuthError, false)
    if (this.#stopped) return failed(indices, this.#stopped, true)
    try {
      const { translations } = await translateText(this.#service, { ...this.#params, text: texts }, this.#options)
      return translations.map((translation, at) => ({ index: indices[at] ?? 0, translation }))
    } catch (error) {
      if (!isAuthError(error) || this.#options.signal?.aborted) return { ended: error }
      if (hasStatus(error, 456)) this.#stopped ??= error
      const { attempts } = error as { readonly attempts?: number }
      return failed(indices, error, hasStatus(error, 456) && attempts === 0)
    }
  }
}

/** The error that ends the whole loop. */
interface Ended {
  readonly ended: unknown
}

function outcomesOf(result: readonly TextOutcome[] | Ended | undefined): readonly TextOutcome[] {
  if (result && 'ended' in result) throw result.ended
  return result ?? []
}

function failed(indices: readonly number[], error: AuthError, notSent: boolean): readonly TextOutcome[] {
  return indices.map((index) => ({ index, error, notSent }))
}

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

function complete(outcomes: readonly TextOutcome[]): readonly Translation[] {
  const results = outcomes.map((outcome) => ('translation' in outcome ? outcome.translation : undefined))
  const present = results.filter((result) => result !== undefined)
  if (present.length === results.length) return present
  const missing = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome] : []))
  const notSent = missing.filter((outcome) => outcome.notSent).map(({ index }) => index)
  const failures = missing.filter((outcome) => !outcome.notSent).map(({ index, error }) => ({ index, error }))
  const cause = (failures[0] ?? missing[0])?.error
  const message = `${present.length} of ${results.length} texts are translated, ${failures.length} failed, ${notSent.length} were not sent`
  const hint = 'translate the texts in failures and notSent again'
  throw new BatchError(`${message}${cause ? `: ${cause.message}` : ''}`, { results, failures, notSent, hint, cause })
}

/** The texts of one request and their positions in the input; with `refusal`, one text that is too large for any request. */
interface Batch {
  readonly indices: readonly number[]
  readonly texts: readonly string[]
  readonly refusal?: ValidationError
}

/** Packs texts, in their order, into as few requests as the limits of the service allow. */
class TextPacker {
  readonly #most: number
  readonly #encoding: 'json' | 'form'
  /** Size of a request without texts, in bytes. */
  readonly #empty: number

  /**
   * @param body the other members of each request
   * @param most texts of a request
   */
  constructor(body: Readonly<Record<string, unknown>>, most: number, encoding: 'json' | 'form' = 'json') {
    this.#most = most
    this.#encoding = encoding
    this.#empty = encoding === 'json' ? bodySize({ text: [], ...body }) : bodySize(body, 'form')
  }

  /** Returns the batches in order. Errors: those of the source; `TypeError` for a value that is not a string. */
  async *batches(texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<Batch, void> {
    let open: { indices: number[]; texts: string[] } = { indices: [], texts: [] }
    let size = this.#empty
    let index = 0
    for await (const text of texts) {
      if (typeof text !== 'string') throw new TypeError(`text ${index} is not a string`)
      const more = this.#sizeOf(text, index)
      const isRefused = typeof more !== 'number'
      const isFull = isRefused || open.texts.length >= this.#most || size + more + this.#separator(open.texts.length) > LARGEST_TRANSLATION
      if (open.texts.length > 0 && isFull) {
        yield open
        open = { indices: [], texts: [] }
        size = this.#empty
      }
      if (isRefused) yield { indices: [index], texts: [text], refusal: more }
      else {
        size += more + this.#separator(open.texts.length)
        open.indices.push(index)
        open.texts.push(text)
      }
      index++
    }
    if (open.texts.length > 0) yield open
  }

  /** Returns the size of a text in the body, for a form with the `&` before it; or the error of a text that fits into no request. */
  #sizeOf(text: string, index: number): number | ValidationError {
    try {
      const size = this.#encoding === 'json' ? utf8Size(JSON.stringify(text)) : bodySize({ text }, 'form') + 1
      return this.#empty + size > LARGEST_TRANSLATION ? tooLong(index, this.#empty + size) : size
    } catch (error) {
      // A form cannot carry every text.
      if (error instanceof ValidationError) return error
      throw error
    }
  }

  #separator(before: number): number {
    return this.#encoding === 'json' && before > 0 ? 1 : 0
  }
}

function tooLong(index: number, size: number): ValidationError {
  const message = `a request has at most ${LARGEST_TRANSLATION} bytes, text ${index} alone needs ${size}; it was not sent`
  return new ValidationError('REQUEST_TOO_LARGE', message, { field: `text[${index}]`, limit: LARGEST_TRANSLATION })
}

/** Maximum size of a whole request in bytes. */
const LARGEST_TRANSLATION = 128 * 1024

/** Maximum number of bytes for one code unit: an escape in JSON, or three percent-encoded bytes. */
const WORST = { json: 6, form: 9 }

/** Code units of names, quotes and short values, and of the characters around a text in a list. */
const REST = 512

const AROUND = 6

type Encoding = 'json' | 'form'

const ENCODER = new TextEncoder()

/** Returns the size of a text in bytes of UTF-8. */
function utf8Size(text: string): number {
  return ENCODER.encode(text).length
}

/**
 * Checks the size of a body. Errors: `REQUEST_TOO_LARGE` if it exceeds the limit.
 *
 * @param limit in bytes
 */
export function checkBodySize(body: Readonly<Record<string, unknown>>, limit: number, encoding?: Encoding): void {
  if (isSurelyWithin(limit, body, encoding)) return
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
function bodySize(body: Readonly<Record<string, unknown>>, encoding: Encoding = 'json'): number {
  return encoding === 'form' ? encodeForm(inForm(body), { arrays: 'repeat' }).length : utf8Size(JSON.stringify(body) ?? '')
}

/** Returns true if the body is certainly within the limit, without encoding it. */
function isSurelyWithin(limit: number, body: Readonly<Record<string, unknown>>, encoding: Encoding = 'json'): boolean {
  let units = REST
  for (const value of Object.values(body)) {
    if (typeof value === 'string') units += value.length
    else if (Array.isArray(value)) for (const item of value) units += (typeof item === 'string' ? item.length : limit) + AROUND
    else if (typeof value === 'object' && value !== null) return false
  }
  return units * WORST[encoding] <= limit
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
export function checkTexts(texts: readonly string[], most: number, validation: Validation): void {
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

/** Translates any number of texts, in as few requests as the limits of the service allow. */

import { type AuthError, isAuthError } from '../../errors.ts'
import { described, hasStatus, ValidationError } from '../client/errors.ts'
import { abortable } from '../client/paging.ts'
import { BatchError } from './errors.ts'
import {
  bodySize,
  checkTranslation,
  LARGEST_TRANSLATION,
  type TranslateParams,
  type Translation,
  translateText,
  utf8Size,
} from './translate-text.ts'
import { named, type TranslationCallOptions, type TranslationService } from './translation-service.ts'

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

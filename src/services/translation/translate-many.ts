/** Translates any number of texts, in as few requests as the limits of the service allow. */

import { type AuthError, isAuthError } from '../../errors.ts'
import { utf8Length } from '../../text/utf8-length.ts'
import { described, hasStatus, ValidationError } from '../client/errors.ts'
import { abortable } from '../client/paging.ts'
import { BatchError } from './errors.ts'
import { bodySize, checkTranslation, operations } from './operations.ts'
import { type TranslateParams, type Translation, translateText } from './translate-text.ts'
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
  const outcomes = () => abortable((signal) => sent(service, texts, params, { ...options, signal }), options.signal)
  return {
    [Symbol.asyncIterator]: outcomes,
    async toArray() {
      const list: TextOutcome[] = []
      for await (const outcome of this) list.push(outcome)
      return complete(list)
    },
  }
}

/** The texts of one request and their positions in the input; with `refusal`, one text that is too large for any request. */
interface Batch {
  readonly indices: number[]
  readonly texts: string[]
  readonly refusal?: ValidationError
}

/** Sends the requests, at most `concurrency` at a time, and returns the outcomes in the order of the texts. */
async function* sent(
  service: TranslationService,
  texts: Iterable<string> | AsyncIterable<string>,
  params: TranslateParams,
  options: TranslateManyOptions,
): AsyncGenerator<TextOutcome, void> {
  const { concurrency = 4, extraBody, encoding = 'json' } = options
  const empty = await named('translateMany', async () => {
    checkTranslation({ ...params }, service.validation(options))
    const body = { ...params, ...extraBody }
    // In a form `&` follows the other members.
    return encoding === 'json' ? bodySize({ text: [], ...body }) : bodySize(body, 'form') + 1
  })
  /** The error that stops further requests. */
  let stopped: AuthError | undefined
  const send = async ({ indices, texts: own, refusal }: Batch): Promise<readonly TextOutcome[]> => {
    const failed = (error: AuthError, notSent: boolean) => indices.map((index) => ({ index, error, notSent }))
    if (refusal) return failed(described(refusal, 0, 'translateText') as AuthError, false)
    if (stopped) return failed(stopped, true)
    try {
      const { translations } = await translateText(service, { ...params, text: own }, options)
      return translations.map((translation, at) => ({ index: indices[at] ?? 0, translation }))
    } catch (error) {
      if (!isAuthError(error) || options.signal?.aborted) throw error
      const isQuota = hasStatus(error, 456)
      if (isQuota) stopped ??= error
      return failed(error, isQuota && error.attempts === 0)
    }
  }
  /** In the order of the texts. */
  const underWay: Promise<readonly TextOutcome[]>[] = []
  for await (const batch of packed(typeof texts === 'string' ? [texts] : texts, empty, service.maxTextsPerRequest, encoding)) {
    if (underWay.length >= concurrency) yield* (await underWay.shift()) ?? []
    const outcomes = send(batch)
    // Its failure is noticed when its turn comes.
    outcomes.catch(() => undefined)
    underWay.push(outcomes)
  }
  while (underWay.length > 0) yield* (await underWay.shift()) ?? []
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

/** Maximum size of a request in bytes. */
const LARGEST = operations.translateText.largest?.most ?? 0

/**
 * Packs texts, in their order, into as few requests as the limits allow. Errors: those of the source; `TypeError` for a value that is not a
 * string.
 *
 * @param empty size of a request without texts, in bytes
 */
async function* packed(
  texts: Iterable<string> | AsyncIterable<string>,
  empty: number,
  mostTexts: number,
  encoding: 'json' | 'form',
): AsyncGenerator<Batch, void> {
  let open: Batch = { indices: [], texts: [] }
  let size = empty
  let index = 0
  for await (const text of texts) {
    if (typeof text !== 'string') throw new TypeError(`text ${index} is not a string`)
    const own = !text.isWellFormed() ? 0 : encoding === 'json' ? utf8Length(JSON.stringify(text)) : bodySize({ text }, 'form')
    const refusal = refusalOf(text, index, empty + own)
    // One more for the comma or `&` between texts.
    if (open.texts.length > 0 && (refusal || open.texts.length >= mostTexts || size + own + 1 > LARGEST)) {
      yield open
      open = { indices: [], texts: [] }
      size = empty
    }
    if (refusal) yield { indices: [index], texts: [text], refusal }
    else {
      size += own + (open.texts.length > 0 ? 1 : 0)
      open.indices.push(index)
      open.texts.push(text)
    }
    index++
  }
  if (open.texts.length > 0) yield open
}

/** Returns the error of a text that no request can carry. */
function refusalOf(text: string, index: number, size: number): ValidationError | undefined {
  const field = `text[${index}]`
  if (!text.isWellFormed())
    return new ValidationError('REQUEST_INVALID', `"${field}" has an unpaired surrogate in it; it was not sent`, { field })
  if (size <= LARGEST) return undefined
  const message = `a request has at most ${LARGEST} bytes, text ${index} alone needs ${size}; it was not sent`
  return new ValidationError('REQUEST_TOO_LARGE', message, { field, limit: LARGEST })
}

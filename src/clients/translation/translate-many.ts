/** Translates any number of texts: as many requests as they need, answers in the order of the texts. */
import { type AuthError, isAuthError } from '../../errors.ts'
import { abortable } from '../abortable.ts'
import { described } from '../described.ts'
import { QuotaExceededError } from '../errors.ts'
import { checkTranslation } from './check-translation.ts'
import { BatchError } from './errors.ts'
import { named } from './named.ts'
import { type Batch, TextPacker } from './text-packer.ts'
import type { TranslateParams, Translation } from './translate-params.ts'
import { translateText } from './translate-text.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

/** What became of one text; `index` is its place among all. */
export type TextOutcome =
  | { readonly index: number; readonly translation: Translation }
  /** `notSent`: the service was not asked, because the quota is used up. */
  | { readonly index: number; readonly error: AuthError; readonly notSent: boolean }

export interface TranslateManyOptions extends TranslationCallOptions {
  /** Requests under way at a time; default 4. */
  readonly concurrency?: number
}

/** Outcomes one by one, in the order of the texts; leaving the loop aborts what is under way. */
export interface TranslatedTexts extends AsyncIterable<TextOutcome> {
  /** All translations. Errors: `BATCH_INCOMPLETE` with those that there are, as soon as one is missing and all are tried. */
  toArray(): Promise<readonly Translation[]>
}

/**
 * Translates texts in requests of at most 50 texts and 128 KiB, options included. A text that is too long, or whose request fails, is
 * an outcome of its own. Once the quota is used up (456) nothing more is sent.
 *
 * Errors of the loop: `REQUEST_INVALID` for the options, `ABORTED`, and what the source of the texts throws.
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
  /** Why nothing more is sent. */
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
    /** In the order of the texts; none of them rejects. */
    const underWay: Promise<readonly TextOutcome[] | Ended>[] = []
    for await (const batch of packer.batches(texts)) {
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
      if (error instanceof QuotaExceededError) this.#stopped ??= error
      const { attempts } = error as { readonly attempts?: number }
      return failed(indices, error, error instanceof QuotaExceededError && attempts === 0)
    }
  }
}

/** The whole loop is over. */
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
  const hint = 'look at failures and notSent, and translate those again'
  throw new BatchError(`${message}${cause ? `: ${cause.message}` : ''}`, { results, failures, notSent, hint, cause })
}

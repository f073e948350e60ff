/** Translates the texts of a command so that nothing is paid for twice: known ones are not sent, and finished ones are kept at once. */

import { AuthError, isAuthError } from '../../errors.ts'
import type { TextOutcome, TranslateParams, Translation, TranslationClient } from '../../services/translation/index.ts'
import type { TranslatedTexts } from '../../services/translation/translate-many.ts'
import { EXIT, exitCodeOf } from '../exit-code.ts'
import { memoryKey, type TextMemory } from './text-memory.ts'
import { requestPieces, roomFor, type TextPiece, textSize } from './text-pieces.ts'

/** Requests at a time, and texts in each. */
const [CONCURRENCY, MOST_TEXTS] = [4, 50]

/** Milliseconds that running requests have after an interruption: they are paid for already. */
const GRACE = 3000

interface PaidTextsOptions {
  readonly client: TranslationClient
  /** Translations that are not paid for again. */
  readonly known: TextMemory
  /** Its abort stops further requests. */
  readonly signal: AbortSignal
  /** Keeps what is finished while other texts are not. Never rejects. */
  readonly save: (finished: TextMemory) => Promise<void>
}

type Missing = Extract<TextOutcome, { readonly error: AuthError }>

/** The texts of one command. */
export class PaidTexts {
  /** All translations that the command used, known and received. */
  readonly finished: TextMemory = new Map()
  /** Number of texts that were sent and translated, and their characters as Unicode code points. */
  sent = 0
  characters = 0
  /** Number of texts that were known. */
  reused = 0
  readonly #options: PaidTextsOptions
  /** The error that further requests would have, too. */
  #stopped: AuthError | undefined
  #failures = 0
  #unsaved = false

  constructor(options: PaidTextsOptions) {
    this.#options = options
  }

  /** Returns the outcomes in the order of the texts. A text that is larger than a request is sent in pieces, unless it has markup. */
  async translate(texts: readonly string[], params: TranslateParams): Promise<readonly TextOutcome[]> {
    const room = roomFor(params)
    const split = (text: string) => (params.tag_handling === undefined ? requestPieces(text, room) : [{ text, translate: true }])
    const all = texts.map(split)
    const service = this.#options.client.origin ?? ''
    const sent = all.flat().filter(({ translate }) => translate)
    const keys = new Map(sent.map(({ text }) => [text, memoryKey(service, params, text)]))
    const missing = await this.#send(keys, params, room)
    return all.map((pieces, index) => this.#joined(index, pieces, keys, missing))
  }

  /** The same, as the part of a client that `translateCatalog` needs. */
  translateMany(texts: Iterable<string> | AsyncIterable<string>, params: TranslateParams): TranslatedTexts {
    const outcomes = () => this.translate([...(texts as Iterable<string>)], params)
    return {
      async *[Symbol.asyncIterator]() {
        yield* await outcomes()
      },
      async toArray() {
        return (await outcomes()).map((outcome) => {
          if ('error' in outcome) throw outcome.error
          return outcome.translation
        })
      },
    }
  }

  #joined(
    index: number,
    pieces: readonly TextPiece[],
    keys: ReadonlyMap<string, string>,
    missing: ReadonlyMap<string, Missing>,
  ): TextOutcome {
    const lost = pieces.flatMap(({ text }) => missing.get(text) ?? [])[0]
    if (lost) return { ...lost, index }
    const found = pieces.map(({ text, translate }) => (translate ? this.finished.get(keys.get(text) ?? '') : undefined) ?? [text, ''])
    const language = found.find(([, detected]) => detected !== '')?.[1] ?? ''
    return { index, translation: { text: found.map(([text]) => text).join(''), detected_source_language: language } }
  }

  /** Sends the texts that are not known, each once. Returns why some are not finished. */
  async #send(keys: ReadonlyMap<string, string>, params: TranslateParams, room: number): Promise<ReadonlyMap<string, Missing>> {
    const { known, signal } = this.#options
    const wanted = [...keys].flatMap(([text, key]) => {
      const found = this.finished.get(key) ?? known.get(key)
      if (!found) return [text]
      this.finished.set(key, found)
      this.reused++
      return []
    })
    const requests = packed(wanted, room)
    const missing = new Map<string, Missing>()
    const grace = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const interrupted = () => {
      timer = setTimeout(() => grace.abort(signal.reason), GRACE)
    }
    signal.addEventListener('abort', interrupted, { once: true })
    let running = 0
    const sendAll = async () => {
      for (let texts = requests.shift(); texts; texts = requests.shift()) {
        await this.#save()
        running++
        for (const outcome of await this.#request(texts, params, grace.signal)) {
          const text = texts[outcome.index] ?? ''
          if ('error' in outcome) missing.set(text, outcome)
          else this.#received(keys.get(text) ?? '', text, outcome.translation)
        }
        running--
        if (running > 0) await this.#save()
      }
    }
    try {
      await Promise.all(Array.from({ length: CONCURRENCY }, sendAll))
    } finally {
      signal.removeEventListener('abort', interrupted)
      clearTimeout(timer)
    }
    return missing
  }

  async #save(): Promise<void> {
    if (!this.#unsaved) return
    this.#unsaved = false
    await this.#options.save(this.finished)
  }

  #received(key: string, text: string, { text: translation, detected_source_language: language }: Translation): void {
    this.finished.set(key, [translation, language])
    this.#unsaved = true
    this.sent++
    for (const _character of text) this.characters++
  }

  /** Sends one request, unless a former one has failed for a reason that it would share. */
  async #request(texts: readonly string[], params: TranslateParams, signal: AbortSignal): Promise<readonly TextOutcome[]> {
    if (this.#options.signal.aborted) this.#stopped ??= new AuthError('ABORTED', 'interrupted')
    if (this.#stopped) return failedFrom(0, texts, this.#stopped, true)
    const outcomes: TextOutcome[] = []
    try {
      for await (const outcome of this.#options.client.translateMany(texts, params, { signal, concurrency: 1 })) outcomes.push(outcome)
    } catch (thrown) {
      if (!isAuthError(thrown) || !signal.aborted) throw thrown
      return [...outcomes, ...failedFrom(outcomes.length, texts, thrown, false)]
    }
    const [error] = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []))
    if (error && this.#isForAll(error)) this.#stopped ??= error
    return outcomes
  }

  /** True for an error of the key or the quota, and if no request has succeeded and several have failed. */
  #isForAll({ code }: AuthError): boolean {
    const exit = exitCodeOf(code)
    if (exit === EXIT.network && code !== 'HTTP_456') return this.sent === 0 && ++this.#failures >= CONCURRENCY
    // Of a text that cannot be sent, the others know nothing.
    return exit !== EXIT.usage
  }
}

function failedFrom(start: number, texts: readonly string[], error: AuthError, notSent: boolean): readonly TextOutcome[] {
  return texts.slice(start).map((_text, at) => ({ index: start + at, error, notSent }))
}

/** Packs texts, in their order, into as few requests as the limits allow. */
function packed(texts: readonly string[], room: number): string[][] {
  const requests: string[][] = []
  let left = 0
  for (const text of texts) {
    const size = textSize(text)
    const open = requests.at(-1)
    if (open && size <= left && open.length < MOST_TEXTS) open.push(text)
    else {
      requests.push([text])
      left = room
    }
    left -= size
  }
  return requests
}

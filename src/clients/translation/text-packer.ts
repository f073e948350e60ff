/** Divides texts into requests. */
import { ValidationError } from '../errors.ts'
import { bodySize, LARGEST_TRANSLATION, utf8Size } from './body-size.ts'

/** Texts of one request and their places among all; with `refusal` one text that fits into none. */
export interface Batch {
  readonly indices: readonly number[]
  readonly texts: readonly string[]
  readonly refusal?: ValidationError
}

/** Packs texts, in their order, into as few requests as the limits of the service allow. */
export class TextPacker {
  readonly #most: number
  readonly #encoding: 'json' | 'form'
  /** Bytes of a request without texts. */
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

  /** Errors: those of the source; `TypeError` for what is no text. */
  async *batches(texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<Batch, void> {
    let open: { indices: number[]; texts: string[] } = { indices: [], texts: [] }
    let size = this.#empty
    let index = 0
    for await (const text of texts) {
      if (typeof text !== 'string') throw new TypeError(`text ${index} is no text`)
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

  /** As JSON between commas, as a form with the `&` before it; why it fits into no request. */
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

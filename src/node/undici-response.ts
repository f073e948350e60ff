import { type AuthError, ProtocolError } from '../errors.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { failure, originOf } from '../http/network-error.ts'
import { readBody, utf8 } from '../http/read-body.ts'
import { decodeBody } from './decode-body.ts'
import { HeaderFields } from './header-fields.ts'
import type { ArrivalHead, UndiciArrival } from './undici-arrival.ts'

/** How much of an unwanted body is read, and how long, before its connection is given up instead. */
const DISCARD = { bytes: 65_536, milliseconds: 1000 }

/** An answer of undici as an {@link HttpResponse}; errors of its body are those of the library. */
export class UndiciResponse implements HttpResponse {
  readonly status: number
  readonly url: string
  readonly headers: HeaderFields
  readonly #method: string
  readonly #statusText: string
  readonly #body: UndiciArrival
  readonly #codings: readonly string[]
  readonly #signal: AbortSignal | undefined

  constructor(
    { method, url }: HttpRequest,
    { status, statusText, fields }: ArrivalHead,
    body: UndiciArrival,
    codings: readonly string[],
    signal: AbortSignal | undefined,
  ) {
    this.status = status
    this.url = url
    this.headers = new HeaderFields(fields)
    this.#method = method
    this.#statusText = statusText
    this.#body = body
    this.#codings = codings
    this.#signal = signal
  }

  async bytes(limit: number): Promise<Uint8Array> {
    try {
      const whole = this.#codings.length ? undefined : this.#body.whole(limit)
      return whole ?? (await readBody(this.#decoded(), limit, this.url))
    } catch (error) {
      throw this.#failure(error)
    }
  }

  async text(limit: number): Promise<string> {
    return utf8(await this.bytes(limit))
  }

  async *chunks(asSent = false): AsyncGenerator<Uint8Array, void> {
    try {
      yield* asSent ? this.#body : this.#decoded()
    } catch (error) {
      throw this.#failure(error)
    }
  }

  async discard(): Promise<void> {
    const timer = setTimeout(() => this.#body.destroy(), DISCARD.milliseconds)
    let length = 0
    try {
      for await (const chunk of this.#body) {
        length += chunk.length
        if (length > DISCARD.bytes) break
      }
    } catch {
      // Nobody wanted it.
    } finally {
      clearTimeout(timer)
    }
  }

  toResponse(): Response {
    const { status, url } = this
    if (status > 599) {
      this.#body.destroy()
      throw new ProtocolError('RESPONSE_INVALID', `${originOf(url)}: the answer has the status ${status}`, { url, status })
    }
    const headers = this.headers.toHeaders()
    if (this.#codings.length) for (const name of ['content-encoding', 'content-length']) headers.delete(name)
    const statusText = /^[\t\x20-\x7e\x80-\xff]*$/.test(this.#statusText) ? this.#statusText : ''
    const response = new Response(this.#stream(), { status, statusText, headers })
    return Object.defineProperty(response, 'url', { value: url })
  }

  /** The decoded body; pulled, never pushed, so that a slow reader slows the server down. */
  #stream(): ReadableStream<Uint8Array> | null {
    if (this.#method === 'HEAD' || NULL_BODY.has(this.status)) {
      void this.discard()
      return null
    }
    const chunks = this.#decoded()[Symbol.asyncIterator]()
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = await chunks.next().catch((error) => {
          throw this.#failure(error)
        })
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => {
        this.#body.destroy()
        await chunks.return?.()
      },
    })
  }

  #decoded(): AsyncIterable<Uint8Array> {
    return this.#codings.length ? decodeBody(this.#body, this.#codings, this.url) : this.#body
  }

  #failure(error: unknown): AuthError {
    return failure(error, this.#signal, this.url)
  }
}

/** Statuses without a body (Fetch standard, "null body status"). */
const NULL_BODY = new Set([204, 205, 304])

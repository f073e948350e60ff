/** Receives the body of a response: limits its rate, and watches that enough of it arrives. */

import { type AuthError, isAuthError, TimeoutError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { failure, isKnownFailure, originOf } from '../../http/network-error.ts'
import { internalError } from '../system-error.ts'
import type { DownloadContext } from './download-context.ts'
import { type Delivery, incomplete } from './response.ts'

/** Bytes per second that must arrive on average. */
const SLOWEST = 1024

/** Inspects the first bytes of a body; returns false to see more. Throws what ends the exchange. */
type Inspect = (head: Uint8Array, isAll: boolean) => boolean

/** One exchange that can be aborted separately. */
export class Exchange {
  readonly #context: DownloadContext
  readonly #controller = new AbortController()
  readonly #abort = () => this.#controller.abort(this.#context.signal.reason)
  #timer: ReturnType<typeof setInterval> | undefined
  #came = 0
  /** Waits of our own in progress. */
  #waits = 0
  #inspect: Inspect | undefined
  #url: string

  constructor(context: DownloadContext, url: string) {
    this.#context = context
    this.#url = url
    context.signal.addEventListener('abort', this.#abort, { once: true })
    if (context.signal.aborted) this.#abort()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Registers a function that inspects the first bytes before any of them is yielded. */
  inspect(inspect: Inspect): void {
    this.#inspect = inspect
  }

  /** Yields the body. Errors: `FILE_INCOMPLETE`, `TIMEOUT_BODY`, those of the transport and of the inspection. */
  async *receive(response: HttpResponse, { length, asSent }: Pick<Delivery, 'length' | 'asSent'>): AsyncGenerator<Uint8Array, void> {
    const { stallTimeout } = this.#context.settings
    this.#url = response.url
    this.#timer = setInterval(this.#look, stallTimeout)
    this.#timer.unref()
    let bytes = 0
    try {
      for await (const chunk of inspected(chunksOf(response, asSent), this.#inspect)) {
        bytes += chunk.byteLength
        this.#came += chunk.byteLength
        if (length !== undefined && bytes > length) throw incomplete(response.url, `more than ${length} bytes were received`)
        yield chunk
        const waiting = this.#context.throttle?.(chunk.byteLength, this.signal)
        if (waiting) await this.waiting(waiting)
      }
    } catch (error) {
      throw cutShort(failure(error, this.signal, response.url), response.url)
    }
    if (length !== undefined && bytes !== length) throw incomplete(response.url, `${bytes} of ${length} bytes were received`)
  }

  /** Releases the exchange; to be called in any case. */
  end(): void {
    clearInterval(this.#timer)
    this.#context.signal.removeEventListener('abort', this.#abort)
  }

  /** Aborts the rest of the body. */
  cancel(): void {
    this.#controller.abort(new Error('the rest is not needed'))
  }

  /** Excludes time that we wait ourselves from the minimum rate. */
  async waiting(what: Promise<void>): Promise<void> {
    this.#waits++
    try {
      await what
    } finally {
      this.#waits--
      this.#came += SLOWEST * this.#context.settings.stallTimeout
    }
  }

  readonly #look = (): void => {
    const { stallTimeout } = this.#context.settings
    if (this.#waits > 0) return
    if (this.#came < leastIn(stallTimeout)) this.#controller.abort(stalled(this.#url, stallTimeout))
    this.#came = 0
  }
}

/** Bytes that must arrive within that many milliseconds. */
export function leastIn(milliseconds: number): number {
  return (SLOWEST * milliseconds) / 1000
}

/** Maps every way in which a connection breaks off to one error. */
function cutShort(error: AuthError, url: string): AuthError {
  if (!/^(?:NETWORK_\w+|RESPONSE_TRUNCATED)$/.test(error.code)) return error
  return incomplete(url, 'the connection ended before the whole body was received')
}

function stalled(url: string, milliseconds: number): TimeoutError {
  const says = `fewer than ${SLOWEST} bytes per second were received for ${milliseconds / 1000} s`
  return new TimeoutError('TIMEOUT_BODY', `${originOf(url)}: ${says}`, { url, retryable: true })
}

function chunksOf(response: HttpResponse, asSent: boolean): AsyncIterable<Uint8Array> {
  return response.chunks?.(asSent) ?? ((response.toResponse().body ?? []) as AsyncIterable<Uint8Array>)
}

/** Yields the chunks; holds the first ones back until they were inspected. Errors: those of `inspect`. */
export async function* inspected(chunks: AsyncIterable<Uint8Array>, inspect: Inspect | undefined): AsyncGenerator<Uint8Array, void> {
  let held: Uint8Array[] | undefined = inspect && []
  for await (const chunk of chunks) {
    if (!held || !inspect) {
      yield chunk
      continue
    }
    held.push(chunk)
    if (!inspect(held.length === 1 ? chunk : Buffer.concat(held), false)) continue
    yield* held
    held = undefined
  }
  if (!held || !inspect) return
  inspect(Buffer.concat(held), true)
  yield* held
}

/** Returns the error of an exchange; `INTERNAL` for what is not of the network, such as a fault in a strategy of the caller. */
export function exchangeFailure(thrown: unknown, signal: AbortSignal | undefined, url: string): AuthError {
  if (isAuthError(thrown)) return thrown
  return signal?.aborted || isKnownFailure(thrown) ? failure(thrown, signal, url) : internalError(thrown)
}

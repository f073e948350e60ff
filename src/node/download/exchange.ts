/** The body of an answer, watched: it must come fast enough, and be as long as it says. */
import { type AuthError, NetworkError, TimeoutError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { failure, originOf } from '../../http/network-error.ts'
import { bareUrl, type Delivery } from './answer.ts'
import type { DownloadContext } from './download-context.ts'

/** Bytes per second that must come on average. */
const SLOWEST = 1024

/** Looks at the first bytes of a body; false to see more of them. Throws what ends the exchange. */
export type Inspect = (head: Uint8Array, isAll: boolean) => boolean

/** One exchange, which can be given up by itself. */
export class Exchange {
  readonly #context: DownloadContext
  readonly #controller = new AbortController()
  readonly #abort = () => this.#controller.abort(this.#context.signal.reason)
  #timer: ReturnType<typeof setInterval> | undefined
  #came = 0
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

  /** Shows the beginning of the body to somebody before anything of it is handed on. */
  inspect(inspect: Inspect): void {
    this.#inspect = inspect
  }

  /** The bytes of the body. Errors: `FILE_INCOMPLETE`, `TIMEOUT_BODY`, those of the transport, those of who inspects it. */
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
        const waiting = this.#context.bandwidth?.wait(chunk.byteLength, this.signal)
        if (waiting) await this.#paced(waiting)
      }
    } catch (error) {
      throw cutShort(failure(error, this.signal, response.url), response.url)
    }
    if (length !== undefined && bytes !== length) throw incomplete(response.url, `${bytes} of ${length} bytes were received`)
  }

  /** To be called when it is over, however it ended. */
  end(): void {
    clearInterval(this.#timer)
    this.#context.signal.removeEventListener('abort', this.#abort)
  }

  /** Gives up what is still to come. */
  cancel(): void {
    this.#controller.abort(new Error('the rest is not needed'))
  }

  /** What we hold back ourselves is not late. */
  async #paced(waiting: Promise<void>): Promise<void> {
    await waiting
    this.#came += SLOWEST * this.#context.settings.stallTimeout
  }

  readonly #look = (): void => {
    const { stallTimeout } = this.#context.settings
    if (this.#came < leastIn(stallTimeout)) this.#controller.abort(stalled(this.#url, stallTimeout))
    this.#came = 0
  }
}

/** Bytes that must come in so many milliseconds. */
export function leastIn(milliseconds: number): number {
  return (SLOWEST * milliseconds) / 1000
}

/** `FILE_INCOMPLETE`, with what happened. */
export function incomplete(url: string, problem: string): AuthError {
  return new NetworkError('FILE_INCOMPLETE', `${bareUrl(url)}: ${problem}`, { url, retryable: true })
}

/** A body that breaks off is one error, however the connection came to its end. */
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

/** The chunks, of which the first ones wait until they have been looked at. Errors: those of `inspect`. */
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
  if (!held?.length || !inspect) return
  inspect(Buffer.concat(held), true)
  yield* held
}

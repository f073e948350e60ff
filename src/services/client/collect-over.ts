/** Collects responses to their end, and streams bodies that are left to their readers. */
import { AbortedError, type AuthError, isAuthError, ProtocolError } from '../../errors.ts'
import { type HttpRequest, type HttpResponse, readBody, type SendOptions, type Transport, utf8 } from '../../http/message.ts'
import { failure, progressOf } from '../../http/network-error.ts'
import type { Interruption } from '../../net/cancellation.ts'
import type { Attempts } from './attempts.ts'
import { described } from './errors.ts'

export interface CollectOptions extends Pick<SendOptions, 'allowPrivateNetwork' | 'headersTimeout' | 'bodyTimeout' | 'stream'> {
  /** Maximum bytes of a decoded successful response; more is `RESPONSE_TOO_LARGE`. */
  readonly limit: number
  /** Maximum bytes of any other response; the rest is left out. */
  readonly failureLimit: number
}

/** A complete response. */
export interface Collected {
  readonly status: number
  readonly headers: HttpResponse['headers']
  readonly body: Uint8Array
  /** The body as UTF-8; a byte order mark is left out. */
  text(): string
}

/** The reason why there is no response. */
export interface Uncollected {
  readonly error: AuthError
  /** True when at least one byte of the request was handed to a connected socket. */
  readonly sent: boolean
  /** True when the response had begun. */
  readonly begun: boolean
  /** True when a reused connection was closed before the response began. */
  readonly stale: boolean
}

/** Cancels the request: `done` gets that reason as its error. Does nothing after the end of the exchange. */
export type Cancel = (reason: AuthError) => void

/** Sends a request and collects its response. Never throws; `done` is called once. An unsuccessful response may be truncated. */
export type Collect = (request: HttpRequest, options: CollectOptions, done: (result: Collected | Uncollected) => void) => Cancel

/** True when there is no response. */
export function isUncollected(result: Collected | Uncollected): result is Uncollected {
  return 'error' in result
}

/**
 * Collects responses with a transport. Whether anything was sent is derived from the error where the transport does not tell it. A body
 * that is a stream is read to its end first where the transport cannot send one.
 *
 * @param keep takes the answers that are a success, to read them itself; their body is empty in what is collected
 */
export function collectOver(transport: Transport, keep?: (answer: HttpResponse) => void): Collect {
  return (request, options, done): Cancel => {
    const controller = new AbortController()
    const stage = { sent: false, begun: false }
    let over = false
    const end = (result: Collected | Uncollected) => {
      if (over) return
      over = true
      done(result)
    }
    const fail = (error: AuthError) => {
      const { sent = stage.sent && !UNSENT.test(error.code), stale = false } = progressOf(error) ?? {}
      end({ error, sent: sent || stage.begun, begun: stage.begun, stale: stale && !stage.begun })
    }
    exchange({ transport, keep }, request, options, controller.signal, stage).then(end, (error: unknown) => {
      const known = failure(error, undefined, request.url)
      fail(stage.begun ? brokenOff(known, request.url) : known)
    })
    return (reason) => {
      controller.abort(reason)
      fail(reason)
    }
  }
}

const NOTHING = new Uint8Array()

/** Codes of errors that occur before the first byte is sent. */
const UNSENT = /^(?:NETWORK_(?:DNS|REFUSED|UNREACHABLE)|TLS_|PROXY_|TIMEOUT_CONNECT|URL_|UNSUPPORTED_|REQUEST_INVALID)/

async function exchange(
  { transport, keep }: { readonly transport: Transport; readonly keep: ((answer: HttpResponse) => void) | undefined },
  request: HttpRequest,
  { limit, failureLimit, stream, ...options }: CollectOptions,
  signal: AbortSignal,
  stage: { sent: boolean; begun: boolean },
): Promise<Collected> {
  const isWhole = stream === undefined || transport.streams === true
  const whole = isWhole ? request : { ...request, body: await readBody(stream, Number.POSITIVE_INFINITY, request.url) }
  stage.sent = true
  const answer = await transport(whole, { ...options, signal, ...(isWhole && stream && { stream }) })
  stage.begun = true
  const { status, headers } = answer
  if (keep && status < 300) {
    keep(answer)
    return { status, headers, body: NOTHING, text: () => '' }
  }
  const body = status < 300 ? await answer.bytes(limit) : await start(answer, failureLimit)
  return { status, headers, body, text: () => utf8(body) }
}

/** Returns what arrives of an error body, until it is longer than that: the status is enough. */
async function start(answer: HttpResponse, limit: number): Promise<Uint8Array> {
  if (!answer.chunks) return answer.bytes(limit).catch(() => NOTHING)
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of answer.chunks()) {
      chunks.push(chunk)
      length += chunk.length
      if (length > limit) break
    }
  } catch {
    // What has arrived may be enough.
  }
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer())
}

/** The body of a response that is left to its reader. */
export class StreamedBody {
  readonly #interruption: Interruption
  readonly #url: string
  #answer: HttpResponse | undefined

  constructor(interruption: Interruption, url: string) {
    this.#interruption = interruption
    this.#url = url
  }

  /** Collects failures, and keeps the body of a success. */
  collect(transport: Transport): Collect {
    return collectOver(transport, (answer) => {
      this.#answer = answer
    })
  }

  /**
   * Returns the body, which is read only as fast as its reader reads. If the response ends early (`RESPONSE_TRUNCATED`), is interrupted or
   * stalls, the stream fails with an `AuthError`. Listens to the caller's signal until the end.
   *
   * @param attempts of the call, which are cancelled with the stream
   * @param operation for errors
   */
  readable(attempts: Attempts, operation: string): ReadableStream<Uint8Array> {
    const reader = this.#answer?.toResponse().body?.getReader()
    const interruption = this.#interruption
    interruption.tell((reason) => attempts.cancel(reason))
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      try {
        const read = await reader?.read()
        if (read && !read.done) return controller.enqueue(read.value)
        interruption.close()
        controller.close()
      } catch (error) {
        interruption.close()
        controller.error(described(interruption.reason ?? brokenOff(error, this.#url), attempts.count, operation))
      }
    }
    const stop = async () => {
      interruption.close()
      await reader?.cancel().catch(() => undefined)
      attempts.cancel(new AbortedError('the reader has stopped'))
    }
    return new ReadableStream({ pull, cancel: stop }, { highWaterMark: 0 })
  }
}

function brokenOff(error: unknown, url: string): AuthError {
  if (isAuthError(error) && error.code !== 'NETWORK_RESET') return error
  return new ProtocolError('RESPONSE_TRUNCATED', `${url}: the response ended too early`, { url, retryable: true })
}

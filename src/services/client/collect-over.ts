/** Collects responses with a transport that has no `collect`, and streams bodies that are left to their readers. */
import { AbortedError, type AuthError, isAuthError, ProtocolError } from '../../errors.ts'
import {
  type Cancel,
  type Collect,
  type Collected,
  type CollectOptions,
  type HttpRequest,
  type HttpResponse,
  type PartedRequest,
  readBody,
  type Send,
  type Uncollected,
  utf8,
} from '../../http/message.ts'
import { failure } from '../../http/network-error.ts'
import type { Interruption } from '../../net/cancellation.ts'
import type { Attempts } from './attempts.ts'
import { described } from './errors.ts'

/**
 * Collects responses with a transport that only sends. Whether anything was sent is derived from the error. A body that is a stream is read
 * to its end first, because not every platform can send one.
 *
 * @param keep takes the answers that are a success, to read them itself; their body is empty in what is collected
 */
export function collectOver(send: Send, keep?: (answer: HttpResponse) => void): Collect {
  return (request, options, done): Cancel => {
    const controller = new AbortController()
    let over = false
    const end = (result: Collected | Uncollected) => {
      if (over) return
      over = true
      done(result)
    }
    const stage = { sent: false, begun: false }
    exchange({ send, keep }, request, options, controller.signal, stage).then(end, (error: unknown) => {
      const known = failure(error, undefined, request.origin)
      end({ error: known, sent: stage.sent && !UNSENT.test(known.code), begun: stage.begun, stale: false })
    })
    return (reason) => {
      end({ error: reason, ...stage, stale: false })
      controller.abort(reason)
    }
  }
}

const NOTHING = new Uint8Array()

/** Codes of errors that occur before the first byte is sent. */
const UNSENT = /^(?:NETWORK_(?:DNS|REFUSED|UNREACHABLE)|TLS_|PROXY_|TIMEOUT_CONNECT|URL_|UNSUPPORTED_|REQUEST_INVALID)/

async function exchange(
  { send, keep }: { readonly send: Send; readonly keep: ((answer: HttpResponse) => void) | undefined },
  request: PartedRequest,
  { limit, failureLimit, ...options }: CollectOptions,
  signal: AbortSignal,
  stage: { sent: boolean; begun: boolean },
): Promise<Collected> {
  const whole = await wholeRequest(request)
  stage.sent = true
  const answer = await send(whole, { ...options, signal, ...(keep && { pooled: true }) })
  stage.begun = true
  const { status, headers } = answer
  if (keep && status < 300) {
    keep(answer)
    return { status, headers, body: NOTHING, text: () => '' }
  }
  const body = status < 300 ? await answer.bytes(limit) : await answer.bytes(failureLimit).catch(nothingIfTooLong)
  return { status, headers, body, text: () => utf8(body) }
}

/** Returns no bytes for an error body that is too long or broken: the status is enough. */
function nothingIfTooLong(error: unknown): Uint8Array {
  if (isAuthError(error) && /^RESPONSE_|^NETWORK_RESET/.test(error.code)) return new Uint8Array()
  throw error
}

async function wholeRequest({ method, origin, path, headers, body }: PartedRequest): Promise<HttpRequest> {
  const request = { method, url: origin + path, headers }
  if (body === undefined) return request
  const whole = typeof body === 'string' || body instanceof Uint8Array ? body : await readBody(body, Number.POSITIVE_INFINITY, origin)
  return { ...request, body: whole }
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
  collect(send: Send): Collect {
    return collectOver(send, (answer) => {
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

/** One call of an operation: waits until it may start, sends the request, and sends it again after failures that allow it. */

import type { Service } from '../../auth/auth.ts'
import { AbortedError, type AuthError, isAuthError, TimeoutError } from '../../errors.ts'
import {
  type HttpRequest,
  type HttpResponse,
  queryValues,
  type ReplayableBody,
  readBody,
  type SendOptions,
  type Transport,
} from '../../http/message.ts'
import { failure, progressOf } from '../../http/network-error.ts'
import { Interruption, sleep } from '../../net/cancellation.ts'
import { startTimer } from '../../net/clock.ts'
import type { Pacer } from '../../net/pacer.ts'
import type { Settings } from './api-client.ts'
import { annotate, described, foreign, HttpError, ValidationError } from './errors.ts'
import type { CallEvent } from './events.ts'
import type { ServiceTraffic } from './pacer.ts'
import { type BuiltRequest, type CallInput, type CallOptions, chunksOf, type Operation } from './request.ts'
import { ApiResponse, dataOf, type ReadResponse, shownRequestHeaders, statusError, traceOf, truncated } from './response.ts'
import { CallRetries, type Failure } from './retries.ts'

/** Everything that is loaded and selected to send requests to a service. */
export interface Link {
  readonly transport: Transport
  /** Absent for requests without a credential. */
  readonly service: Service | undefined
  /** True if the user named the origin, so that it may be a loopback or private address. */
  readonly allowPrivateNetwork: boolean
  /** Returns the traffic of the operations with that name in `limits`. */
  traffic(name: string): ServiceTraffic
}

/** What a client sends. */
interface CallParts {
  readonly settings: Settings
  readonly operation: Operation
  readonly input: CallInput
  readonly options: CallOptions
  readonly request: BuiltRequest
}

/** How far an attempt came. */
interface Progress {
  /** The request was handed to the transport, and has no response yet. */
  sent: boolean
  /** The response has begun. */
  begun: boolean
  /** A reused connection was closed before the response began. */
  stale: boolean
  /** The error of the transport. */
  error: AuthError | undefined
}

/** Maximum size in bytes of a response whose status is not a success, and of any other response by default. */
const [FAILURE_LIMIT, LIMIT] = [65_536, 64 * 2 ** 20]

const NOTHING = new Uint8Array()

let calls = 0

export class Call {
  readonly #parts: CallParts
  /** Origin and path. */
  readonly #url: string
  readonly #interruption: Interruption
  /** Epoch milliseconds; Infinity for none. */
  readonly #end: number
  readonly #id = ++calls
  /** Requests handed to the transport. */
  #count = 0
  /** The last request as it was sent; its headers and URL contain secrets. */
  #sent: HttpRequest | undefined
  /** The failure of the last attempt. */
  #last: AuthError | undefined
  /** True if the body was a stream that can be read once, and was read. */
  #isUsedUp = false
  /** True while the body of the response is left to its reader. */
  #isStreaming = false

  constructor(parts: CallParts) {
    const { settings, request, options } = parts
    this.#parts = parts
    this.#url = settings.origin + (request.path.split('?', 1)[0] ?? '')
    this.#end = deadlineOf(options, settings.limits.clock.now(), settings.timeouts.total)
    this.#interruption = new Interruption(options.signal)
  }

  /** Runs the call. Errors: those of `ApiClient`, each with the number of requests that were sent and the name of the operation. */
  async run(link: Promise<Link>): Promise<ApiResponse> {
    const { settings, operation, options } = this.#parts
    const { clock } = settings.limits
    const interruption = this.#interruption
    const left = this.#end - clock.now()
    const late = () => interruption.interrupt(this.#tooLate())
    if (left <= 0) late()
    const stop = left > 0 && left < Number.POSITIVE_INFINITY ? startTimer(clock, left, late, 'guard') : undefined
    try {
      const opened = await new Promise<Link>((resolve, reject) => {
        interruption.tell(reject)
        link.then(resolve, reject)
      })
      const traffic = opened.traffic(operation.limits ?? '')
      const retries = new CallRetries(operation, options, settings, traffic)
      for (;;) {
        await this.#enter(traffic.pacer, retries.attempt)
        let result: ApiResponse | Failure
        try {
          result = await this.#attempt(opened, retries.attempt)
          this.#report(result, traffic, retries.attempt)
        } finally {
          traffic.pacer.leave()
        }
        if (result instanceof ApiResponse) return result
        if (retries.isAlreadyGone(result)) return new ApiResponse(404, headersOf(result.error), undefined, this.#count, true)
        await this.#pause(result, retries)
      }
    } catch (error) {
      this.#isStreaming = false
      throw described(error, this.#count, operation.name)
    } finally {
      stop?.()
      if (!this.#isStreaming) interruption.close()
    }
  }

  /** Waits until an attempt may start. */
  async #enter(pacer: Pacer, attempt: number): Promise<void> {
    const { settings, options } = this.#parts
    if (this.#interruption.reason) throw this.#interruption.reason
    if (pacer.tryEnter()) return
    settings.events.emit('queue', () => ({ depth: pacer.depth + 1, limit: pacer.limit }))
    const priority = attempt > 1 ? 'again' : options.priority
    await pacer.enter(this.#interruption.signal, { priority, queueLimit: settings.queueLimit })
  }

  /** Tells the traffic how an attempt ended. */
  #report(result: ApiResponse | Failure, traffic: ServiceTraffic, attempt: number): void {
    const { settings, operation } = this.#parts
    if (result instanceof ApiResponse) {
      traffic.pacer.succeeded()
      if (attempt === 1) traffic.budget.earn()
      // A final status is an answer of this operation, such as a document that is not ready.
    } else if (!operation.final?.includes(result.error.status ?? 0)) traffic.failed(result.error, settings.maxRetryAfter)
  }

  /** Waits until the next attempt, except for the pacer. Errors: the failure if it is the last. */
  async #pause(failed: Failure, retries: CallRetries): Promise<void> {
    const { limits, events } = this.#parts.settings
    const { attempt } = retries
    this.#last = failed.error
    const next = retries.delayAfter(failed, this.#end - limits.clock.now())
    if (next === 'deadline') throw this.#tooLate()
    events.emit('retry', () => ({ ...this.#event(attempt), reason: failed.error.code, delayMs: next.delay }))
    if (!next.isPaced && next.delay > 0) await sleep(next.delay, limits.clock, this.#interruption.signal)
  }

  /** Makes one attempt. Errors: those of the caller's functions and of the credential, which end the call. */
  async #attempt(link: Link, attempt: number): Promise<ApiResponse | Failure> {
    const { settings, operation, options, request } = this.#parts
    const { clock } = settings.limits
    const usual = operation.response === 'stream' ? Number.POSITIVE_INFINITY : settings.timeouts.attempt
    const timeout = options.timeout ?? operation.timeout ?? usual
    const ending = new AbortController()
    const progress: Progress = { sent: false, begun: false, stale: false, error: undefined }
    let stop: (() => void) | undefined
    try {
      return await new Promise<ApiResponse>((resolve, reject) => {
        const end = (reason: AuthError) => {
          ending.abort(reason)
          reject(reason)
        }
        this.#interruption.tell(end)
        if (timeout < Number.POSITIVE_INFINITY) stop = startTimer(clock, timeout, () => end(this.#attemptTimeout(timeout)), 'guard')
        this.#exchange(link, attempt, ending, progress).then(resolve, reject)
      })
    } catch (error) {
      const { sent, begun, stale } = progress
      if (!isAuthError(error) || !(begun || ending.signal.aborted || error === progress.error)) throw error
      if (!(error instanceof HttpError)) annotate(error, { sent: sent || begun })
      const repeatable = !request.stream || request.replayable || (!this.#isUsedUp && !begun)
      return { error, sent: sent || begun, begun, stale, repeatable }
    } finally {
      stop?.()
      if (!this.#isStreaming) this.#interruption.tell(undefined)
    }
  }

  async #exchange(link: Link, attempt: number, ending: AbortController, progress: Progress): Promise<ApiResponse> {
    const { settings, operation } = this.#parts
    const { events, limits, codec, parseJson } = settings
    const plain = await this.#intercepted(attempt)
    events.emit('request', () => ({ ...this.#event(attempt), headers: shownRequestHeaders(plain.headers) }))
    const started = limits.clock.now()
    const known = link.service?.peek(plain)
    const response = await this.#authorized(link, plain, known, ending.signal, progress)
    if (ending.signal.aborted) throw ending.signal.reason
    progress.begun = true
    const { status, headers } = response
    await this.#notified({ status, headers })
    const isSuccess = status >= 200 && status < 300
    const scrub = (text: string) => this.#scrubbed(text, plain)
    const isStream = isSuccess && operation.response === 'stream'
    const body = isStream ? NOTHING : await this.#bodyOf(response, isSuccess, ending.signal)
    events.emit('response', () => {
      const traceId = traceOf(headers)
      const seen = { status, durationMs: limits.clock.now() - started, bytes: body.length }
      return { ...this.#event(attempt), ...seen, ...(traceId !== undefined && { traceId: scrub(traceId) }) }
    })
    const read: ReadResponse = { status, headers, body, url: this.#url, method: plain.method, scrub }
    if (!isSuccess) throw statusError(read, settings.hints, limits.clock.now())
    return new ApiResponse(
      status,
      headers,
      isStream ? this.#streamOf(response, ending) : dataOf(read, { operation, codec, parseJson }),
      this.#count,
    )
  }

  /**
   * Sends the request with the credential. A 401 is answered once with refreshed tokens or the flow of the scheme.
   *
   * @param known the authorized request, if everything that it needs is known
   */
  async #authorized(
    { service, ...link }: Link,
    plain: HttpRequest,
    known: HttpRequest | undefined,
    signal: AbortSignal,
    progress: Progress,
  ): Promise<HttpResponse> {
    const { operation, settings, request } = this.#parts
    const send = (step: HttpRequest) => this.#send(link, step, signal, progress)
    if (!service) return send(plain)
    if (!known) return service.send(plain, send, { signal })
    const response = await send(known)
    if (response.status !== 401 || request.stream || !(operation.refresh ?? settings.refresh)) return response
    const resend = (step: HttpRequest) => response.discard().then(() => send(step))
    return service.send(plain, resend, { signal, refused: { request: known, response } })
  }

  /** Hands one request to the transport. */
  async #send(
    { transport, allowPrivateNetwork }: Pick<Link, 'transport' | 'allowPrivateNetwork'>,
    request: HttpRequest,
    signal: AbortSignal,
    progress: Progress,
  ): Promise<HttpResponse> {
    const { origin, timeouts } = this.#parts.settings
    // A credential that arrives after the end sends nothing.
    if (signal.aborted) throw signal.reason
    const stream = this.#stream()
    // Chunks in shared memory are refused by `fetch` itself.
    const content =
      stream && !transport.streams ? { body: (await readBody(stream, Number.POSITIVE_INFINITY, origin)) as ReplayableBody } : {}
    const options: SendOptions = {
      ...{ signal, allowPrivateNetwork, headersTimeout: timeouts.headers, bodyTimeout: timeouts.body },
      ...(stream && transport.streams && { stream }),
    }
    this.#count++
    this.#sent = request
    progress.sent = true
    try {
      const response = await transport(stream ? { ...request, ...content } : request, options)
      progress.sent = false
      return response
    } catch (error) {
      const known = failure(error, undefined, origin)
      const { sent = !UNSENT.test(known.code), reused = false } = progressOf(known) ?? {}
      Object.assign(progress, { sent, stale: sent && reused, error: known })
      if (!sent && transport.streams) this.#isUsedUp = false
      throw known
    }
  }

  /** Returns the body if it is a stream. Errors: `REQUEST_INVALID` for one that was read already; `CONFIG_INVALID` if it fails. */
  #stream(): AsyncIterable<Uint8Array> | undefined {
    const { request, operation } = this.#parts
    if (!request.stream) return undefined
    if (this.#isUsedUp) throw usedUp()
    this.#isUsedUp = !request.replayable
    try {
      return reported(chunksOf(request.stream()), operation.name)
    } catch (error) {
      throw foreign(error, operation.name)
    }
  }

  /** Returns the body. The status of a failure is enough: its body is left out if it is broken or too long. */
  async #bodyOf(response: HttpResponse, isSuccess: boolean, signal: AbortSignal): Promise<Uint8Array> {
    try {
      return await response.bytes(isSuccess ? (this.#parts.operation.limit ?? LIMIT) : FAILURE_LIMIT)
    } catch (error) {
      if (isSuccess || signal.aborted) throw truncated(error, this.#url, response.status)
      return NOTHING
    }
  }

  /**
   * Returns the body as a stream, which is read only as fast as its reader reads. If the response ends early (`RESPONSE_TRUNCATED`), is
   * interrupted or stalls, the stream fails with an `AuthError`. Listens to the caller's signal until the end.
   */
  #streamOf(response: HttpResponse, ending: AbortController): ReadableStream<Uint8Array> {
    const { name } = this.#parts.operation
    const interruption = this.#interruption
    const reader = response.toResponse().body?.getReader()
    this.#isStreaming = true
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      try {
        const read = await reader?.read()
        if (read && !read.done) return controller.enqueue(read.value)
        interruption.close()
        controller.close()
      } catch (error) {
        interruption.close()
        controller.error(described(interruption.reason ?? truncated(error, this.#url, response.status), this.#count, name))
      }
    }
    const cancel = async () => {
      interruption.close()
      await reader?.cancel().catch(() => undefined)
      ending.abort(new AbortedError('the reader has stopped'))
    }
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
  }

  /** Returns the request after all interceptors changed it, in order. Errors: `CONFIG_INVALID` if one fails, unless with an `AuthError`. */
  async #intercepted(attempt: number): Promise<HttpRequest> {
    const { settings, operation, request } = this.#parts
    const { method, path, headers, body } = request
    const url = settings.origin + path
    let plain: HttpRequest = { method, url, headers, ...(body !== undefined && { body }) }
    try {
      for (const { before } of settings.interceptors)
        if (before) plain = { ...((await before(plain, { operation: operation.name, attempt })) ?? plain), url, method }
    } catch (error) {
      throw foreign(error, operation.name)
    }
    return plain
  }

  /** Passes a response to the interceptors, in order. Errors: as above. */
  async #notified(response: Pick<HttpResponse, 'status' | 'headers'>): Promise<void> {
    const { settings, operation } = this.#parts
    try {
      for (const { after } of settings.interceptors) await after?.(response)
    } catch (error) {
      throw foreign(error, operation.name)
    }
  }

  /** Removes the secrets of this call from a text. Everything that differs from the plain request is secret. */
  #scrubbed(text: string, plain: HttpRequest): string {
    const { settings, operation, input } = this.#parts
    const { redactor } = settings
    const { headers = {}, url = plain.url } = this.#sent ?? {}
    for (const [name, value] of Object.entries(headers)) if (value !== plain.headers[name]) redactor.addHeader(value)
    if (url !== plain.url) for (const value of addedValues(url, plain.url)) redactor.add(value)
    for (const members of [input.body, input.query]) redactor.addMembers(members, operation.secrets ?? [])
    return redactor.scrub(text)
  }

  #event(attempt: number): CallEvent {
    const { operation, options } = this.#parts
    return { id: this.#id, operation: operation.name, method: operation.method, url: this.#url, attempt, tag: options.tag }
  }

  #attemptTimeout(timeout: number): TimeoutError {
    const message = `${this.#url}: no complete response within ${timeout} ms`
    return new TimeoutError('TIMEOUT_ATTEMPT', message, { url: this.#url, retryable: true })
  }

  #tooLate(): TimeoutError {
    const cause = this.#last
    const why = cause ? `; the last attempt failed: ${cause.message}` : ''
    const message = `${this.#url}: the call exceeded its deadline, which includes all attempts and waits${why}`
    return new TimeoutError('TIMEOUT_TOTAL', message, { url: this.#url, retryable: true, ...(cause && { cause }) })
  }
}

/** Returns the harmless headers of the response that became an error. */
function headersOf(error: AuthError): HttpResponse['headers'] {
  const headers = error instanceof HttpError ? error.headers : undefined
  return { get: (name) => headers?.[name.toLowerCase()] ?? null }
}

/** Codes of errors that occur before the first byte is sent, for transports that do not report it. */
const UNSENT = /^(?:NETWORK_(?:DNS|REFUSED|UNREACHABLE)|TLS_|PROXY_|TIMEOUT_CONNECT|URL_|UNSUPPORTED_|REQUEST_INVALID)/

function usedUp(): ValidationError {
  const message = 'the request must be sent again, but its body is a stream that was already consumed'
  const hint = 'pass content as bytes, or as a function that returns a new stream'
  return new ValidationError('REQUEST_INVALID', message, { field: 'content', hint })
}

/** Keeps what a stream of the caller throws apart from a failure of the network, which would be retried. */
async function* reported(chunks: AsyncIterable<Uint8Array>, operation: string): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } catch (error) {
    throw foreign(error, operation)
  }
}

/** Returns the values of query parameters that the plain URL does not have. */
function addedValues(url: string, plain: string): readonly string[] {
  const names = new Set(new URL(url).searchParams.keys())
  return [...names].flatMap((name) => queryValues(url, name).filter((value) => !queryValues(plain, name).includes(value)))
}

/**
 * Returns the epoch milliseconds at which the call ends; Infinity for never. Errors: `REQUEST_INVALID` for an invalid time or number of
 * retries, because such a call would never end.
 */
export function deadlineOf({ timeout, totalTimeout, deadline, retry }: CallOptions, now: number, usual: number | false): number {
  const chosen = totalTimeout ?? usual
  const total = chosen === false ? Number.POSITIVE_INFINITY : chosen
  const end = deadline ? deadline.getTime?.() : Number.POSITIVE_INFINITY
  const retries = retry ? (retry.retries ?? 0) : 0
  for (const [field, value] of Object.entries({ timeout: timeout ?? 0, totalTimeout: total, deadline: end, 'retry.retries': retries }))
    if (typeof value !== 'number' || Number.isNaN(value))
      throw new ValidationError('REQUEST_INVALID', `${field} is not valid; nothing was sent`, { field })
  return Math.min(now + total, end)
}

/** One call and its result: makes the attempts, and waits between them. */

import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { Deadline, Interruption, sleep } from '../../net/cancellation.ts'
import type { Settings, Timeouts } from './api-client.ts'
import { Attempts, type Link } from './attempts.ts'
import { type Collected, StreamedBody } from './collect-over.ts'
import { described, foreign, ValidationError } from './errors.ts'
import type { CallEvent } from './events.ts'
import { isFailure, type Outcome, Outcomes, shownRequestHeaders, traceOf } from './outcome.ts'
import type { CallInput, CallOptions, Interceptor, PreparedOperation, RequestBuilder } from './request-builder.ts'
import { CallRetries, type Failure, type ServiceLimit } from './retries.ts'

/**
 * A successful response, as `ApiClient.send` and `request` return it.
 *
 * @example
 * const { status, headers, data } = await client.request('GET', '/reports/daily')
 * console.log(status, headers.get('etag'), data)
 */
export class ApiResponse<T = unknown> {
  /** Status of the response: 2xx, or 404 with `alreadyGone`. */
  readonly status: number
  /** Headers of the response; names in any case. */
  readonly headers: HttpResponse['headers']
  /** The decoded body: JSON, text, bytes or a stream, by `response` of the operation; `undefined` for an empty one. */
  readonly data: T
  /** Number of requests that were sent for it, challenges and retries included. */
  readonly attempts: number
  /** True when a repeated deletion found nothing, because an earlier attempt had deleted it. */
  readonly alreadyGone: boolean

  /** @internal */
  constructor(status: number, headers: HttpResponse['headers'], data: T, attempts: number, alreadyGone = false) {
    this.status = status
    this.headers = headers
    this.data = data
    this.attempts = attempts
    this.alreadyGone = alreadyGone
  }

  /** Identifier of the request for the support of the service, from its headers (`X-Trace-ID`, `X-Request-ID`). */
  get traceId(): string | undefined {
    return traceOf(this.headers)
  }
}

/** The operation, input and options of a call, and the settings of its client. */
export interface CallParts {
  readonly settings: Settings
  readonly prepared: PreparedOperation
  readonly builder: RequestBuilder
  readonly input: CallInput
  readonly options: CallOptions
}

let calls = 0

export class Call {
  readonly #parts: CallParts
  readonly #url: string
  readonly #interruption: Interruption
  readonly #deadline: Deadline
  #attempts: Attempts | undefined
  #streamed: StreamedBody | undefined
  #id = 0

  constructor(parts: CallParts) {
    const { settings, builder, options } = parts
    const { clock, wheel } = settings.limits
    const query = builder.path.indexOf('?')
    this.#parts = parts
    this.#url = settings.origin + (query < 0 ? builder.path : builder.path.slice(0, query))
    const now = clock.now()
    const end = deadlineOf(options, now, settings.timeouts.total)
    this.#interruption = new Interruption(options.signal)
    this.#deadline = new Deadline(end, clock, wheel, this.#interruption, this.#url)
    // The timer would fire only after the request was sent.
    if (end <= now) this.#interruption.interrupt(this.#deadline.tooLate())
  }

  /** Runs the call. Errors: those of `ApiClient`, each with the number of requests that were sent and the name of the operation. */
  async run(link: Link | Promise<Link>): Promise<ApiResponse> {
    try {
      return await this.#answer('then' in link ? await this.#opened(link) : link)
    } catch (error) {
      this.#interruption.close()
      throw described(error, this.#attempts?.count ?? 0, this.#parts.prepared.operation.name)
    } finally {
      this.#deadline.stop()
      if (!this.#streamed) this.#interruption.close()
    }
  }

  /** Waits for the link. An aborted or timed-out call ends at once, without waiting until the client is loaded. */
  #opened(link: Promise<Link>): Promise<Link> {
    this.#deadline.start()
    return new Promise((resolve, reject) => {
      this.#interruption.tell(reject)
      link.then(resolve, reject)
    })
  }

  async #answer(link: Link): Promise<ApiResponse> {
    const { settings, prepared, builder, options } = this.#parts
    const limit = link.limits(prepared.operation.limits ?? '')
    if (prepared.responseKind === 'stream') this.#streamed = new StreamedBody(this.#interruption, this.#url)
    const attempts = this.#begin(link)
    const outcomes = new Outcomes(this.#parts, attempts, this.#url)
    const retries = new CallRetries({ settings, prepared, builder, options, limit, streams: link.streams })
    for (;;) {
      if (!this.#entersAtOnce(limit)) await this.#enter(limit)
      let outcome: Outcome
      try {
        outcome = await this.#attempt(attempts, outcomes, retries.count + 1)
        // Before `leave` admits the next call.
        if (isFailure(outcome)) retries.tellOthers(outcome)
      } finally {
        limit.concurrency.leave()
      }
      if (!isFailure(outcome)) {
        if (retries.count === 0) limit.budget.earn()
        limit.concurrency.succeeded()
        return this.#success(outcome.answer, outcome.data, attempts)
      }
      if (retries.isAlreadyGone(outcome)) return new ApiResponse(404, outcome.headers ?? NO_HEADERS, undefined, attempts.count, true)
      await this.#pause(outcome, retries)
    }
  }

  #begin(link: Link): Attempts {
    const { settings, prepared, builder } = this.#parts
    const { timeouts } = settings
    this.#attempts = new Attempts(builder, {
      link,
      collect: this.#streamed?.collect(link.send) ?? link.collect,
      operation: prepared.operation.name,
      limit: prepared.limit,
      headersTimeout: timeouts.headers,
      bodyTimeout: timeouts.body,
      refresh: prepared.operation.refresh ?? settings.refresh,
      interruption: this.#interruption,
    })
    return this.#attempts
  }

  #entersAtOnce({ rate, concurrency }: ServiceLimit): boolean {
    if (this.#interruption.reason) throw this.#interruption.reason
    return !rate && concurrency.tryEnter()
  }

  async #enter({ rate, concurrency }: ServiceLimit): Promise<void> {
    const { settings, options } = this.#parts
    const { clock } = settings.limits
    this.#deadline.start()
    const wait = rate?.take(clock.now()) ?? 0
    if (wait > 0) await sleep(wait, clock, this.#interruption.signal)
    if (rate && concurrency.tryEnter()) return
    const { events, queueLimit } = settings
    if (events.has('queue')) events.emit('queue', { depth: concurrency.depth + 1, limit: concurrency.limit })
    await concurrency.enter(this.#interruption, { queueLimit, ...(options.priority && { priority: options.priority }) })
  }

  async #attempt(attempts: Attempts, outcomes: Outcomes, attempt: number): Promise<Outcome> {
    const { settings, prepared, options } = this.#parts
    const { events, interceptors, limits } = settings
    const { name } = prepared.operation
    const timeout = attemptTimeout(prepared, options, settings.timeouts)
    this.#deadline.start(timeout, () => attempts.cancel(outcomes.attemptTimeout(timeout)))
    const around = interceptors.length > 0
    const first = this.#plain()
    const plain = around ? await attempts.unlessEnded(() => intercepted(interceptors, first, { operation: name, attempt })) : first
    if (events.has('request')) events.emit('request', { ...this.#event(attempt), headers: shownRequestHeaders(plain.headers) })
    const started = limits.clock.now()
    const result = await attempts.make(plain)
    if ('status' in result) {
      const { status, headers } = result
      if (around) await attempts.unlessEnded(() => notify({ status, headers }, interceptors, name))
      if (events.has('response'))
        events.emit('response', { ...this.#event(attempt), ...this.#seen(result, started, outcomes.scrubber(plain)) })
    }
    this.#deadline.stop()
    return outcomes.of(result, plain)
  }

  #plain(): HttpRequest {
    const { settings, builder } = this.#parts
    const { method, path, headers, body } = builder
    const url = settings.origin + path
    return body === undefined ? { method, url, headers } : { method, url, headers, body }
  }

  async #pause(failure: Failure, retries: CallRetries): Promise<void> {
    const { settings } = this.#parts
    const { events, limits } = settings
    const delay = retries.delayAfter(failure, this.#deadline)
    if (events.has('retry')) {
      events.emit('retry', { ...this.#event(retries.count), reason: failure.error.code, delayMs: delay })
    }
    if (delay === 0) return
    this.#deadline.start()
    await sleep(delay, limits.clock, this.#interruption.signal)
    this.#deadline.stop()
  }

  #success(answer: Collected, data: unknown, attempts: Attempts): ApiResponse {
    const body = this.#streamed ? this.#streamed.readable(attempts, this.#parts.prepared.operation.name) : data
    return new ApiResponse(answer.status, answer.headers, body, attempts.count)
  }

  #event(attempt: number): CallEvent {
    const { prepared, builder, options } = this.#parts
    this.#id ||= ++calls
    const { name } = prepared.operation
    return { id: this.#id, operation: name, method: builder.method, url: this.#url, attempt, tag: options.tag }
  }

  #seen(answer: Collected, started: number, scrub: (text: string) => string) {
    const traceId = traceOf(answer.headers)
    const durationMs = this.#parts.settings.limits.clock.now() - started
    return { status: answer.status, durationMs, bytes: answer.body.length, ...(traceId !== undefined && { traceId: scrub(traceId) }) }
  }
}

const NO_HEADERS = { get: () => null }

/**
 * Returns the request after all interceptors changed it, in order. Errors: an `AuthError` of an interceptor; `CONFIG_INVALID` for any
 * other.
 */
async function intercepted(
  interceptors: readonly Interceptor[],
  plain: HttpRequest,
  about: { readonly operation: string; readonly attempt: number },
): Promise<HttpRequest> {
  const { url, method } = plain
  let request = plain
  try {
    for (const interceptor of interceptors) request = { ...((await interceptor.before?.(request, about)) ?? request), url, method }
  } catch (error) {
    throw foreign(error, about.operation)
  }
  return request
}

/** Passes a response to the interceptors, in order. Errors: as above. */
async function notify(
  answer: Parameters<NonNullable<Interceptor['after']>>[0],
  interceptors: readonly Interceptor[],
  operation: string,
): Promise<void> {
  try {
    for (const interceptor of interceptors) await interceptor.after?.(answer)
  } catch (error) {
    throw foreign(error, operation)
  }
}

/**
 * Returns the timeout of one attempt in milliseconds: that of the call, else of the operation, else of the client; a stream has none by
 * default.
 */
function attemptTimeout({ operation, responseKind }: PreparedOperation, { timeout }: CallOptions, timeouts: Required<Timeouts>): number {
  const usual = responseKind === 'stream' ? Number.POSITIVE_INFINITY : timeouts.attempt
  return timeout ?? operation.timeout ?? usual
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

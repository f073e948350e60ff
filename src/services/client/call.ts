/** One call: its attempts, the pauses between them, and its end. */
import type { Collected } from '../../http/body.ts'
import type { HttpRequest } from '../../http/message.ts'
import { sleep } from '../../net/cancellation.ts'
import { Deadline, Interruption } from '../../net/deadline.ts'
import type { Link } from './api-client.ts'
import { ApiResponse } from './api-response.ts'
import { Attempts } from './attempt.ts'
import type { CallInput, CallOptions, Interceptor } from './call-options.ts'
import { described, foreign, ValidationError } from './errors.ts'
import type { CallEvent } from './events.ts'
import type { PreparedOperation } from './operation.ts'
import { isFailure, type Outcome, Outcomes } from './outcome.ts'
import type { Failure } from './replay.ts'
import type { RequestBuilder } from './request-builder.ts'
import { CallRetries } from './retries.ts'
import type { ServiceLimit } from './service-limits.ts'
import type { Settings, Timeouts } from './settings.ts'
import { shownRequestHeaders, traceOf } from './shown-headers.ts'
import type { StreamedBody } from './streamed-body.ts'

/** What a call is about. */
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
    const end = deadlineOf(options, settings.timeouts, clock.now())
    this.#interruption = new Interruption(options.signal)
    this.#deadline = new Deadline(end, clock, wheel, this.#interruption, this.#url)
  }

  /** Errors: the whole family; each says how many requests were sent for it, and for which operation. */
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

  /** Whoever gives up need not wait for what the client still has to load. */
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
    if (prepared.responseKind === 'stream') await this.#stream()
    const attempts = this.#begin(link)
    const outcomes = new Outcomes(this.#parts, attempts, this.#url)
    const retries = new CallRetries({ settings, prepared, builder, options, limit, streams: link.streams })
    for (;;) {
      if (!this.#entersAtOnce(limit)) await this.#enter(limit)
      let outcome: Outcome
      try {
        outcome = await this.#attempt(attempts, outcomes, retries.count + 1)
        // Before the next one is let in.
        if (isFailure(outcome)) retries.tellOthers(outcome)
      } finally {
        limit.concurrency.leave()
      }
      if (!isFailure(outcome)) {
        if (retries.count === 0) limit.budget.earn()
        limit.concurrency.succeeded()
        return this.#success(outcome.answer, outcome.data, attempts.count)
      }
      if (retries.isAlreadyGone(outcome)) return new ApiResponse(404, outcome.headers ?? NO_HEADERS, undefined, attempts.count, true)
      await this.#pause(outcome, retries)
    }
  }

  async #stream(): Promise<void> {
    const module = await import('./streamed-body.ts')
    this.#streamed = new module.StreamedBody(this.#interruption, this.#url)
  }

  #begin(link: Link): Attempts {
    const { settings, prepared, builder } = this.#parts
    const { timeouts, origin } = settings
    this.#attempts = new Attempts(builder, {
      link,
      collect: this.#streamed?.collect(link.send) ?? link.collect,
      origin,
      operation: prepared.operation.name,
      limit: prepared.limit,
      headersTimeout: timeouts.headers,
      bodyTimeout: timeouts.bodyIdle,
      renew: prepared.operation.renew ?? settings.renew,
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

  #success(answer: Collected, data: unknown, attempts: number): ApiResponse {
    const body = this.#streamed ? this.#streamed.readable((reason) => this.#attempts?.cancel(reason)) : data
    return new ApiResponse(answer.status, answer.headers, body, attempts)
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

/** The request as interceptors, one after the other, want it sent. Errors: theirs of the family; `CONFIG_INVALID` for any other. */
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

/** Tells interceptors of an answer, one after the other. Errors: as above. */
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

/** Milliseconds for one attempt: what the call says, else the operation, else the client; a stream takes as long as it takes. */
function attemptTimeout({ operation, responseKind }: PreparedOperation, { timeout }: CallOptions, timeouts: Required<Timeouts>): number {
  const usual = responseKind === 'stream' ? Number.POSITIVE_INFINITY : timeouts.attempt
  return timeout ?? operation.timeout ?? usual
}

/**
 * Epoch milliseconds at which the call ends; Infinity for never. Errors: `REQUEST_INVALID` for a time that is none, which would end
 * nothing.
 */
function deadlineOf({ timeout = 0, totalTimeout, deadline }: CallOptions, timeouts: Required<Timeouts>, now: number): number {
  const total = totalTimeout ?? timeouts.total
  const ends = { timeout, totalTimeout: total === false ? Number.POSITIVE_INFINITY : now + total, deadline: deadline?.getTime() ?? now }
  for (const [field, end] of Object.entries(ends)) if (Number.isNaN(end)) throw noTime(field)
  return deadline ? Math.min(ends.totalTimeout, ends.deadline) : ends.totalTimeout
}

function noTime(field: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `${field} is not a valid time; nothing was sent`, { field })
}

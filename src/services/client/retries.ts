/** Decides whether and when a call is retried: the policy, what each failure allows, and the limits that clients of one service share. */
import type { AuthError } from '../../errors.ts'
import type { Transport } from '../../http/message.ts'
import { type Deadline, TimerWheel } from '../../net/cancellation.ts'
import { type Clock, systemClock } from '../../net/clock.ts'
import { ConcurrencyLimiter, type RateLimit, RateLimiter } from '../../net/limiter.ts'
import { Retries, RetryBudget, type RetryPolicy } from '../../net/retry.ts'
import type { Settings } from './api-client.ts'
import { annotate, foreign, type HttpError, QuotaExceededError, RetryBudgetError } from './errors.ts'
import type { CallOptions, PreparedOperation, RequestBuilder, RetryOptions } from './request-builder.ts'

/**
 * The effect of sending an operation twice, which decides when it is retried: none (`safe`), the same as of sending it once (`idem`),
 * possibly a second effect (`unsafe`). `once` is `idem` until a response begins; then the result is lost.
 */
export type ReplayClass = 'safe' | 'idem' | 'unsafe' | 'once'

/** The failure of one attempt. */
export interface Failure {
  readonly error: AuthError
  /** Absent if there was no response. */
  readonly status?: number
  readonly headers?: { get(name: string): string | null }
  /** At least one byte of the request was handed to a connected socket. */
  readonly sent: boolean
  /** The response had begun. */
  readonly begun?: boolean
  /** A reused connection was closed before the response began. */
  readonly stale?: boolean
}

/**
 * What a failure allows: `retry` after a delay, `now` on another connection, `briefly` one retry only (a host name that was not found),
 * `never`.
 */
export type Verdict = 'retry' | 'now' | 'briefly' | 'never'

/** The retry policy of API clients; clients may set the number and the longest `Retry-After`. */
const API_RETRIES = {
  retries: 4,
  unresolved: 1,
  backoff: { first: 500, longest: 20_000, fixed: 0, random: 1, least: 100 },
  overloaded: { first: 1000, longest: 20_000, fixed: 0.5, random: 0.5 },
  retryAfter: { longest: 60_000, spread: 0.1, least: 50 },
  budget: { most: 10, earned: 0.1 },
} satisfies RetryPolicy

interface RetryParts {
  readonly settings: Settings
  readonly prepared: PreparedOperation
  readonly builder: RequestBuilder
  readonly options: CallOptions
  readonly limit: ServiceLimit
  /** True if the transport does not read a stream before it is connected. */
  readonly streams: boolean
}

export class CallRetries {
  readonly #retries: Retries
  readonly #parts: RetryParts
  readonly #replay: ReplayClass
  readonly #wishes: RetryOptions
  /** True if a failed attempt may have had its effect on the server. */
  #unknown = false
  readonly #had = new Set<Verdict>()

  constructor(parts: RetryParts) {
    const { prepared, options } = parts
    this.#parts = parts
    this.#wishes = options.retry === false ? { retries: 0 } : (options.retry ?? {})
    this.#replay = replayOf(prepared, options, this.#wishes)
    const { maxRetryAfter, limits } = parts.settings
    const { retries = parts.settings.retries } = this.#wishes
    const policy = {
      ...API_RETRIES,
      retries,
      retryAfter: { ...API_RETRIES.retryAfter, longest: maxRetryAfter },
    }
    this.#retries = new Retries(policy, limits.random, parts.limit.budget)
  }

  /** Retries so far. */
  get count(): number {
    return this.#retries.count
  }

  /** Returns true for a repeated deletion that finds nothing, which is a success. */
  isAlreadyGone({ status }: Failure): boolean {
    return status === 404 && this.#unknown && this.#parts.prepared.operation.method === 'DELETE'
  }

  /** Reports a failure to the shared limits, for other calls. */
  tellOthers({ status, error }: Failure): void {
    const { limit, settings } = this.#parts
    const { concurrency } = limit
    // Limited to the longest delay that clients wait for, because a service may send any number.
    if (status === 429 || status === 529) concurrency.refused(Math.min((error as HttpError).retryAfterMs ?? 0, settings.maxRetryAfter))
    if (status === 456) concurrency.exhaust(() => new QuotaExceededError(`${error.message}; not sent`, { ...error, status }))
  }

  /**
   * Returns the milliseconds until the next attempt. Errors: the failure itself when it is final, `RETRY_BUDGET`, `TIMEOUT_TOTAL` if the
   * delay would end after the deadline.
   */
  delayAfter(failure: Failure, deadline: Deadline): number {
    const { status } = failure
    const verdict = this.#verdict(failure)
    if (verdict === 'never') throw failure.error
    const left = deadline.end - this.#parts.settings.limits.clock.now()
    const delay = this.#retries.next({ hint: (failure.error as HttpError).retryAfterMs, status, left, now: verdict === 'now' })
    if (delay === 'deadline') throw deadline.tooLate(failure.error)
    if (delay === 'budget') throw budgetEmpty(failure.error)
    if (delay === 'retry-after' && !('hint' in failure.error)) annotate(failure.error, { hint: tooLong(failure.error as HttpError) })
    if (typeof delay === 'string') throw failure.error
    this.#unknown ||= failure.sent && (status === undefined || status >= 500)
    return delay
  }

  #verdict(failure: Failure): Verdict {
    const { builder, prepared, streams } = this.#parts
    const { status, error } = failure
    if (!builder.replayable && (failure.sent || !streams)) return 'never'
    if (status !== undefined && prepared.operation.final?.includes(status)) return 'never'
    const wanted = status !== undefined && this.#wishes.statuses?.includes(status)
    const policy = wanted ? 'retry' : verdictOn(failure, this.#replay)
    const requested = ENDED.has(error.code) ? undefined : this.#told(failure)
    if (requested !== undefined) return requested ? 'retry' : 'never'
    return this.#firstTime(policy)
  }

  #told(failure: Failure): boolean | undefined {
    try {
      return this.#wishes.on?.(about(failure, this.count + 1))
    } catch (error) {
      throw foreign(error, this.#parts.prepared.operation.name)
    }
  }

  /** Returns the verdict on a repeated failure: `briefly` allows one retry only, and `now` becomes `retry` the second time. */
  #firstTime(policy: Verdict): Verdict {
    if (policy !== 'briefly' && policy !== 'now') return policy
    const again = this.#had.has(policy)
    this.#had.add(policy)
    if (policy === 'briefly') return again ? 'never' : 'retry'
    return again ? 'retry' : 'now'
  }
}

function tooLong({ retryAfterMs = 0 }: HttpError): string {
  return `Retry-After of ${Math.ceil(retryAfterMs / 1000)} s is too long: try again later`
}

/** Codes of errors with which the caller or a deadline ends the call. */
const ENDED = new Set(['ABORTED', 'TIMEOUT_TOTAL'])

/** Returns the class of the operation; with `billed: false`, an operation that costs money is `unsafe`. */
function replayOf({ operation }: PreparedOperation, { replay }: CallOptions, { billed }: RetryOptions): ReplayClass {
  if (operation.billed && billed === false) return 'unsafe'
  return operation.replay === 'unsafe' && replay ? replay : operation.replay
}

/** Returns the verdict on a failure, by the class of the operation. */
export function verdictOn(failure: Failure, replay: ReplayClass): Verdict {
  return failure.status === undefined ? onSilence(failure, replay) : onStatus(failure.status, failure, replay)
}

function onSilence({ error, sent, begun, stale }: Failure, replay: ReplayClass): Verdict {
  const { code } = error
  if (NEVER.has(code)) return 'never'
  if (!sent) {
    if (code === 'NETWORK_DNS') return 'briefly'
    return UNSENT.has(code) ? 'retry' : 'never'
  }
  if (replay === 'unsafe' || (replay === 'once' && begun) || !LOST.has(code)) return 'never'
  return stale ? 'now' : 'retry'
}

function onStatus(status: number, { error, headers }: Failure, replay: ReplayClass): Verdict {
  const isUnsafe = replay === 'unsafe'
  const allow = (allowed: boolean): Verdict => (allowed ? 'retry' : 'never')
  // The response of a `once` operation has begun.
  if (replay === 'once') return 'never'
  // An invalid response may be valid the next time; an unsupported one is not retryable.
  if (status >= 200 && status < 300) return allow(!isUnsafe && error.retryable)
  if (REFUSED.has(status)) return 'retry'
  if (FAILED.has(status) || status === 425) return allow(!isUnsafe)
  if (status === 408) return allow(!isUnsafe || /\bclose\b/i.test(headers?.get('connection') ?? ''))
  if (status === 503) return allow(!isUnsafe || headers?.get('retry-after') != null || headers?.get('retry-after-ms') != null)
  return 'never'
}

/** Statuses of requests that the server refused without doing anything. */
const REFUSED = new Set([429, 529])

const FAILED = new Set([500, 502, 504])

/** Codes of errors that a retry would repeat. */
const NEVER = new Set(['ABORTED', 'TIMEOUT_TOTAL', 'PROXY_AUTH_REQUIRED', 'PROXY_INVALID', 'TLS_UNTRUSTED', 'TLS_EXPIRED', 'TLS_HOSTNAME'])

/** Codes of retryable errors before the first byte was sent. */
const UNSENT = new Set([
  'NETWORK_REFUSED',
  'NETWORK_RESET',
  'NETWORK_UNREACHABLE',
  'NETWORK_FAILED',
  'TLS_HANDSHAKE',
  'TIMEOUT_CONNECT',
  'TIMEOUT_ATTEMPT',
  'PROXY_UNREACHABLE',
  'CORS_OR_NETWORK',
])

/** Codes of retryable errors after the first byte was sent, when the effect on the server is unknown. */
const LOST = new Set([
  'NETWORK_RESET',
  'NETWORK_FAILED',
  'RESPONSE_TRUNCATED',
  'TIMEOUT_HEADERS',
  'TIMEOUT_BODY',
  'TIMEOUT_ATTEMPT',
  'CORS_OR_NETWORK',
])

function about({ error, status }: Failure, attempt: number) {
  return { attempt, code: error.code, ...(status !== undefined && { status }) }
}

function budgetEmpty(cause: AuthError): RetryBudgetError {
  const message = `too many requests to this service fail: no retries for now (${cause.message})`
  return new RetryBudgetError('RETRY_BUDGET', message, { cause, retryable: true, ...(cause.url !== undefined && { url: cause.url }) })
}

/** The limits of one service for one credential. */
export interface ServiceLimit {
  readonly concurrency: ConcurrencyLimiter
  readonly budget: RetryBudget
  readonly rate: RateLimiter | undefined
}

/** Options of `ServiceLimits`, which apply by origin and credential. */
export interface ServiceLimitsOptions {
  /** Requests per second; default: no limit. */
  readonly rate?: number
  /** Requests that may start at once after an idle time; default: `rate`, at least 1. */
  readonly burst?: number
  /** The clock, for tests; default: that of the platform. */
  readonly clock?: Clock
  /** Returns numbers from 0 up to, not including, 1, for the jitter of delays; default `Math.random`. */
  readonly random?: () => number
}

/**
 * Limits the requests of its clients: concurrent requests (8 at first, adapted to the service), requests per second, and retries. Clients
 * of the same origin and credential share their limits; clients without `limits` share one for the whole process.
 *
 * @example new ApiClient({ baseUrl, credential, limits: new ServiceLimits({ rate: 5 }) })
 */
export class ServiceLimits {
  /** @internal */
  readonly clock: Clock
  /** @internal */
  readonly random: () => number
  /** @internal */
  readonly wheel: TimerWheel
  /** @internal */
  readonly rate: RateLimit | undefined
  readonly #known = new Map<string, ServiceLimit>()
  #transport: Promise<Transport> | undefined

  constructor({ clock = systemClock(), random = Math.random, rate, burst }: ServiceLimitsOptions = {}) {
    this.clock = clock
    this.random = random
    this.wheel = new TimerWheel(clock)
    this.rate = rate === undefined ? undefined : { requestsPerSecond: rate, burst }
  }

  /** Returns the transport of all clients without one, so that they share connections. @internal */
  transport(load: () => Promise<Transport>): Promise<Transport> {
    this.#transport ??= load()
    return this.#transport
  }

  /** Returns the limits of a key, created on first use. @internal */
  of(key: string): ServiceLimit {
    const known = this.#known.get(key)
    if (known) return known
    const rate = this.rate && new RateLimiter(this.rate)
    const limit = { concurrency: new ConcurrencyLimiter(this.clock), budget: new RetryBudget(API_RETRIES.budget), rate }
    this.#known.set(key, limit)
    return limit
  }
}

/** The limits of all clients without `limits`. */
export const sharedLimits = new ServiceLimits()

/** The pace of requests to a service: concurrency, rate and retries, shared by all calls with one credential. */

import { type Interruption, sleep } from '../../net/cancellation.ts'
import { type Clock, systemClock } from '../../net/clock.ts'
import { ConcurrencyLimiter, type RateLimit, RateLimiter } from '../../net/limiter.ts'
import { RetryBudget } from '../../net/retry.ts'
import { HttpError, hasStatus } from './errors.ts'
import { API_RETRIES } from './retries.ts'

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
  readonly rate: RateLimit | undefined
  readonly #pacers = new Map<string, Pacer>()

  constructor({ clock = systemClock(), random = Math.random, rate, burst }: ServiceLimitsOptions = {}) {
    this.clock = clock
    this.random = random
    this.rate = rate === undefined ? undefined : { requestsPerSecond: rate, burst }
  }

  /** Returns the pacer of a service and credential, created on first use. @internal */
  of(key: string): Pacer {
    const known = this.#pacers.get(key)
    if (known) return known
    const pacer = new Pacer(this.clock, this.rate)
    this.#pacers.set(key, pacer)
    return pacer
  }
}

/** The limits of all clients without `limits`. */
export const sharedLimits = new ServiceLimits()

/** How a call waits for its turn. */
interface WaitOptions {
  readonly priority?: 'high' | undefined
  readonly queueLimit: number
  /** Called with the length of the queue and the concurrency limit when the call has to wait. */
  queued(depth: number, limit: number): void
}

/** Paces the attempts of all calls to one service with one credential. */
export class Pacer {
  readonly budget = new RetryBudget(API_RETRIES.budget)
  readonly #concurrency: ConcurrencyLimiter
  readonly #rate: RateLimiter | undefined
  readonly #clock: Clock

  constructor(clock: Clock, rate: RateLimit | undefined) {
    this.#concurrency = new ConcurrencyLimiter(clock)
    this.#rate = rate && new RateLimiter(rate)
    this.#clock = clock
  }

  /** Waits until an attempt may start; `leave` must follow. Errors: the reason of the interruption; those of `ConcurrencyLimiter`. */
  async enter(interruption: Interruption, { priority, queueLimit, queued }: WaitOptions): Promise<void> {
    if (interruption.reason) throw interruption.reason
    const wait = this.#rate?.take(this.#clock.now()) ?? 0
    if (wait > 0) await sleep(wait, this.#clock, interruption.signal)
    if (this.#concurrency.tryEnter()) return
    queued(this.#concurrency.depth + 1, this.#concurrency.limit)
    await this.#concurrency.enter(interruption.signal, { queueLimit, ...(priority && { priority }) })
  }

  leave(): void {
    this.#concurrency.leave()
  }

  /** @param isFirst true for a call that needed no retry */
  succeeded(isFirst: boolean): void {
    if (isFirst) this.budget.earn()
    this.#concurrency.succeeded()
  }

  /**
   * Slows all calls down after 429 and 529, and stops them after 456. Called before `leave` admits the next call.
   *
   * @param longest limit of the pause in milliseconds, because a service may send any number
   */
  failed(error: unknown, longest: number): void {
    if (hasStatus(error, 429) || hasStatus(error, 529)) this.#concurrency.refused(Math.min(error.retryAfterMs ?? 0, longest))
    if (hasStatus(error, 456)) this.#concurrency.exhaust(() => new HttpError(`${error.message}; not sent`, error))
  }
}

/** What clients of one service share: how many requests at a time, how many retries, and whether there is quota left. */
import type { Transport } from '../../http/message.ts'
import { type Clock, systemClock } from '../../net/clock.ts'
import { TimerWheel } from '../../net/deadline.ts'
import { ConcurrencyLimiter, type RateLimit, RateLimiter } from '../../net/limiter.ts'
import { RetryBudget } from '../../net/retry.ts'
import { API_RETRIES } from './retries.ts'

/** The state of one service as one credential sees it. */
export interface ServiceLimit {
  readonly concurrency: ConcurrencyLimiter
  readonly budget: RetryBudget
  readonly rate: RateLimiter | undefined
}

export interface ServiceLimitsOptions {
  /** Default: the platform's. */
  readonly clock?: Clock
  /** A number from 0 up to, not including, 1, for pauses. */
  readonly random?: () => number
  /** Default: none. */
  readonly rateLimit?: RateLimit
}

/**
 * Keeps the requests of several clients within what a service takes. Clients that are given none share one for the whole process, and
 * in it those of the same origin and credential share their limits.
 *
 * @example new ApiClient({ baseUrl, credential, limits: new ServiceLimits({ rateLimit: { requestsPerSecond: 5 } }) })
 */
export class ServiceLimits {
  readonly clock: Clock
  readonly random: () => number
  readonly wheel: TimerWheel
  readonly #rateLimit: RateLimit | undefined
  readonly #known = new Map<string, ServiceLimit>()
  #transport: Promise<Transport> | undefined

  constructor({ clock = systemClock(), random = Math.random, rateLimit }: ServiceLimitsOptions = {}) {
    this.clock = clock
    this.random = random
    this.wheel = new TimerWheel(clock)
    this.#rateLimit = rateLimit
  }

  /** The transport of all clients that are given none: one set of connections. */
  transport(load: () => Promise<Transport>): Promise<Transport> {
    this.#transport ??= load()
    return this.#transport
  }

  /** The limits of that key, made when it is first asked for. */
  of(key: string): ServiceLimit {
    const known = this.#known.get(key)
    if (known) return known
    const rate = this.#rateLimit && new RateLimiter(this.#rateLimit)
    const limit = { concurrency: new ConcurrencyLimiter(this.clock), budget: new RetryBudget(API_RETRIES.budget), rate }
    this.#known.set(key, limit)
    return limit
  }
}

/** For all clients that are given none. */
export const sharedLimits = new ServiceLimits()

/** The limits of services: one pacer and one retry budget for all calls with a credential. */

import { type Clock, systemClock } from '../../net/clock.ts'
import { Pacer } from '../../net/pacer.ts'
import { RetryBudget } from '../../net/retry.ts'
import { HttpError, hasStatus, isRefusal } from './errors.ts'
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
 * Limits the requests of its clients: concurrent requests (8 at first) and requests per second, both adapted to the service, and retries.
 * Clients of the same origin and credential share their limits; clients without `limits` share one for the whole process.
 *
 * @example new ApiClient({ baseUrl, credential, limits: new ServiceLimits({ rate: 5 }) })
 */
export class ServiceLimits {
  /** @internal */
  readonly clock: Clock
  /** @internal */
  readonly random: () => number
  /** @internal */
  readonly rate: Pick<ServiceLimitsOptions, 'rate' | 'burst'>
  readonly #traffics = new Map<string, ServiceTraffic>()

  constructor({ clock = systemClock(), random = Math.random, ...rate }: ServiceLimitsOptions = {}) {
    this.clock = clock
    this.random = random
    this.rate = rate
  }

  /** Returns the traffic of a service and credential, created on first use. @internal */
  of(key: string): ServiceTraffic {
    const known = this.#traffics.get(key)
    if (known) return known
    const traffic = new ServiceTraffic(this.clock, this.random, this.rate)
    this.#traffics.set(key, traffic)
    return traffic
  }
}

/** The limits of all clients without `limits`. */
export const sharedLimits = new ServiceLimits()

/** The traffic of all calls to one service with one credential. */
export class ServiceTraffic {
  readonly pacer: Pacer
  readonly budget: RetryBudget
  readonly #random: () => number

  constructor(clock: Clock, random: () => number, rate: Pick<ServiceLimitsOptions, 'rate' | 'burst'>) {
    this.pacer = new Pacer(clock, random, rate)
    this.budget = new RetryBudget(API_RETRIES.budget, clock)
    this.#random = random
  }

  /**
   * Slows all calls down after 429, 529 and 503, and stops them after 456.
   *
   * @param longest limit of the pause in milliseconds, because a service may send any number
   */
  failed(error: unknown, longest: number): void {
    const { least, spread } = API_RETRIES.retryAfter
    if (isRefusal(error)) {
      const hint = error.retryAfterMs && Math.min(error.retryAfterMs, longest)
      this.pacer.refused(hint === undefined ? undefined : Math.max(least, hint + this.#random() * spread * hint))
    }
    if (hasStatus(error, 456)) this.pacer.exhaust(() => new HttpError(`${error.message}; not sent`, error))
  }
}

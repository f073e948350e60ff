/** Limits of amounts per second, and of the requests to each origin. */

import type { Clock } from './clock.ts'
import { Pacer, type PacerPolicy } from './pacer.ts'

/** Requests per second, and how many may start at once after an idle time (default: as many as per second, at least 1). */
export interface RateLimit {
  readonly requestsPerSecond: number
  readonly burst?: number | undefined
}

/** A token bucket. */
export class RateLimiter {
  readonly #perMillisecond: number
  readonly #burst: number
  #tokens: number
  #at = Number.NEGATIVE_INFINITY

  constructor({ requestsPerSecond, burst = Math.max(1, requestsPerSecond) }: RateLimit) {
    this.#perMillisecond = requestsPerSecond / 1000
    this.#burst = burst
    this.#tokens = burst
  }

  /** Takes that many tokens and returns the milliseconds until the last of them is available. */
  take(now: number, tokens = 1): number {
    if (now > this.#at) {
      const earned = this.#at === Number.NEGATIVE_INFINITY ? 0 : (now - this.#at) * this.#perMillisecond
      this.#tokens = Math.min(this.#burst, this.#tokens + earned)
      this.#at = now
    }
    this.#tokens -= tokens
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMillisecond
  }
}

/** The limits of each origin of a crawl or download. */
export interface OriginLimits {
  readonly concurrency: number
  /** Requests per second; default: no limit. */
  readonly rate?: number
}

/** Successes that raise the limit of an origin by one. */
const ORIGIN_SUCCESSES = 20

/** Limits concurrency and rate per origin, and starts no request during a `Retry-After`. */
export class OriginLimiter {
  readonly #pacers = new Map<string, Pacer>()
  readonly #policy: PacerPolicy
  readonly #clock: Clock
  readonly #opened: () => void

  /** @param opened called when another request may be able to start */
  constructor({ concurrency, rate }: OriginLimits, clock: Clock, opened: () => void) {
    // With less nothing would ever start.
    const most = Math.max(1, concurrency)
    this.#policy = { concurrency: { initial: most, max: most }, successes: ORIGIN_SUCCESSES, rate, burst: 1, adaptsRate: false }
    this.#clock = clock
    this.#opened = opened
  }

  /** True when a request to that origin would not wait for another one. */
  hasRoom(origin: string): boolean {
    const pacer = this.#pacers.get(origin)
    return !pacer || (pacer.active < pacer.limit && pacer.depth === 0)
  }

  /** Waits for a free slot, for the rate limit and `Retry-After`. Call `leave` afterwards. Errors: `ABORTED`. */
  enter(origin: string, signal?: AbortSignal): void | Promise<void> {
    const pacer = this.#pacerOf(origin)
    if (!pacer.tryEnter()) return pacer.enter(signal).then(this.#opened)
  }

  leave(origin: string): void {
    this.#pacerOf(origin).leave()
    this.#opened()
  }

  /** Counts a success; {@link ORIGIN_SUCCESSES} of them raise the concurrency limit by one. */
  succeeded(origin: string): void {
    this.#pacerOf(origin).succeeded()
  }

  /** Halves the concurrency limit after a 429 or 503, and starts no request for that many milliseconds. */
  refused(origin: string, milliseconds: number): void {
    this.#pacerOf(origin).refused(milliseconds)
  }

  #pacerOf(origin: string): Pacer {
    const known = this.#pacers.get(origin)
    if (known) return known
    const pacer = new Pacer(this.#clock, Math.random, this.#policy)
    this.#pacers.set(origin, pacer)
    return pacer
  }
}

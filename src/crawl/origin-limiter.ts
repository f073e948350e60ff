/** The limits of each origin of a crawl or download. */
import { abortedBy } from '../errors.ts'
import { Interruption, sleep } from '../net/cancellation.ts'
import type { Clock } from '../net/clock.ts'
import { ConcurrencyLimiter, RateLimiter } from '../net/limiter.ts'
import { type CrawlManners, DEFAULTS } from './settings.ts'

interface OriginLimit {
  readonly concurrency: ConcurrencyLimiter
  readonly rate: RateLimiter | undefined
}

const SUCCESSES = 20
/** The crawl itself bounds how many requests wait. */
const UNBOUNDED = { queueLimit: Number.POSITIVE_INFINITY }

/** Limits concurrency and rate per origin, and starts no request during a `Retry-After`. */
export class OriginLimiter {
  readonly #origins = new Map<string, OriginLimit>()
  readonly #concurrency: number
  readonly #requestsPerSecond: number | undefined
  readonly #clock: Clock
  readonly #opened: () => void

  /** @param opened called when another request may be able to start */
  constructor({ concurrency = DEFAULTS.concurrency, rate }: CrawlManners, clock: Clock, opened: () => void) {
    this.#concurrency = concurrency
    this.#requestsPerSecond = rate
    this.#clock = clock
    this.#opened = opened
  }

  /** True when a request to that origin would not wait for another one. */
  hasRoom(origin: string): boolean {
    const concurrency = this.#origins.get(origin)?.concurrency
    return !concurrency || (concurrency.active < concurrency.limit && concurrency.depth === 0)
  }

  /** Waits for a free slot, then for the rate limit and `Retry-After`. Call `leave` afterwards. Errors: `ABORTED`. */
  enter(origin: string, signal?: AbortSignal): void | Promise<void> {
    const limit = this.#limitOf(origin)
    if (limit.rate || !limit.concurrency.tryEnter()) return this.#waitFor(limit, signal)
  }

  async #waitFor({ concurrency, rate }: OriginLimit, signal: AbortSignal | undefined): Promise<void> {
    if (!concurrency.tryEnter()) {
      const interruption = new Interruption(signal, abortedBy)
      await concurrency.enter(interruption, UNBOUNDED).finally(() => interruption.close())
      this.#opened()
    }
    if (!rate) return
    try {
      let wait = rate.take(this.#clock.now())
      // The origin may ask for a pause meanwhile.
      for (; wait > 0; wait = concurrency.pause) await sleep(wait, this.#clock, signal)
    } catch (error) {
      concurrency.leave()
      throw error
    }
  }

  leave(origin: string): void {
    this.#limitOf(origin).concurrency.leave()
    this.#opened()
  }

  /** Counts a success; {@link SUCCESSES} of them raise the concurrency limit by one. */
  succeeded(origin: string): void {
    this.#limitOf(origin).concurrency.succeeded()
  }

  /** Halves the concurrency limit after a 429 or 503, and starts no request for that many milliseconds. */
  refused(origin: string, milliseconds: number): void {
    this.#limitOf(origin).concurrency.refused(milliseconds)
  }

  #limitOf(origin: string): OriginLimit {
    const known = this.#origins.get(origin)
    if (known) return known
    const policy = { initial: this.#concurrency, max: this.#concurrency, successes: SUCCESSES }
    const rate =
      this.#requestsPerSecond === undefined ? undefined : new RateLimiter({ requestsPerSecond: this.#requestsPerSecond, burst: 1 })
    const limit = { concurrency: new ConcurrencyLimiter(this.#clock, policy), rate }
    this.#origins.set(origin, limit)
    return limit
  }
}

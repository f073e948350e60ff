/** Limits of one service or origin: concurrent requests, requests per second, and the pauses that it asks for. */

import { type AuthError, abortedBy, ConfigurationError } from '../errors.ts'
import { onAbort, sleep, throwIfAborted } from './cancellation.ts'
import { type Clock, startTimer } from './clock.ts'

/** How a concurrency limit adapts. */
export interface ConcurrencyPolicy {
  readonly initial: number
  readonly max: number
  /** Successes that raise the limit by one; default: as many as the limit. */
  readonly successes?: number
}

const API_CONCURRENCY: ConcurrencyPolicy = { initial: 8, max: 64 }

/** Milliseconds within which refusals count as one: requests that were in flight together are refused together. */
const REFUSAL_WINDOW = 1000

/** A caller in the queue. */
interface Waiting {
  enter(): void
  refuse(reason: AuthError): void
}

/**
 * Limits concurrent requests. A refusal halves the limit, enough successes raise it by one. No request starts during a `Retry-After`, or
 * while the quota is used up.
 */
export class ConcurrencyLimiter {
  readonly #clock: Clock
  readonly #policy: ConcurrencyPolicy
  readonly #urgent: Waiting[] = []
  readonly #queue: Waiting[] = []
  #active = 0
  #limit: number
  #successes = 0
  #halvedAt = Number.NEGATIVE_INFINITY
  #pausedUntil = Number.NEGATIVE_INFINITY
  #waking: (() => void) | undefined
  #exhausted: (() => AuthError) | undefined

  constructor(clock: Clock, policy = API_CONCURRENCY) {
    this.#clock = clock
    this.#policy = policy
    this.#limit = policy.initial
  }

  get limit(): number {
    return this.#limit
  }

  get depth(): number {
    return this.#urgent.length + this.#queue.length
  }

  get active(): number {
    return this.#active
  }

  /** Takes a slot if one is free; `leave` must follow then. Errors: that of a used-up quota, while another request checks it. */
  tryEnter(): boolean {
    if (this.#exhausted && this.#active > 0) throw this.#exhausted()
    if (this.#active >= this.#limit || this.depth > 0 || this.pause > 0) return false
    this.#active++
    return true
  }

  /** Waits for a slot; `leave` must follow. Errors: `ABORTED`, that of a used-up quota, `CONFIG_INVALID` for a full queue. */
  enter(
    signal: AbortSignal | undefined,
    { priority, queueLimit }: { readonly priority?: 'high'; readonly queueLimit: number },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      throwIfAborted(signal)
      if (this.depth >= queueLimit) throw queueFull(queueLimit)
      const line = priority === 'high' ? this.#urgent : this.#queue
      const aborted = () => {
        line.splice(line.indexOf(waiting), 1)
        this.#sleepIfEmpty()
        reject(abortedBy(signal as AbortSignal))
      }
      const forget = signal && onAbort(signal, aborted)
      const waiting: Waiting = {
        enter: () => {
          forget?.()
          resolve()
        },
        refuse: (reason) => {
          forget?.()
          reject(reason)
        },
      }
      line.push(waiting)
      // The pause may have ended, or a slot become free, since `tryEnter` returned false.
      this.#admit()
    })
  }

  leave(): void {
    this.#active--
    if (this.depth > 0) this.#admit()
  }

  /** Counts a success. */
  succeeded(): void {
    this.#exhausted = undefined
    const { max, successes = this.#limit } = this.#policy
    if (this.#limit >= max || ++this.#successes < successes) return
    this.#successes = 0
    this.#limit++
    if (this.depth > 0) this.#admit()
  }

  /** Halves the limit after a refusal, and starts no request for that many milliseconds. */
  refused(pause: number): void {
    const now = this.#clock.now()
    this.#successes = 0
    if (now - this.#halvedAt >= REFUSAL_WINDOW) {
      this.#halvedAt = now
      this.#limit = Math.max(1, this.#limit >> 1)
    }
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pause)
  }

  /** Rejects all waiting callers because the quota is used up; afterwards one request at a time checks whether it is available again. */
  exhaust(reason: () => AuthError): void {
    this.#exhausted = reason
    for (const waiting of [...this.#urgent.splice(0), ...this.#queue.splice(0)]) waiting.refuse(reason())
    this.#sleepIfEmpty()
  }

  /** Milliseconds until the pause ends; 0 without a pause. */
  get pause(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.now())
  }

  #admit(): void {
    if (this.pause > 0) this.#wakeLater()
    while (this.#active < this.#limit && this.pause === 0) {
      const next = this.#urgent.shift() ?? this.#queue.shift()
      if (!next) return
      this.#active++
      next.enter()
    }
  }

  /** Stops the timer of an empty queue, which would keep the process alive. */
  #sleepIfEmpty(): void {
    if (this.depth > 0) return
    this.#waking?.()
    this.#waking = undefined
  }

  #wakeLater(): void {
    this.#waking ??= startTimer(
      this.#clock,
      this.pause,
      () => {
        this.#waking = undefined
        this.#admit()
      },
      'wait',
    )
  }
}

function queueFull(limit: number): ConfigurationError {
  const hint = 'wait for some of the calls, or raise queueLimit'
  return new ConfigurationError('CONFIG_INVALID', `${limit} calls are waiting, which is queueLimit`, {
    hint,
    retryable: true,
  })
}

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

interface OriginLimit {
  readonly concurrency: ConcurrencyLimiter
  readonly rate: RateLimiter | undefined
}

/** The limits of each origin of a crawl or download. */
export interface OriginLimits {
  readonly concurrency: number
  /** Requests per second; default: no limit. */
  readonly rate?: number
}

/** Successes that raise the limit of an origin by one. */
const ORIGIN_SUCCESSES = 20

/** The caller itself bounds how many requests wait. */
const UNBOUNDED = { queueLimit: Number.POSITIVE_INFINITY }

/** Limits concurrency and rate per origin, and starts no request during a `Retry-After`. */
export class OriginLimiter {
  readonly #origins = new Map<string, OriginLimit>()
  readonly #concurrency: number
  readonly #requestsPerSecond: number | undefined
  readonly #clock: Clock
  readonly #opened: () => void

  /** @param opened called when another request may be able to start */
  constructor({ concurrency, rate }: OriginLimits, clock: Clock, opened: () => void) {
    // With less nothing would ever start.
    this.#concurrency = Math.max(1, concurrency)
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
      await concurrency.enter(signal, UNBOUNDED)
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

  /** Counts a success; {@link ORIGIN_SUCCESSES} of them raise the concurrency limit by one. */
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
    const policy = { initial: this.#concurrency, max: this.#concurrency, successes: ORIGIN_SUCCESSES }
    const rate =
      this.#requestsPerSecond === undefined ? undefined : new RateLimiter({ requestsPerSecond: this.#requestsPerSecond, burst: 1 })
    const limit = { concurrency: new ConcurrencyLimiter(this.#clock, policy), rate }
    this.#origins.set(origin, limit)
    return limit
  }
}

/** How many requests may be under way at a time, and how many may begin in a second. */
import { type AuthError, ConfigurationError } from '../errors.ts'
import { type Clock, startTimer } from './clock.ts'
import type { Interruption } from './deadline.ts'

const START = 8
const MOST = 64
/** Milliseconds within which refusals count as one. */
const WINDOW = 1000

/** Somebody who waits for a turn. */
interface Waiting {
  enter(): void
  refuse(reason: AuthError): void
}

/**
 * Lets requests pass as many at a time as the service takes: half as many after a refusal, one more after as many successes as
 * there are places. While the service wants rest, or is out of quota, nobody passes.
 */
export class ConcurrencyLimiter {
  readonly #clock: Clock
  readonly #urgent: Waiting[] = []
  readonly #queue: Waiting[] = []
  #active = 0
  #limit = START
  #successes = 0
  #halvedAt = Number.NEGATIVE_INFINITY
  #restUntil = Number.NEGATIVE_INFINITY
  #waking: (() => void) | undefined
  #exhausted: (() => AuthError) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
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

  /** Takes a place if one is free; `leave` must follow then. Errors: that of the used-up quota while a request tries whether it is back. */
  tryEnter(): boolean {
    if (this.#exhausted && this.#active > 0) throw this.#exhausted()
    if (this.#active >= this.#limit || this.depth > 0 || this.#isResting()) return false
    this.#active++
    return true
  }

  /** Waits for a place; `leave` must follow. Errors: what interrupts, that of a used-up quota, `CONFIG_INVALID` for a queue that is full. */
  enter(interruption: Interruption, { priority, queueLimit }: { readonly priority?: 'high'; readonly queueLimit: number }): Promise<void> {
    if (this.depth >= queueLimit) return Promise.reject(queueFull(queueLimit))
    return new Promise((resolve, reject) => {
      const line = priority === 'high' ? this.#urgent : this.#queue
      const waiting: Waiting = {
        enter: () => {
          interruption.tell(undefined)
          resolve()
        },
        refuse: (reason) => {
          interruption.tell(undefined)
          reject(reason)
        },
      }
      line.push(waiting)
      interruption.tell((reason) => {
        const place = line.indexOf(waiting)
        if (place >= 0) line.splice(place, 1)
        this.#sleepIfEmpty()
        reject(reason)
      })
      // The rest may have ended, or a place have become free, since this one was turned away.
      this.#admit()
    })
  }

  leave(): void {
    this.#active--
    if (this.depth > 0) this.#admit()
  }

  /** The service has answered well. */
  succeeded(): void {
    this.#exhausted = undefined
    if (this.#limit >= MOST || ++this.#successes < this.#limit) return
    this.#successes = 0
    this.#limit++
    if (this.depth > 0) this.#admit()
  }

  /** The service has had enough, and may have said for how many milliseconds. */
  refused(rest: number): void {
    const now = this.#clock.now()
    this.#successes = 0
    if (now - this.#halvedAt >= WINDOW) {
      this.#halvedAt = now
      this.#limit = Math.max(1, this.#limit >> 1)
    }
    this.#restUntil = Math.max(this.#restUntil, now + rest)
  }

  /** What was paid for is used up: whoever waits hears it, and one request at a time may try whether that is still so. */
  exhaust(reason: () => AuthError): void {
    this.#exhausted = reason
    for (const waiting of [...this.#urgent.splice(0), ...this.#queue.splice(0)]) waiting.refuse(reason())
    this.#sleepIfEmpty()
  }

  #isResting(): boolean {
    return this.#restUntil > this.#clock.now()
  }

  #admit(): void {
    if (this.#isResting()) this.#wakeLater()
    while (this.#active < this.#limit && !this.#isResting()) {
      const next = this.#urgent.shift() ?? this.#queue.shift()
      if (!next) return
      this.#active++
      next.enter()
    }
  }

  /** A timer that nobody waits for would keep the process alive. */
  #sleepIfEmpty(): void {
    if (this.depth > 0) return
    this.#waking?.()
    this.#waking = undefined
  }

  #wakeLater(): void {
    this.#waking ??= startTimer(
      this.#clock,
      this.#restUntil - this.#clock.now(),
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
  return new ConfigurationError('CONFIG_INVALID', `${limit} calls wait for their turn already, which is queueLimit`, {
    hint,
    retryable: true,
  })
}

/** Requests per second, and how many may go at once after a rest (default: as many as per second, at least 1). */
export interface RateLimit {
  readonly requestsPerSecond: number
  readonly burst?: number
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

  /** Takes the next turn, or as many: how many milliseconds until it has come. */
  take(now: number, turns = 1): number {
    if (now > this.#at) {
      const earned = this.#at === Number.NEGATIVE_INFINITY ? 0 : (now - this.#at) * this.#perMillisecond
      this.#tokens = Math.min(this.#burst, this.#tokens + earned)
      this.#at = now
    }
    this.#tokens -= turns
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMillisecond
  }
}

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

  /** Takes the next turn: how many milliseconds until it has come. */
  take(now: number): number {
    if (now > this.#at) {
      const earned = this.#at === Number.NEGATIVE_INFINITY ? 0 : (now - this.#at) * this.#perMillisecond
      this.#tokens = Math.min(this.#burst, this.#tokens + earned)
      this.#at = now
    }
    this.#tokens -= 1
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMillisecond
  }
}

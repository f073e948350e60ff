import { sleep } from '../../net/cancellation.ts'
import type { Clock } from '../../net/clock.ts'
import { RateLimiter } from '../../net/limiter.ts'

/** Bytes per second that one file should have: servers end connections that nobody reads from for long. */
const SHARE = 131_072

/** How many files at a time a limit leaves enough for, at most so many. */
export function filesWithin(bytesPerSecond: number | undefined, most: number): number {
  return bytesPerSecond === undefined ? most : Math.min(most, Math.max(1, Math.floor(bytesPerSecond / SHARE)))
}

/** Lets so many bytes pass in a second, over all files. */
export class Pace {
  readonly #limiter: RateLimiter
  readonly #clock: Clock

  constructor(bytesPerSecond: number, clock: Clock) {
    this.#limiter = new RateLimiter({ requestsPerSecond: bytesPerSecond, burst: 0 })
    this.#clock = clock
  }

  /** Waits until those bytes may have come. Errors: `ABORTED`. */
  async pass(bytes: number, signal: AbortSignal): Promise<void> {
    const wait = this.#limiter.take(this.#clock.now(), bytes)
    if (wait > 0) await sleep(wait, this.#clock, signal)
  }
}

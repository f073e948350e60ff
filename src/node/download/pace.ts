import { sleep } from '../../net/cancellation.ts'
import type { Clock } from '../../net/clock.ts'

/** Bytes per second that one file should have: servers end connections that nobody reads from for long. */
const SHARE = 131_072

/** How many files at a time a limit leaves enough for, at most so many. */
export function filesWithin(bytesPerSecond: number | undefined, most: number): number {
  return bytesPerSecond === undefined ? most : Math.min(most, Math.max(1, Math.floor(bytesPerSecond / SHARE)))
}

/** Lets so many bytes pass in a second, over all files. */
export class Pace {
  readonly #perMillisecond: number
  readonly #clock: Clock
  #from = Number.NEGATIVE_INFINITY

  constructor(bytesPerSecond: number, clock: Clock) {
    this.#perMillisecond = bytesPerSecond / 1000
    this.#clock = clock
  }

  /** Waits until those bytes may have come. Rejects with the signal's reason. */
  async pass(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.now()
    this.#from = Math.max(this.#from, now) + bytes / this.#perMillisecond
    if (this.#from > now) await sleep(this.#from - now, this.#clock, signal)
  }
}

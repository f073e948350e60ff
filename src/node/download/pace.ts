import type { CrawlClock } from '../../crawl/settings.ts'

/** Lets so many bytes pass in a second, over all files. */
export class Pace {
  readonly #perMillisecond: number
  readonly #clock: CrawlClock
  #from = Number.NEGATIVE_INFINITY

  constructor(bytesPerSecond: number, clock: CrawlClock) {
    this.#perMillisecond = bytesPerSecond / 1000
    this.#clock = clock
  }

  /** Waits until those bytes may have come. Rejects with the signal's reason. */
  async pass(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.now()
    this.#from = Math.max(this.#from, now) + bytes / this.#perMillisecond
    if (this.#from > now) await this.#clock.sleep(this.#from - now, signal)
  }
}

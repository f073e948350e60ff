import { sleep } from '../net/cancellation.ts'
import type { Clock } from '../net/clock.ts'
import { type CrawlManners, DEFAULTS } from './settings.ts'

/** What is known about an origin. */
interface Place {
  active: number
  /** How many may be active: fewer after a refusal, one more after enough successes. */
  limit: number
  successes: number
  readonly queue: (() => void)[]
  /** Nothing is asked before that. */
  from: number
}

const SUCCESSES = 20

/** Lets requests to each origin pass a few at a time, no faster than allowed, and none while a server wants rest. */
export class Gate {
  readonly #places = new Map<string, Place>()
  readonly #limit: number
  readonly #spacing: number
  readonly #clock: Clock
  readonly #opened: () => void

  /** @param opened hears that somebody has left, so that somebody else may be let in */
  constructor({ concurrency = DEFAULTS.concurrency, rate }: CrawlManners, clock: Clock, opened: () => void) {
    this.#limit = concurrency
    this.#spacing = rate === undefined ? 0 : 1000 / rate
    this.#clock = clock
    this.#opened = opened
  }

  /** True when a request to that origin would be let in at once. */
  isOpen(origin: string): boolean {
    const place = this.#places.get(origin)
    return !place || (place.active < place.limit && place.queue.length === 0)
  }

  /** Waits for its turn, then for the time, if there is anything to wait for. `leave` must follow, whatever happens. */
  enter(origin: string, signal?: AbortSignal): void | Promise<void> {
    const place = this.#place(origin)
    if (place.active >= place.limit || this.#spacing > 0 || place.from > 0) return this.#admitted(place, signal)
    place.active++
  }

  async #admitted(place: Place, signal: AbortSignal | undefined): Promise<void> {
    if (place.active >= place.limit) await new Promise<void>((resolve) => place.queue.push(resolve))
    else place.active++
    for (let now = this.#clock.now(); place.from > now; now = this.#clock.now()) await sleep(place.from - now, this.#clock, signal)
    if (this.#spacing > 0) place.from = this.#clock.now() + this.#spacing
  }

  leave(origin: string): void {
    const place = this.#place(origin)
    place.active--
    while (place.active < place.limit) {
      const next = place.queue.shift()
      if (!next) break
      place.active++
      next()
    }
    this.#opened()
  }

  /** The server has answered: after enough of that it is asked a little more at a time. */
  succeeded(origin: string): void {
    const place = this.#place(origin)
    if (place.limit >= this.#limit || ++place.successes < SUCCESSES) return
    place.successes = 0
    place.limit++
  }

  /** The server has had enough: half as much at a time, and nothing for so many milliseconds. */
  refused(origin: string, milliseconds: number): void {
    const place = this.#place(origin)
    place.limit = Math.max(1, place.limit >> 1)
    place.successes = 0
    place.from = Math.max(place.from, this.#clock.now() + milliseconds)
  }

  #place(origin: string): Place {
    const known = this.#places.get(origin)
    if (known) return known
    const place = { active: 0, limit: this.#limit, successes: 0, queue: [], from: 0 }
    this.#places.set(origin, place)
    return place
  }
}

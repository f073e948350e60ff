import { sleep } from '../net/cancellation.ts'
import type { Clock } from '../net/clock.ts'
import { type CrawlManners, DEFAULTS } from './settings.ts'

/** The state of one origin. */
interface OriginState {
  active: number
  /** Concurrency limit: halved after a refusal, raised by one after {@link SUCCESSES} successes. */
  limit: number
  successes: number
  readonly queue: (() => void)[]
  /** No request starts before this time. */
  from: number
}

const SUCCESSES = 20

/** Limits concurrency and rate per origin, and holds requests during a `Retry-After`. */
export class OriginLimiter {
  readonly #origins = new Map<string, OriginState>()
  readonly #limit: number
  readonly #spacing: number
  readonly #clock: Clock
  readonly #opened: () => void

  /** @param opened called when a request has finished, so that another one can start */
  constructor({ concurrency = DEFAULTS.concurrency, rate }: CrawlManners, clock: Clock, opened: () => void) {
    this.#limit = concurrency
    this.#spacing = rate === undefined ? 0 : 1000 / rate
    this.#clock = clock
    this.#opened = opened
  }

  /** True when a request to that origin can start at once. */
  hasRoom(origin: string): boolean {
    const state = this.#origins.get(origin)
    return !state || (state.active < state.limit && state.queue.length === 0)
  }

  /** Waits for a free slot, then for the rate limit and `Retry-After`. `leave` must follow in any case. */
  enter(origin: string, signal?: AbortSignal): void | Promise<void> {
    const state = this.#stateOf(origin)
    if (state.active >= state.limit || this.#spacing > 0 || state.from > 0) return this.#admitted(state, signal)
    state.active++
  }

  async #admitted(state: OriginState, signal: AbortSignal | undefined): Promise<void> {
    if (state.active >= state.limit) await new Promise<void>((resolve) => state.queue.push(resolve))
    else state.active++
    for (let now = this.#clock.now(); state.from > now; now = this.#clock.now()) await sleep(state.from - now, this.#clock, signal)
    if (this.#spacing > 0) state.from = this.#clock.now() + this.#spacing
  }

  leave(origin: string): void {
    const state = this.#stateOf(origin)
    state.active--
    while (state.active < state.limit) {
      const next = state.queue.shift()
      if (!next) break
      state.active++
      next()
    }
    this.#opened()
  }

  /** Counts a success; enough of them raise the concurrency limit by one. */
  succeeded(origin: string): void {
    const state = this.#stateOf(origin)
    if (state.limit >= this.#limit || ++state.successes < SUCCESSES) return
    state.successes = 0
    state.limit++
  }

  /** Halves the concurrency limit after a 429 or 503, and holds requests for that many milliseconds. */
  refused(origin: string, milliseconds: number): void {
    const state = this.#stateOf(origin)
    state.limit = Math.max(1, state.limit >> 1)
    state.successes = 0
    state.from = Math.max(state.from, this.#clock.now() + milliseconds)
  }

  #stateOf(origin: string): OriginState {
    const known = this.#origins.get(origin)
    if (known) return known
    const state = { active: 0, limit: this.#limit, successes: 0, queue: [], from: 0 }
    this.#origins.set(origin, state)
    return state
  }
}

/** The fake clock of the tests: its time passes when they say so. */
import type { Clock, TimerKind } from '../../src/net/clock.ts'

interface Timer {
  readonly at: number
  readonly kind: TimerKind
  readonly expire: () => void
}

export interface FakeClockOptions {
  /** The time at first, or what tells it: then waiting does not change it. */
  readonly now?: number | (() => number)
  /** The number that every draw gives. */
  readonly random?: number
  /**
   * How a wait ends: `held` until the test lets time pass; `skipped` at once, and its time has passed; `in turn` once everybody waits, the
   * shortest first, so that hours take no time and always go the same way.
   */
  readonly waits?: 'held' | 'skipped' | 'in turn'
  /** Hears of every wait; a `skipped` one ends after it. */
  readonly onWait?: (milliseconds: number) => unknown
}

export class FakeClock implements Clock {
  /** Milliseconds of every wait, in order. */
  readonly waits: number[] = []
  readonly random: () => number
  readonly #options: FakeClockOptions
  readonly #timers = new Set<Timer>()
  #now: number
  #isTicking = false

  constructor(options: FakeClockOptions = {}) {
    const { now = Date.UTC(2026, 0, 1), random = 0.5 } = options
    this.#options = options
    this.#now = typeof now === 'number' ? now : 0
    this.random = () => random
  }

  now = (): number => (typeof this.#options.now === 'function' ? this.#options.now() : this.#now)

  setTimer = (milliseconds: number, expire: () => void, kind: TimerKind): (() => void) => {
    const timer = { at: this.#now + milliseconds, expire, kind }
    this.#timers.add(timer)
    if (kind === 'wait') void this.#wait(timer, milliseconds)
    return () => {
      this.#timers.delete(timer)
    }
  }

  /** Timers that are set: those that callers wait for, or all. */
  pending(kind?: TimerKind): number {
    return [...this.#timers].filter((timer) => kind === undefined || timer.kind === kind).length
  }

  /** Time passes; what ends within it ends in its order. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.expire()
    }
    this.#now = end
  }

  /** Lets time pass from wait to wait, as long as the promise is open. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let open = true
    const settled = () => {
      open = false
    }
    promise.then(settled, settled)
    while (open) {
      await new Promise((resolve) => setImmediate(resolve))
      const [wait] = this.#waiting()
      if (open && wait) this.advance(wait.at - this.#now)
    }
    return promise
  }

  async #wait(timer: Timer, milliseconds: number): Promise<void> {
    const { waits = 'held', onWait } = this.#options
    this.waits.push(milliseconds)
    if (waits === 'in turn') return this.#tick()
    if (waits === 'skipped') this.#now += milliseconds
    await onWait?.(milliseconds)
    if (waits === 'skipped' && this.#timers.delete(timer)) timer.expire()
  }

  /** Whoever waits shortest goes on first, once nobody has anything left to do. */
  async #tick(): Promise<void> {
    if (this.#isTicking) return
    this.#isTicking = true
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      const [first] = this.#waiting()
      if (!first) break
      this.#timers.delete(first)
      this.#now = Math.max(this.#now, first.at)
      first.expire()
    }
    this.#isTicking = false
  }

  #waiting(): readonly Timer[] {
    return [...this.#timers].filter(({ kind }) => kind === 'wait').sort((one, other) => one.at - other.at)
  }

  #next(end: number): Timer | undefined {
    const due = [...this.#timers].filter(({ at }) => at <= end)
    return due.sort((one, other) => one.at - other.at)[0]
  }
}

/** A clock that goes on only when it is told to. */
import type { ClientClock, TimerKind } from '../../src/clients/clock.ts'

interface Timer {
  readonly at: number
  readonly kind: TimerKind
  readonly expire: () => void
}

export class FakeClock implements ClientClock {
  #now = Date.UTC(2026, 0, 1)
  #random = 0.5
  readonly #timers = new Set<Timer>()
  /** Milliseconds of every wait, in order. */
  readonly waits: number[] = []

  constructor(random = 0.5) {
    this.#random = random
  }

  now = (): number => this.#now

  random = (): number => this.#random

  setTimer = (milliseconds: number, expire: () => void, kind: TimerKind): (() => void) => {
    if (kind === 'wait') this.waits.push(milliseconds)
    const timer = { at: this.#now + milliseconds, expire, kind }
    this.#timers.add(timer)
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
      const [wait] = [...this.#timers].filter(({ kind }) => kind === 'wait').sort((one, other) => one.at - other.at)
      if (open && wait) this.advance(wait.at - this.#now)
    }
    return promise
  }

  #next(end: number): Timer | undefined {
    const due = [...this.#timers].filter(({ at }) => at <= end)
    return due.sort((one, other) => one.at - other.at)[0]
  }
}

/** Time and chance, as a parameter. */
export interface ClientClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** A number from 0 up to, not including, 1. */
  random(): number
  /** Calls the function after so many milliseconds; the result takes that back. */
  setTimer(milliseconds: number, expire: () => void, kind: TimerKind): () => void
}

/** A `guard` only ends what takes too long: it keeps no program alive. A `wait` is what a caller waits for. */
export type TimerKind = 'guard' | 'wait'

/** Longer timers fire at once. */
const MAX_DELAY = 2 ** 31 - 1

/** The clock of the platform. With `unref`, programs may end while a call waits. */
export function systemClock({ unref = false } = {}): ClientClock {
  return {
    now: Date.now,
    random: Math.random,
    setTimer(milliseconds, expire, kind) {
      const timer: unknown = setTimeout(expire, Math.min(milliseconds, MAX_DELAY))
      if (unref || kind === 'guard') (timer as { unref?(): void }).unref?.()
      return () => clearTimeout(timer as number)
    },
  }
}

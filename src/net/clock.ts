/** The clock, passed as a parameter so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /**
   * Calls the function once after that many milliseconds; the result cancels it. Default: a timer of the platform. A `guard` is a timeout and
   * does not keep the process alive. A `wait` does: a caller waits for it.
   */
  setTimer?(milliseconds: number, expire: () => void, kind: 'guard' | 'wait'): () => void
}

/** The purposes of timers. */
export type TimerKind = Parameters<NonNullable<Clock['setTimer']>>[2]

/** Timers with a longer delay fire immediately. */
const LONGEST = 2 ** 31 - 1

/** Returns the clock of the platform. With `unref`, waits do not keep the process alive. */
export function systemClock({ unref = false } = {}): Clock {
  const setTimer: typeof platformTimer = (milliseconds, expire) => platformTimer(milliseconds, expire, 'guard')
  return { now: Date.now, ...(unref && { setTimer }) }
}

const DAY = 24 * 3_600_000

/**
 * Returns how far the clock of a server is ahead of this machine's, in milliseconds, by the `Date` of its response; undefined when it names
 * none, and beyond a day, where the clock must be set.
 *
 * @param date epoch milliseconds, or NaN
 */
export function skewFrom(date: number | undefined, now: number): number | undefined {
  const skew = (date ?? Number.NaN) - now
  return Math.abs(skew) <= DAY ? skew : undefined
}

/** Calls the function once after that many milliseconds of the clock; the result cancels it. */
export function startTimer(clock: Clock | undefined, milliseconds: number, expire: () => void, kind: TimerKind): () => void {
  return clock?.setTimer ? clock.setTimer(milliseconds, expire, kind) : platformTimer(milliseconds, expire, kind)
}

function platformTimer(milliseconds: number, expire: () => void, kind: TimerKind): () => void {
  const timer: unknown = setTimeout(expire, Math.min(milliseconds, LONGEST))
  if (kind === 'guard') (timer as { unref?(): void }).unref?.()
  return () => clearTimeout(timer as number)
}

/** Time, as a parameter: everything that reads it or waits is given a clock, so that tests need no time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls the function once after so many milliseconds; the result cancels that. Default: a timer of the platform. */
  setTimer?(milliseconds: number, expire: () => void, kind: TimerKind): () => void
}

/** A `guard` only ends what takes too long: it keeps no program alive. A `wait` is what a caller waits for. */
export type TimerKind = 'guard' | 'wait'

/** Longer timers fire at once. */
const LONGEST = 2 ** 31 - 1

/** The clock of the platform. With `unref`, programs may end while something waits. */
export function systemClock({ unref = false } = {}): Clock {
  const setTimer: typeof platformTimer = (milliseconds, expire) => platformTimer(milliseconds, expire, 'guard')
  return { now: Date.now, ...(unref && { setTimer }) }
}

/** Calls the function once after so many milliseconds by that clock; the result cancels that. */
export function startTimer(clock: Clock | undefined, milliseconds: number, expire: () => void, kind: TimerKind): () => void {
  return clock?.setTimer ? clock.setTimer(milliseconds, expire, kind) : platformTimer(milliseconds, expire, kind)
}

function platformTimer(milliseconds: number, expire: () => void, kind: TimerKind): () => void {
  const timer: unknown = setTimeout(expire, Math.min(milliseconds, LONGEST))
  if (kind === 'guard') (timer as { unref?(): void }).unref?.()
  return () => clearTimeout(timer as number)
}

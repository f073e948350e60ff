/** Time of a service: any object with these two will do. */
export interface ServiceClock {
  /** Milliseconds since 1970. */
  now(): number
  advance(milliseconds: number): void
}

/** A clock that stands still until it is told to go on. */
export function manualClock(start = Date.parse('2026-06-01T12:00:00Z')): ServiceClock {
  let now = start
  return {
    now: () => now,
    advance(milliseconds) {
      now += milliseconds
    },
  }
}

/** A clock that goes on by itself and can be pushed. */
export function runningClock(): ServiceClock {
  let ahead = 0
  return {
    now: () => Date.now() + ahead,
    advance(milliseconds) {
      ahead += milliseconds
    },
  }
}

import type { ServiceClock } from './manual-clock.ts'

/** What one credential may do before it is answered 429. */
export interface RateLimit {
  /** Requests at the same time. */
  readonly concurrent?: number
  /** Requests in one second of the clock. */
  readonly perSecond?: number
  /** Value of the Retry-After field. */
  readonly retryAfter?: string
}

/** Counts the requests of each credential. */
export interface RateLimiter {
  /** True when this request, counted among those in flight, is one too many. */
  exceeded(credential: string, inFlight: number): boolean
}

/** A window of one second that begins with the first request in it. */
export function createRateLimiter({ concurrent, perSecond }: RateLimit, clock: ServiceClock): RateLimiter {
  const windows = new Map<string, { start: number; count: number }>()
  return {
    exceeded(credential, inFlight) {
      if (concurrent !== undefined && inFlight > concurrent) return true
      if (perSecond === undefined) return false
      const now = clock.now()
      const window = windows.get(credential)
      if (!window || now - window.start >= 1000) {
        windows.set(credential, { start: now, count: 1 })
        return perSecond < 1
      }
      return ++window.count > perSecond
    },
  }
}

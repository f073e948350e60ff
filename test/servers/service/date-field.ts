import type { ServiceClock } from './manual-clock.ts'

/** The Date field of a service by its own clock; written anew once a second only. */
export function createDateField(clock: ServiceClock): () => string {
  let second = Number.NaN
  let text = ''
  return () => {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) {
      second = now
      text = new Date(now * 1000).toUTCString()
    }
    return text
  }
}

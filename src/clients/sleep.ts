import type { ClientClock } from './clock.ts'
import type { Interruption } from './interruption.ts'

/** Waits so many milliseconds, or until the call is interrupted, which is what it rejects with; leaves no timer behind. */
export function sleep(milliseconds: number, clock: ClientClock, interruption: Interruption): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = clock.setTimer(
      milliseconds,
      () => {
        interruption.tell(undefined)
        resolve()
      },
      'wait',
    )
    interruption.tell((reason) => {
      stop()
      reject(reason)
    })
  })
}

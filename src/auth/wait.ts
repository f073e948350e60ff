import { AbortedError } from '../errors.ts'
import type { AuthContext } from './strategy.ts'

/** Lets that many milliseconds pass by the clock of the engine. Errors: `ABORTED`. */
export async function wait(duration: number, { clock, signal }: Pick<AuthContext, 'clock' | 'signal'>): Promise<void> {
  if (clock.wait) return clock.wait(duration, signal)
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(new AbortedError(signal?.reason))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, duration)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}

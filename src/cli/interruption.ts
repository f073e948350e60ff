import { AbortedError } from '../errors.ts'

/**
 * Waits for a promise; after an interruption for at most `grace` milliseconds more. Errors: those of the promise, `ABORTED`.
 */
export function untilInterrupted<T>(running: Promise<T>, signal: AbortSignal, grace = 0): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => setTimeout(() => reject(new AbortedError(signal.reason)), grace)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    running.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

import { AbortedError } from '../errors.ts'

/**
 * The outcome of what runs, for as long as nobody interrupts. After that it has `grace` milliseconds to end by itself and is
 * then left behind. Errors: its own, `ABORTED`.
 */
export function untilInterrupted<T>(running: Promise<T>, signal: AbortSignal, grace = 0): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => setTimeout(() => reject(new AbortedError(signal.reason)), grace)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    running.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

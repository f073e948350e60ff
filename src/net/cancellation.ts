/** Abort signals, waits that they end, and timeouts. */
import { type AuthError, abortedBy } from '../errors.ts'
import { type Clock, startTimer } from './clock.ts'

class Listeners extends Set<() => void> {
  handleEvent(): void {
    for (const aborted of [...this]) aborted()
  }
}

/** One listener per signal for all callers: from the eleventh on, Node warns of a leak. */
const listening = new WeakMap<AbortSignal, Listeners>()

/** Calls the function when the signal, which has not aborted yet, aborts. Returns a function that removes the listener. */
export function onAbort(signal: AbortSignal, aborted: () => void): () => void {
  const all = listening.get(signal) ?? new Listeners()
  listening.set(signal, all)
  if (all.size === 0) signal.addEventListener('abort', all, { once: true })
  all.add(aborted)
  return () => {
    if (all.delete(aborted) && all.size === 0) signal.removeEventListener('abort', all)
  }
}

/** Throws if the signal has aborted. Errors: `ABORTED`, or the error that the signal aborts with. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal)
}

/** Resolves after that many milliseconds of the clock. Leaves no timer and no listener. Errors: as {@link throwIfAborted}. */
export function sleep(milliseconds: number, clock: Clock, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortedBy(signal))
    const wake = () => {
      forget?.()
      resolve()
    }
    const stop = startTimer(clock, milliseconds, wake, 'wait')
    const abort = () => {
      stop()
      reject(abortedBy(signal as AbortSignal))
    }
    const forget = signal && onAbort(signal, abort)
  })
}

/** Returns the value of the promise unless the signal aborts first. Errors: those of the promise; as {@link throwIfAborted}. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortedBy(signal))
    const forget = onAbort(signal, () => reject(abortedBy(signal)))
    promise.then(resolve, reject).finally(forget)
  })
}

/** A signal with a timeout. */
export interface TimedSignal {
  readonly signal: AbortSignal
  /** Stops the timer and removes the listener; to be called after the work. */
  clear(): void
}

/** Returns a signal that aborts with the caller's, and after that many milliseconds with the error that `late` returns. */
export function withTimeout(signal: AbortSignal | undefined, milliseconds: number, late: () => AuthError): TimedSignal {
  const controller = new AbortController()
  const stop = startTimer(undefined, milliseconds, () => controller.abort(late()), 'guard')
  const abort = () => controller.abort(signal?.reason)
  const forget = signal?.aborted ? abort() : signal && onAbort(signal, abort)
  return {
    signal: controller.signal,
    clear: () => {
      stop()
      forget?.()
    },
  }
}

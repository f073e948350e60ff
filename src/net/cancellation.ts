/** How work ends early: signals, what waits for them, and time limits. */
import { type AuthError, abortedBy } from '../errors.ts'
import { type Clock, startTimer } from './clock.ts'

class Listeners extends Set<() => void> {
  handleEvent(): void {
    for (const aborted of [...this]) aborted()
  }
}

/** Node warns of a leak from the eleventh listener of a signal on, so there is one for all that wait for it. */
const listening = new WeakMap<AbortSignal, Listeners>()

/** Calls the function when the signal aborts, which has not happened yet; the result takes that back and leaves nothing on the signal. */
export function onAbort(signal: AbortSignal, aborted: () => void): () => void {
  const all = listening.get(signal) ?? new Listeners()
  listening.set(signal, all)
  if (all.size === 0) signal.addEventListener('abort', all, { once: true })
  all.add(aborted)
  return () => {
    if (all.delete(aborted) && all.size === 0) signal.removeEventListener('abort', all)
  }
}

/** Throws when the signal has aborted already. Errors: `ABORTED`, or the error that the signal aborts with. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal)
}

/** Resolves after so many milliseconds by that clock; leaves no timer and no listener behind. Errors: as of {@link throwIfAborted}. */
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

/** What the promise gives, unless the signal aborts first. Errors: those of the promise; as {@link throwIfAborted}. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortedBy(signal))
    const forget = onAbort(signal, () => reject(abortedBy(signal)))
    promise.then(resolve, reject).finally(forget)
  })
}

/** A signal with a time limit. */
export interface TimedSignal {
  readonly signal: AbortSignal
  /** To be called when the work is over: ends the timer, and listens no more. */
  clear(): void
}

/** A signal that aborts with the caller's own, and after so many milliseconds with the error that `late` makes. */
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

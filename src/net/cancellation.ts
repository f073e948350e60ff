/** Abort signals, waits that they end, and timeouts. */
import { AbortedError, type AuthError, abortedBy } from '../errors.ts'
import { type Clock, startTimer } from './clock.ts'

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

/**
 * Returns the value of the promise unless the signal aborts first; a later failure of the promise is ignored. Errors: those of the
 * promise; as {@link throwIfAborted}.
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(abortedBy(signal))
    let forget: (() => void) | undefined
    // Before the listener is added, which fails for an invalid signal: a failure of the promise is always handled.
    promise.then(resolve, reject).finally(() => forget?.())
    forget = onAbort(signal, abort)
    if (signal.aborted) abort()
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

/** The end of an exchange: by its caller, or by the time allowed for all of it. */
export interface ExchangeEnd extends Partial<Pick<TimedSignal, 'signal'>>, Pick<TimedSignal, 'clear'> {}

/** Returns the caller's signal; with a timeout, a signal that also aborts after it with the error that `late` returns. */
export function exchangeEnd(
  { signal, timeout }: { readonly signal?: AbortSignal | undefined; readonly timeout?: number | undefined },
  late: (timeout: number) => AuthError,
): ExchangeEnd {
  if (timeout === undefined) return { ...(signal && { signal }), clear: () => {} }
  return withTimeout(signal, timeout, () => late(timeout))
}

/** The interruption of a call by its caller or its deadline. One phase of the call listens at a time. */
export class Interruption {
  /** The reason, once the call is interrupted. */
  reason: AuthError | undefined
  #heard: ((reason: AuthError) => void) | undefined
  #forget: (() => void) | undefined
  #controller: AbortController | undefined

  /** A caller's reason is always wrapped, because it must not be modified. */
  constructor(caller: AbortSignal | undefined) {
    if (!caller) return
    if (caller.aborted) this.reason = new AbortedError(caller.reason)
    else this.#forget = onAbort(caller, () => this.interrupt(new AbortedError(caller.reason)))
  }

  /** Interrupts the call. Only the first reason counts. */
  interrupt(reason: AuthError): void {
    if (this.reason) return
    this.reason = reason
    this.#controller?.abort(reason)
    this.#heard?.(reason)
  }

  /** Replaces the listener; calls it immediately if the call is already interrupted. */
  tell(heard: ((reason: AuthError) => void) | undefined): void {
    this.#heard = heard
    if (heard && this.reason) heard(this.reason)
  }

  /** The interruption as a signal. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.reason) this.#controller.abort(this.reason)
    return this.#controller.signal
  }

  /** Removes all listeners after the call. */
  close(): void {
    this.#heard = undefined
    this.#forget?.()
    this.#forget = undefined
  }
}

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

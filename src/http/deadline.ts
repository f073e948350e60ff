import { type AuthError, abortedBy, TimeoutError } from '../errors.ts'
import type { SendOptions } from './message.ts'
import { networkError, originOf } from './network-error.ts'

/** The end of one exchange: by its caller, or by the time allowed for all of it. */
export interface Deadline {
  readonly signal?: AbortSignal
  /** To be called when the exchange is over. */
  clear(): void
}

/** Longer timers fire at once. */
const MAX_DELAY = 2 ** 31 - 1

/** The caller's own signal, or one that also aborts with `TIMEOUT_TOTAL` after `timeout` milliseconds. */
export function deadline({ signal, timeout }: SendOptions, url: string): Deadline {
  if (timeout === undefined) return signal ? { signal, clear } : NONE
  const late = () =>
    new TimeoutError('TIMEOUT_TOTAL', `${originOf(url)}: the exchange took longer than ${timeout} ms`, { url, retryable: true })
  return expiring(signal, timeout, late)
}

/** A signal that aborts with the caller's own, and after `timeout` milliseconds with the error that `late` makes. */
export function expiring(signal: AbortSignal | undefined, timeout: number, late: () => AuthError): Required<Deadline> {
  const controller = new AbortController()
  const expire = () => controller.abort(late())
  const abort = () => controller.abort(signal?.reason)
  const timer: unknown = setTimeout(expire, Math.min(timeout, MAX_DELAY))
  ;(timer as { unref?(): void }).unref?.()
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer as number)
      signal?.removeEventListener('abort', abort)
    },
  }
}

/** Throws `ABORTED` when the caller has aborted already. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal)
}

/** What ended the exchange: the caller, the clock or the network. */
export function failure(error: unknown, signal: AbortSignal | undefined, url: string): AuthError {
  return signal?.aborted ? abortedBy(signal) : networkError(error, url)
}

function clear(): void {}

const NONE: Deadline = { clear }

import { AbortedError, type AuthError, isAuthError, TimeoutError } from '../errors.ts'
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
  const controller = new AbortController()
  const expire = () => {
    const message = `${originOf(url)}: the exchange took longer than ${timeout} ms`
    controller.abort(new TimeoutError('TIMEOUT_TOTAL', message, { url, retryable: true }))
  }
  const abort = () => controller.abort(signal?.reason)
  const timer: unknown = setTimeout(expire, Math.min(timeout, MAX_DELAY))
  ;(timer as { unref?(): void }).unref?.()
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
  if (signal?.aborted) throw abortion(signal)
}

/** What ended the exchange: the caller, the clock or the network. */
export function failure(error: unknown, signal: AbortSignal | undefined, url: string): AuthError {
  return signal?.aborted ? abortion(signal) : networkError(error, url)
}

function abortion({ reason }: AbortSignal): AuthError {
  return isAuthError(reason) ? reason : new AbortedError(reason)
}

function clear(): void {}

const NONE: Deadline = { clear }

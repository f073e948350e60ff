import { type AuthError, abortedBy } from '../errors.ts'
import { offAbort, onAbort } from './shared-abort.ts'

/** What may end a call from outside: its caller or its deadline. One phase of the call hears of it at a time. */
export class Interruption {
  /** Why, once it has happened. */
  reason: AuthError | undefined
  readonly #caller: AbortSignal | undefined
  #heard: ((reason: AuthError) => void) | undefined
  #controller: AbortController | undefined

  constructor(caller: AbortSignal | undefined) {
    this.#caller = caller
    if (!caller) return
    if (caller.aborted) this.reason = abortedBy(caller)
    else onAbort(caller, this.#aborted)
  }

  /** Ends the call; what comes after the first reason changes nothing. */
  interrupt(reason: AuthError): void {
    if (this.reason) return
    this.reason = reason
    this.#controller?.abort(reason)
    this.#heard?.(reason)
  }

  /** From now on that function hears of it, once; at once when it has happened already. */
  tell(heard: ((reason: AuthError) => void) | undefined): void {
    this.#heard = heard
    if (heard && this.reason) heard(this.reason)
  }

  /** For what wants a signal. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.reason) this.#controller.abort(this.reason)
    return this.#controller.signal
  }

  /** The call is over: nothing is heard any more. */
  close(): void {
    this.#heard = undefined
    if (this.#caller) offAbort(this.#caller, this.#aborted)
  }

  readonly #aborted = (): void => {
    if (this.#caller) this.interrupt(abortedBy(this.#caller))
  }
}

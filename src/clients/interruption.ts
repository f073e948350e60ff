import { AbortedError, type AuthError } from '../errors.ts'
import { offAbort, onAbort } from './shared-abort.ts'

/** What may end a call from outside: its caller or its deadline. One phase of the call hears of it at a time. */
export class Interruption {
  /** Why, once it has happened. */
  reason: AuthError | undefined
  readonly #caller: AbortSignal | undefined
  #heard: ((reason: AuthError) => void) | undefined
  readonly #why: (signal: AbortSignal) => AuthError
  #controller: AbortController | undefined

  /** @param why what its abort means; a caller's reason is always wrapped, because nothing may be added to it */
  constructor(caller: AbortSignal | undefined, why = ({ reason }: AbortSignal): AuthError => new AbortedError(reason)) {
    this.#caller = caller
    this.#why = why
    if (!caller) return
    if (caller.aborted) this.reason = why(caller)
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
    if (this.#caller) this.interrupt(this.#why(this.#caller))
  }
}

import { exchangeTimeout } from '../http/network-error.ts'
import { startTimer } from '../net/clock.ts'

/** A signal that is somebody's until it is given back. */
export interface LentSignal {
  readonly signal: AbortSignal
  /** To be called when all of the answer is there, so that another exchange may have the signal. */
  giveBack(): void
  /** To be called after a failure instead: whatever still listens hears nothing of later exchanges. */
  forget(): void
}

/**
 * Signals that end exchanges: with `TIMEOUT_TOTAL` after so many milliseconds, or with the reason of the signal above. Each serves
 * one exchange after the other, for a new one costs as much as reading a document.
 */
export class LentSignals {
  readonly #timeout: number
  readonly #above: AbortSignal
  readonly #free: Lent[] = []
  readonly #lent = new Set<Lent>()

  constructor(timeout: number, above: AbortSignal) {
    this.#timeout = timeout
    this.#above = above
    above.addEventListener('abort', () => this.#end(), { once: true })
  }

  lend(url: string): LentSignal {
    const lent = this.#free.pop() ?? new Lent(this.#timeout, (own, isFree) => this.#returned(own, isFree))
    this.#lent.add(lent)
    lent.begin(url)
    if (this.#above.aborted) this.#end()
    return lent
  }

  #returned(lent: Lent, isFree: boolean): void {
    this.#lent.delete(lent)
    if (isFree) this.#free.push(lent)
  }

  #end(): void {
    for (const lent of this.#lent) lent.abort(this.#above.reason)
    for (const free of this.#free) free.rest()
  }
}

class Lent implements LentSignal {
  readonly #controller = new AbortController()
  readonly signal = this.#controller.signal
  readonly #timeout: number
  readonly #returned: (lent: Lent, isFree: boolean) => void
  /** Runs on from one exchange into the next, for setting one for each would cost more than looking at the clock. */
  #stop: (() => void) | undefined
  /** When the exchange is late; undefined while there is none. */
  #end: number | undefined
  #url = ''

  constructor(timeout: number, returned: (lent: Lent, isFree: boolean) => void) {
    this.#timeout = timeout
    this.#returned = returned
  }

  begin(url: string): void {
    this.#url = url
    this.#end = performance.now() + this.#timeout
    if (this.#stop === undefined) this.#wait(this.#timeout)
  }

  /** No exchange will follow. */
  rest(): void {
    this.#stop?.()
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  giveBack(): void {
    this.#end = undefined
    if (this.signal.aborted) this.forget()
    else this.#returned(this, true)
  }

  forget(): void {
    this.rest()
    this.#returned(this, false)
  }

  #wait(milliseconds: number): void {
    this.#stop = startTimer(undefined, milliseconds, this.#look, 'guard')
  }

  readonly #look = () => {
    this.#stop = undefined
    if (this.#end === undefined) return
    const left = this.#end - performance.now()
    if (left > 0) this.#wait(left)
    else this.#late()
  }

  #late(): void {
    this.abort(exchangeTimeout(this.#url, this.#timeout))
  }
}

import { exchangeTimeout } from '../http/network-error.ts'
import { startTimer } from '../net/clock.ts'

/** A signal that belongs to one exchange until it is released. */
export interface PooledSignal {
  readonly signal: AbortSignal
  /** Releases the signal for reuse, after the whole response was read. */
  release(): void
  /** Discards the signal after a failure, so that remaining listeners do not see later exchanges. */
  discard(): void
}

/**
 * Signals that abort exchanges: with `TIMEOUT_TOTAL` after the timeout in milliseconds, or with the reason of the parent signal. They are
 * reused, because a new signal costs as much as reading a document.
 */
export class SignalPool {
  readonly #timeout: number
  readonly #above: AbortSignal
  readonly #free: TimedSignal[] = []
  readonly #used = new Set<TimedSignal>()

  constructor(timeout: number, above: AbortSignal) {
    this.#timeout = timeout
    this.#above = above
    above.addEventListener('abort', () => this.#end(), { once: true })
  }

  acquire(url: string): PooledSignal {
    const signal = this.#free.pop() ?? new TimedSignal(this.#timeout, (own, isFree) => this.#returned(own, isFree))
    this.#used.add(signal)
    signal.begin(url)
    if (this.#above.aborted) this.#end()
    return signal
  }

  #returned(signal: TimedSignal, isFree: boolean): void {
    this.#used.delete(signal)
    if (isFree) this.#free.push(signal)
  }

  #end(): void {
    for (const signal of this.#used) signal.abort(this.#above.reason)
    for (const free of this.#free) free.rest()
  }
}

class TimedSignal implements PooledSignal {
  readonly #controller = new AbortController()
  readonly signal = this.#controller.signal
  readonly #timeout: number
  readonly #returned: (signal: TimedSignal, isFree: boolean) => void
  /** Stops the timer, which runs across exchanges: a timer for each one would cost more than reading the clock. */
  #stop: (() => void) | undefined
  /** When the exchange times out; undefined between exchanges. */
  #end: number | undefined
  #url = ''

  constructor(timeout: number, returned: (signal: TimedSignal, isFree: boolean) => void) {
    this.#timeout = timeout
    this.#returned = returned
  }

  begin(url: string): void {
    this.#url = url
    this.#end = performance.now() + this.#timeout
    if (this.#stop === undefined) this.#wait(this.#timeout)
  }

  /** Stops the timer: no exchange follows. */
  rest(): void {
    this.#stop?.()
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  release(): void {
    this.#end = undefined
    if (this.signal.aborted) this.discard()
    else this.#returned(this, true)
  }

  discard(): void {
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

import { type AuthError, TimeoutError } from '../errors.ts'
import type { ClientClock } from './clock.ts'
import type { Interruption } from './interruption.ts'
import type { Alarm, TimerWheel } from './timer-wheel.ts'

/** Ends a phase of a call that takes too long: the whole call at its deadline, an attempt at its own end if that comes first. */
export class Watch implements Alarm {
  /** Epoch milliseconds; Infinity for none. */
  readonly deadline: number
  readonly #clock: ClientClock
  readonly #wheel: TimerWheel
  readonly #interruption: Interruption
  readonly #url: string
  #place = 0
  #isSet = false
  #expired: (() => void) | undefined

  constructor(deadline: number, clock: ClientClock, wheel: TimerWheel, interruption: Interruption, url: string) {
    this.deadline = deadline
    this.#clock = clock
    this.#wheel = wheel
    this.#interruption = interruption
    this.#url = url
  }

  /** From now on; `expired` is called after `timeout` milliseconds unless the deadline comes first. */
  start(timeout = Number.POSITIVE_INFINITY, expired?: () => void): void {
    this.stop()
    const end = Math.min(this.deadline, this.#clock.now() + timeout)
    if (end === Number.POSITIVE_INFINITY) return
    this.#expired = end < this.deadline ? expired : undefined
    this.#place = this.#wheel.add(end, this)
    this.#isSet = true
  }

  stop(): void {
    if (!this.#isSet) return
    this.#isSet = false
    this.#wheel.delete(this.#place, this)
  }

  expire(): void {
    this.#isSet = false
    const expired = this.#expired
    if (!expired) {
      this.#interruption.interrupt(this.tooLate())
      return
    }
    // Whatever the attempt makes of its end, the call still has its own.
    this.start()
    expired()
  }

  /** `TIMEOUT_TOTAL`, with what went wrong last. */
  tooLate(cause?: AuthError): TimeoutError {
    const message = `${this.#url}: the call took longer than it may, all attempts and waits together`
    return new TimeoutError('TIMEOUT_TOTAL', message, { url: this.#url, retryable: true, ...(cause && { cause }) })
  }
}

/** The end of a call from outside: by its caller, or by the time that it may take. */
import { AbortedError, type AuthError, TimeoutError } from '../errors.ts'
import { onAbort } from './cancellation.ts'
import { type Clock, startTimer } from './clock.ts'

/** What may end a call from outside: its caller or its deadline. One phase of the call hears of it at a time. */
export class Interruption {
  /** Why, once it has happened. */
  reason: AuthError | undefined
  #heard: ((reason: AuthError) => void) | undefined
  #forget: (() => void) | undefined
  #controller: AbortController | undefined

  /** @param why what its abort means; a caller's reason is always wrapped, because nothing may be added to it */
  constructor(caller: AbortSignal | undefined, why = ({ reason }: AbortSignal): AuthError => new AbortedError(reason)) {
    if (!caller) return
    if (caller.aborted) this.reason = why(caller)
    else this.#forget = onAbort(caller, () => this.interrupt(why(caller)))
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
    this.#forget?.()
    this.#forget = undefined
  }
}

/** Ends a phase of a call that takes too long: the whole call at its deadline, an attempt at its own end if that comes first. */
export class Deadline implements Alarm {
  /** Epoch milliseconds; Infinity for none. */
  readonly end: number
  readonly #clock: Clock
  readonly #wheel: TimerWheel
  readonly #interruption: Interruption
  readonly #url: string
  #place = 0
  #isSet = false
  #expired: (() => void) | undefined

  constructor(end: number, clock: Clock, wheel: TimerWheel, interruption: Interruption, url: string) {
    this.end = end
    this.#clock = clock
    this.#wheel = wheel
    this.#interruption = interruption
    this.#url = url
  }

  /** From now on; `expired` is called after `timeout` milliseconds unless the deadline comes first. */
  start(timeout = Number.POSITIVE_INFINITY, expired?: () => void): void {
    this.stop()
    const end = Math.min(this.end, this.#clock.now() + timeout)
    if (end === Number.POSITIVE_INFINITY) return
    this.#expired = end < this.end ? expired : undefined
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

/** Something that ends at a time. */
export interface Alarm {
  expire(): void
}

/** How exact the ends are, in milliseconds: all within one step share a place. */
const STEP = 50

/**
 * The ends of many calls behind one timer: setting and taking back one is a credential in a set. The timer is left alone when an end is
 * taken back; it fires, finds nothing and is not set again.
 */
export class TimerWheel {
  readonly #clock: Clock
  readonly #places = new Map<number, Set<Alarm>>()
  #next = Number.POSITIVE_INFINITY
  #stop: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many alarms are set. */
  get size(): number {
    let size = 0
    for (const place of this.#places.values()) size += place.size
    return size
  }

  /** Sets an alarm for that time, never early. The result is its place, for `delete`. */
  add(at: number, alarm: Alarm): number {
    const place = Math.ceil(at / STEP)
    const alarms = this.#places.get(place)
    if (alarms) alarms.add(alarm)
    else this.#places.set(place, new Set([alarm]))
    if (place < this.#next) this.#arm(place)
    return place
  }

  delete(place: number, alarm: Alarm): void {
    const alarms = this.#places.get(place)
    if (!alarms?.delete(alarm) || alarms.size > 0) return
    this.#places.delete(place)
  }

  #arm(place: number): void {
    this.#stop?.()
    this.#next = place
    this.#stop = startTimer(this.#clock, Math.max(0, place * STEP - this.#clock.now()), () => this.#fire(), 'guard')
  }

  #fire(): void {
    this.#stop = undefined
    this.#next = Number.POSITIVE_INFINITY
    const now = this.#clock.now()
    let next = Number.POSITIVE_INFINITY
    for (const [place, alarms] of this.#places) {
      if (place * STEP > now) {
        next = Math.min(next, place)
        continue
      }
      this.#places.delete(place)
      for (const alarm of alarms) alarm.expire()
    }
    if (next < this.#next) this.#arm(next)
  }
}

/** The pace of requests to a service, shared by all calls: how many run at once, and how many start per second. */

import { type AuthError, abortedBy, ConfigurationError } from '../errors.ts'
import { onAbort, throwIfAborted } from './cancellation.ts'
import { type Clock, startTimer } from './clock.ts'

/** Where a pacer starts, and what it never exceeds. */
export interface PacerPolicy {
  /** Concurrent requests: at first, and at most. Default 8 and 64. */
  readonly concurrency?: { readonly initial: number; readonly max: number }
  /** Successes that raise the concurrency by one; default: as many as it is. */
  readonly successes?: number
  /** Requests per second, which are never exceeded. */
  readonly rate?: number | undefined
  /** Requests per second at first, which double every second. Without it the rate is unlimited until the service refuses requests. */
  readonly startRate?: number
  /** Requests that may start at once after an idle time, until the service refuses some; default: one second of `rate`, at least 1. */
  readonly burst?: number | undefined
  /** False: refusals lower the concurrency only. */
  readonly adaptsRate?: false
}

/** A request that waits. `again`: it was refused and starts before all others; `high`: before the others that are new. */
interface Place {
  readonly priority?: 'again' | 'high' | undefined
  /** Maximum number of requests that wait; default: no limit. */
  readonly queueLimit?: number
}

interface Waiting {
  enter(): void
  refuse(reason: AuthError): void
}

/** Milliseconds within which refusals count as one: requests that ran together are refused together. */
const TOGETHER = 1000

/** Milliseconds within which a second refusal shows a limit of the rate. */
const RELATED = 10_000

/** A refusal lowers the rate to this part of what was accepted in the second before. */
const BELOW = 0.9

/** The lowest rate that is learnt, in requests per second. */
const SLOWEST = 0.5

/**
 * A lowered rate grows with the cube of time (as RFC 9438 §4.2 does), so that few requests are refused and a limit that was raised is found
 * soon. It is the former rate again after `perAccepted` seconds for each request that was accepted before the first refusal, because a rate
 * that few requests show may be too low, and at most `first`; after later refusals in `later` seconds, and not before `accepted` requests.
 * `most` doubles it every second, until the limit is found.
 */
const GROWTH = { perAccepted: 0.5, first: 10, later: 25, accepted: 50, most: Math.LN2 }

/** Timers that are late are compensated by the requests of up to this many milliseconds. */
const CATCH_UP = 50

/** Milliseconds of the random part of a pause without `Retry-After`: from `least` up to three times the last one (decorrelated jitter). */
const PAUSE = { least: 100, most: 20_000 }

/**
 * Paces the requests to one service (additive increase, multiplicative decrease). A refusal pauses all requests and halves the concurrency; a
 * second one also lowers the rate to what the service accepts. Successes raise both again.
 */
export class Pacer {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #policy: PacerPolicy
  readonly #lines = { again: new Set<Waiting>(), high: new Set<Waiting>(), none: new Set<Waiting>() }
  #active = 0
  #limit: number
  #successes = 0
  #rate: number
  /** Seconds until the rate is the former one; 0 until a refusal shows how high it may be. */
  #regain = 0
  /** When the next request may start at this rate. */
  #next = Number.NEGATIVE_INFINITY
  /** True if the rate alone delays requests. */
  #isHeldBack = false
  /** When requests were accepted, at least those of the last second. */
  #accepted: number[] = []
  #refusedAt = Number.NEGATIVE_INFINITY
  /** The refusals that count as one: how many ran at the first, how many were refused, and whether they lowered the rate, or showed one. */
  #refusals = { running: 0, count: 0, areOfRate: false, areFirst: false }
  /** Consecutive successes, and the highest concurrency at which all requests succeeded. */
  #streak = 0
  #proven = 0
  #pausedUntil = Number.NEGATIVE_INFINITY
  /** Milliseconds of the last random pause; 0 after a success. */
  #lastPause = 0
  /** The time at which the last timer was due. */
  #reached = Number.NEGATIVE_INFINITY
  #waking: (() => void) | undefined
  #exhausted: (() => AuthError) | undefined

  /** @param random returns numbers from 0 up to, not including, 1 */
  constructor(clock: Clock, random: () => number, policy: PacerPolicy = {}) {
    this.#clock = clock
    this.#random = random
    this.#policy = policy
    this.#limit = policy.concurrency?.initial ?? 8
    this.#rate = policy.startRate ?? policy.rate ?? Number.POSITIVE_INFINITY
  }

  /** Maximum number of concurrent requests at present. */
  get limit(): number {
    return this.#limit
  }

  /** Number of requests that wait. */
  get depth(): number {
    const { again, high, none } = this.#lines
    return again.size + high.size + none.size
  }

  /** Number of requests that run. */
  get active(): number {
    return this.#active
  }

  /** Milliseconds until the pause ends; 0 without a pause. */
  get pause(): number {
    return Math.max(0, this.#pausedUntil - this.#now())
  }

  /** Starts a request if none has to wait; `leave` must follow then. Errors: that of a used-up quota, while another request checks it. */
  tryEnter(): boolean {
    if (this.#exhausted && this.#active > 0) throw this.#exhausted()
    if (this.#active >= this.#limit || this.depth > 0 || this.#wait() > 0) return false
    this.#start()
    return true
  }

  /** Waits until a request may start; `leave` must follow. Errors: `ABORTED`, that of a used-up quota, `CONFIG_INVALID` for a full queue. */
  enter(signal: AbortSignal | undefined, { priority, queueLimit = Number.POSITIVE_INFINITY }: Place = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      throwIfAborted(signal)
      if (priority !== 'again' && this.depth >= queueLimit) throw queueFull(queueLimit)
      const line = this.#lines[priority ?? 'none']
      const done = (settle: () => void) => {
        line.delete(waiting)
        forget?.()
        settle()
      }
      const waiting: Waiting = { enter: () => done(resolve), refuse: (reason) => done(() => reject(reason)) }
      const aborted = () => {
        waiting.refuse(abortedBy(signal as AbortSignal))
        this.#sleepIfEmpty()
      }
      const forget = signal && onAbort(signal, aborted)
      line.add(waiting)
      this.#admit()
    })
  }

  leave(): void {
    this.#active--
    this.#admit()
  }

  /** Counts a success. */
  succeeded(): void {
    const { adaptsRate, rate: most = Number.POSITIVE_INFINITY, successes = this.#limit, concurrency = { max: 64 } } = this.#policy
    this.#exhausted = undefined
    this.#lastPause = 0
    if (++this.#streak >= this.#active) this.#proven = Math.max(this.#proven, this.#active)
    const now = this.#now()
    if (adaptsRate !== false) {
      this.#accepted.push(now)
      if (this.#accepted.length > 10_000) this.#forget(now)
    }
    if (now < this.#pausedUntil) {
      // It was accepted before the refusals.
      if (this.#refusals.areFirst) this.#rate += BELOW
    } else if (this.#isHeldBack) {
      this.#rate = Math.min(most, this.#rate + this.#growth(now))
    }
    // A second without growth shows whether the lower concurrency is accepted, or the rate is the limit.
    const isProbing = adaptsRate !== false && now < Math.max(this.#pausedUntil, this.#refusedAt) + 1000
    if (isProbing || this.#limit >= concurrency.max || ++this.#successes < successes) return
    this.#successes = 0
    this.#limit++
    this.#admit()
  }

  /** Counts a refusal, and starts no request for that many milliseconds, by default for a random time. Called before `leave`. */
  refused(pause?: number): void {
    const now = this.#now()
    this.#streak = 0
    this.#forget(now)
    const since = now - this.#refusedAt
    if (since >= TOGETHER) this.#halve(now)
    const refusals = this.#refusals
    // Fewer at once than succeeded before: the limit is not the concurrency.
    const isShown = refusals.running - ++refusals.count < this.#proven || this.#rate < Number.POSITIVE_INFINITY
    if (!refusals.areOfRate && (isShown || (since >= TOGETHER && since < RELATED))) this.#lowerRate(isShown)
    // Requests that ran together are refused together: one random pause is for all of them.
    const length = pause ?? (now < this.#pausedUntil ? 0 : this.#randomPause())
    this.#pausedUntil = Math.max(this.#pausedUntil, now + length)
  }

  /** Rejects all waiting requests. */
  reject(reason: () => AuthError): void {
    for (const line of Object.values(this.#lines)) for (const waiting of line) waiting.refuse(reason())
    this.#sleepIfEmpty()
  }

  /** Rejects all waiting requests because the quota is used up; afterwards one request at a time checks whether it is available again. */
  exhaust(reason: () => AuthError): void {
    this.#exhausted = reason
    this.reject(reason)
  }

  #halve(now: number): void {
    this.#refusedAt = now
    this.#refusals = { running: this.#active, count: 0, areOfRate: false, areFirst: false }
    this.#successes = 0
    this.#limit = Math.max(1, this.#limit >> 1)
  }

  #lowerRate(isShown: boolean): void {
    const accepted = this.#accepted.length
    if (this.#policy.adaptsRate === false || accepted === 0) return
    const isKnown = this.#rate < Number.POSITIVE_INFINITY
    // Of evenly spaced requests, a second contains one more or less.
    const likely = isKnown ? Math.max(BELOW * (accepted + 1), this.#rate / 2) : BELOW * accepted
    Object.assign(this.#refusals, { areOfRate: true, areFirst: !isKnown })
    this.#rate = Math.max(SLOWEST, Math.min(BELOW * this.#rate, likely))
    if (!isShown) return
    const first = Math.min(GROWTH.first, GROWTH.perAccepted * accepted)
    this.#regain = this.#regain === 0 ? first : Math.max(GROWTH.later, GROWTH.accepted / this.#rate)
  }

  /** Returns by how many requests per second an accepted request raises the rate. */
  #growth(now: number): number {
    const time = (now - Math.max(this.#refusedAt, this.#pausedUntil)) / 1000
    return this.#regain === 0 ? GROWTH.most : Math.min(GROWTH.most, (-3 * Math.log(BELOW) * time ** 2) / this.#regain ** 3)
  }

  #randomPause(): number {
    const rest = Math.max(0, (this.#accepted[0] ?? 0) + 1000 - this.#now())
    this.#lastPause = Math.min(PAUSE.most, PAUSE.least + this.#random() * (3 * Math.max(PAUSE.least, this.#lastPause) - PAUSE.least))
    return rest + this.#lastPause
  }

  /** Milliseconds until the next request may start. */
  #wait(): number {
    const now = this.#now()
    return Math.max(this.#pausedUntil - now, this.#rate < Number.POSITIVE_INFINITY ? this.#next - now : 0)
  }

  #start(): void {
    this.#active++
    if (this.#rate === Number.POSITIVE_INFINITY) return
    const { rate, burst = Math.max(1, rate ?? 1) } = this.#policy
    const now = this.#now()
    const spacing = 1000 / this.#rate
    // A rate that the user set is exceeded by no single request.
    const catchUp = rate === undefined || spacing < CATCH_UP ? CATCH_UP : 0
    const late = Math.max(catchUp, this.#refusedAt === Number.NEGATIVE_INFINITY ? (burst - 1) * spacing : 0)
    this.#isHeldBack = this.#next > now - Math.max(CATCH_UP, late)
    this.#next = Math.max(this.#next, now - late) + spacing
  }

  #admit(): void {
    const { again, high, none } = this.#lines
    while (this.depth > 0 && this.#active < this.#limit) {
      const wait = this.#wait()
      if (wait > 0) {
        this.#wakeAfter(wait)
        return
      }
      this.#start()
      for (const line of [again, high, none]) {
        const [first] = line
        if (!first) continue
        first.enter()
        break
      }
    }
  }

  /** Stops the timer of an empty queue, which would keep the process alive. */
  #sleepIfEmpty(): void {
    if (this.depth > 0) return
    this.#waking?.()
    this.#waking = undefined
  }

  #wakeAfter(wait: number): void {
    if (this.#waking) return
    const at = this.#now() + wait
    const wake = () => {
      this.#waking = undefined
      this.#reached = at
      this.#admit()
    }
    this.#waking = startTimer(this.#clock, wait, wake, 'wait')
  }

  /** A clock may lag behind a timer, or stand still. */
  #now(): number {
    return Math.max(this.#clock.now(), this.#reached)
  }

  #forget(now: number): void {
    this.#accepted = this.#accepted.filter((time) => time > now - 1000)
  }
}

function queueFull(limit: number): ConfigurationError {
  const hint = 'wait for some of the calls, or raise queueLimit'
  return new ConfigurationError('CONFIG_INVALID', `${limit} calls are waiting, which is queueLimit`, { hint, retryable: true })
}

/** The rate of calls to a signing API: learned from its 429 responses, or set by the user. */

import { abortedBy, NetworkError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { sleep } from '../../net/cancellation.ts'
import type { Clock } from '../../net/clock.ts'
import { backoffBefore, type RetryPolicy, retryHint } from '../../net/retry.ts'

/** Initial calls per second, and the burst after an idle time, while the limit is unknown. */
const START = { rate: 50, burst: 10 }
/** Added to the rate by each accepted call: doubles it every second, or raises a known limit by 0.5 %. */
const GROWTH = { searching: Math.LN2, known: 0.005 }
/** Fraction of the calls accepted in the second before a refusal. */
const BELOW_LIMIT = 0.9
const SLOWEST = 0.5
/** Late timers are compensated by up to this many milliseconds, so a rate that must not be exceeded is lowered by that part of a second. */
const CATCH_UP = 20
/** Limits concurrent calls, because more of them would only be refused. */
const MOST_AT_A_TIME = 64

/** The retry policy of signing calls: after 429, or 503 with `Retry-After`; all calls wait. */
const SIGNING_RETRIES: RetryPolicy = {
  retries: 5,
  backoff: { first: 1000, longest: 30_000, fixed: 1, random: 0 },
  retryAfter: { longest: 120_000 },
}

interface Waiting {
  readonly go: () => void
  readonly fail: (error: unknown) => void
}

/** Limits calls to one endpoint: no faster than it accepts them, none during `Retry-After`, refused calls first. */
export class SigningRateLimiter {
  readonly #clock: Clock
  readonly #most: number
  #rate: number
  #isLimitKnown: boolean
  /** Earliest start of the next call, in epoch milliseconds. */
  #next = 0
  /** When the rate was last lowered: refusals of earlier calls are ignored. */
  #lowered = Number.NEGATIVE_INFINITY
  #accepted: number[] = []
  #active = 0
  readonly #refused = new Set<Waiting>()
  readonly #waiting = new Set<Waiting>()
  #sleep: AbortController | undefined
  #closed: ((now: number) => NetworkError | undefined) | undefined

  /** @param rate calls per second that are never exceeded; without it the limit is learnt */
  constructor(clock: Clock, rate?: number) {
    this.#clock = clock
    this.#most = rate === undefined ? Number.POSITIVE_INFINITY : rate * (1 - CATCH_UP / 1000)
    this.#rate = rate === undefined ? START.rate : this.#most
    this.#isLimitKnown = rate !== undefined
  }

  /**
   * Sends a call when it is due and returns the response. A call refused with 429, or with 503 and `Retry-After`, is sent again
   * after that time; the sixth such response is returned.
   *
   * Errors: those of `call`, `RATE_LIMITED` when `Retry-After` exceeds two minutes, `ABORTED`.
   */
  async run(call: () => Promise<HttpResponse>, signal: AbortSignal): Promise<HttpResponse> {
    for (let tries = 1; ; tries++) {
      await this.#untilDue(signal, tries > 1 ? this.#refused : this.#waiting)
      const sent = this.#clock.now()
      const response = await call().finally(() => this.#leave())
      const pause = pauseOf(response, tries, this.#clock.now())
      if (pause === undefined) this.#faster()
      else this.#slower(sent, pause)
      if (pause === undefined || tries > SIGNING_RETRIES.retries) return response
      await response.discard()
      if (pause > SIGNING_RETRIES.retryAfter.longest) this.#sendAway(response)
    }
  }

  async #untilDue(signal: AbortSignal, queue: Set<Waiting>): Promise<void> {
    if (signal.aborted) throw abortedBy(signal)
    const refusal = this.#closed?.(this.#clock.now())
    if (refusal) throw refusal
    return new Promise((resolve, reject) => {
      const done = (settle: () => void) => () => {
        queue.delete(waiting)
        signal.removeEventListener('abort', abort)
        settle()
      }
      const abort = done(() => {
        reject(abortedBy(signal))
        if (this.#refused.size + this.#waiting.size === 0) this.#sleep?.abort()
      })
      const waiting: Waiting = { go: done(resolve), fail: (error) => done(() => reject(error))() }
      signal.addEventListener('abort', abort)
      queue.add(waiting)
      void this.#admit()
    })
  }

  /** Starts waiting calls in order; runs at most once at a time. */
  async #admit(): Promise<void> {
    if (this.#sleep) return
    // A clock may stand still while a timer runs, or lag a little behind it.
    let reached = 0
    while (this.#active < MOST_AT_A_TIME) {
      const [first = this.#waiting.values().next().value] = this.#refused
      if (!first) return
      const now = Math.max(this.#clock.now(), reached)
      const spacing = 1000 / this.#rate
      const at = Math.max(this.#next, now - (this.#isLimitKnown ? CATCH_UP : START.burst * spacing))
      if (at > now) {
        this.#sleep = new AbortController()
        await sleep(at - now, this.#clock, this.#sleep.signal).catch(() => {})
        this.#sleep = undefined
        reached = at
        continue
      }
      this.#next = at + spacing
      this.#active++
      first.go()
    }
  }

  #leave(): void {
    this.#active--
    void this.#admit()
  }

  /** Raises the rate for an endpoint that accepts calls as fast as they come. */
  #faster(): void {
    const now = this.#clock.now()
    this.#accepted.push(now)
    if (this.#accepted.length > 10_000) this.#forget(now)
    const isHeldBack = this.#waiting.size > 0 && this.#active < MOST_AT_A_TIME - 1
    if (isHeldBack) this.#rate = Math.min(this.#most, this.#rate + (this.#isLimitKnown ? GROWTH.known : GROWTH.searching))
  }

  #slower(sent: number, pause: number): void {
    const now = this.#clock.now()
    this.#next = Math.max(this.#next, now + pause)
    if (sent <= this.#lowered) return
    this.#lowered = now
    this.#forget(now)
    const accepted = Math.max(1, this.#accepted.length)
    // The accepted rate is the limit only when the demand was about as high; otherwise another client may have used it up.
    const isLimit = accepted >= this.#rate / 2
    this.#isLimitKnown ||= isLimit
    this.#rate = Math.max(SLOWEST, isLimit ? BELOW_LIMIT * Math.min(accepted, this.#rate) : this.#rate / 2)
  }

  /** Rejects waiting calls, and later calls until shortly before `Retry-After` has passed. */
  #sendAway({ url, status }: HttpResponse): never {
    const until = this.#next
    this.#closed = (now) => (until - now > SIGNING_RETRIES.retryAfter.longest ? rateLimited(url, status, until - now) : undefined)
    const refusal = rateLimited(url, status, until - this.#clock.now())
    for (const { fail } of [...this.#refused, ...this.#waiting]) fail(refusal)
    this.#sleep?.abort()
    throw refusal
  }

  #forget(now: number): void {
    this.#accepted = this.#accepted.filter((time) => time > now - 1000)
  }
}

/** Returns the milliseconds until the call may be sent again; undefined for a response that is final. */
function pauseOf({ status, headers }: HttpResponse, tries: number, now: number): number | undefined {
  const asked = status === 429 || status === 503 ? retryHint(headers, now) : undefined
  return asked ?? (status === 429 ? backoffBefore(SIGNING_RETRIES.backoff, tries, 0) : undefined)
}

function rateLimited(url: string, status: number, pause: number): NetworkError {
  const message = `Retry-After of ${Math.ceil(pause / 1000)} s from the signing API on ${new URL(url).origin} exceeds the limit of 120 s`
  return new NetworkError('RATE_LIMITED', message, { url, status, retryable: true })
}

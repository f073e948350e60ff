/** The rate of calls to a signing API: learned from its refusals, or set by the user. */

import { NetworkError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { throwIfAborted } from '../../net/cancellation.ts'
import type { Clock } from '../../net/clock.ts'
import { Pacer } from '../../net/pacer.ts'
import { retryHint } from '../../net/retry.ts'

/** More concurrent calls would only be refused; their number stays, because the rate is found quickly. */
const CONCURRENCY = { initial: 64, max: 64 }

/** Calls per second and burst, while the limit is unknown. */
const START = { startRate: 50, burst: 10 }

/** The last refusal of a call is returned after that many retries, and milliseconds since its first. */
const LIMIT = { retries: 5, milliseconds: 30_000 }

/** The longest `Retry-After` to wait for, in milliseconds. */
const LONGEST_PAUSE = 120_000

/** Limits calls to one endpoint: no faster than it accepts them, none during `Retry-After`, refused calls first. */
export class SigningRateLimiter {
  readonly #clock: Clock
  readonly #pacer: Pacer
  #refusal: HttpResponse | undefined

  /** @param rate calls per second that are never exceeded; without it the limit is learnt */
  constructor(clock: Clock, rate?: number) {
    this.#clock = clock
    this.#pacer = new Pacer(clock, Math.random, { concurrency: CONCURRENCY, ...(rate === undefined ? START : { rate, burst: 1 }) })
  }

  /**
   * Sends a call when it is due and returns the response. A call refused with 429, 529, or 503 and `Retry-After`, is sent again when all calls
   * may continue; it returns the refusal after five retries and half a minute.
   *
   * Errors: those of `call`, `RATE_LIMITED` when `Retry-After` exceeds two minutes, `ABORTED`.
   */
  async run(call: () => Promise<HttpResponse>, signal: AbortSignal): Promise<HttpResponse> {
    const pacer = this.#pacer
    let first: number | undefined
    for (let tries = 0; ; tries++) {
      throwIfAborted(signal)
      if (this.#refusal && pacer.pause > LONGEST_PAUSE) throw rateLimited(this.#refusal, pacer.pause)
      if (!pacer.tryEnter()) await pacer.enter(signal, { priority: tries > 0 ? 'again' : undefined })
      let response: HttpResponse
      try {
        response = await call()
        const { status, headers } = response
        const hint = retryHint(headers, this.#clock.now())
        if (status !== 429 && status !== 529 && !(status === 503 && hint !== undefined)) {
          pacer.succeeded()
          return response
        }
        pacer.refused(hint)
      } finally {
        pacer.leave()
      }
      first ??= this.#clock.now()
      if (tries >= LIMIT.retries && this.#clock.now() - first >= LIMIT.milliseconds) return response
      await response.discard()
      const refusal = response
      this.#refusal = refusal
      if (pacer.pause > LONGEST_PAUSE) pacer.reject(() => rateLimited(refusal, pacer.pause))
    }
  }
}

function rateLimited({ url, status }: HttpResponse, pause: number): NetworkError {
  const message = `Retry-After of ${Math.ceil(pause / 1000)} s from the signing API on ${new URL(url).origin} exceeds the limit of 120 s`
  return new NetworkError('RATE_LIMITED', message, { url, status, retryable: true })
}

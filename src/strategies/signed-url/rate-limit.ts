/** The rate of calls to a signing API: as fast as it accepts them, or as the user says. */

import { NetworkError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { sleep } from '../../net/cancellation.ts'
import type { Clock } from '../../net/clock.ts'
import { ConcurrencyLimiter, RateLimiter } from '../../net/limiter.ts'
import { Retries, type RetryPolicy, retryAfterProblem, retryHint } from '../../net/retry.ts'

const CONCURRENCY = { initial: 16, max: 64 }

/** The retry policy of signing calls: after 429, or 503 with `Retry-After`; all calls wait. */
const SIGNING_RETRIES: RetryPolicy = {
  retries: 5,
  backoff: { first: 1000, longest: 30_000, fixed: 1, random: 0 },
  retryAfter: { longest: 120_000 },
}

/** Limits calls to one endpoint: none during `Retry-After`, fewer at a time after a refusal, refused calls first. */
export class SigningRateLimiter {
  readonly #clock: Clock
  readonly #concurrency: ConcurrencyLimiter
  readonly #rate: RateLimiter | undefined

  /** @param rate calls per second that are never exceeded */
  constructor(clock: Clock, rate?: number) {
    this.#clock = clock
    this.#concurrency = new ConcurrencyLimiter(clock, CONCURRENCY)
    this.#rate = rate === undefined ? undefined : new RateLimiter({ requestsPerSecond: rate, burst: 1 })
  }

  /**
   * Sends a call when it is due and returns the response. A call refused with 429, or with 503 and `Retry-After`, is sent again
   * after that time; the sixth such response is returned.
   *
   * Errors: those of `call`, `RATE_LIMITED` when `Retry-After` exceeds two minutes, `ABORTED`.
   */
  async run(call: () => Promise<HttpResponse>, signal: AbortSignal, api: string): Promise<HttpResponse> {
    const concurrency = this.#concurrency
    const retries = new Retries(SIGNING_RETRIES, () => 0)
    for (;;) {
      if (concurrency.pause > SIGNING_RETRIES.retryAfter.longest) throw rateLimited(api, concurrency.pause)
      await concurrency.enter(signal, { queueLimit: Number.POSITIVE_INFINITY, ...(retries.count > 0 && { priority: 'high' }) })
      const response = await this.#paced(call, signal).finally(() => concurrency.leave())
      const { status, headers } = response
      const hint = status === 429 || status === 503 ? retryHint(headers, this.#clock.now()) : undefined
      if (status !== 429 && hint === undefined) {
        concurrency.succeeded()
        return response
      }
      const pause = retries.next({ hint, status })
      if (pause === 'retries') return response
      await response.discard()
      concurrency.refused(typeof pause === 'number' ? pause : (hint ?? 0))
      if (pause !== 'retry-after') continue
      const refusal = () => rateLimited(api, concurrency.pause, status)
      concurrency.exhaust(refusal)
      throw refusal()
    }
  }

  async #paced(call: () => Promise<HttpResponse>, signal: AbortSignal): Promise<HttpResponse> {
    let wait = this.#rate?.take(this.#clock.now()) ?? 0
    // The service may ask for a pause meanwhile.
    for (; wait > 0; wait = this.#concurrency.pause) await sleep(wait, this.#clock, signal)
    return call()
  }
}

function rateLimited(api: string, pause: number, status?: number): NetworkError {
  const message = `${new URL(api).origin}: ${retryAfterProblem(pause, SIGNING_RETRIES.retryAfter.longest)}`
  return new NetworkError('RATE_LIMITED', message, { url: api, ...(status !== undefined && { status }), retryable: true })
}

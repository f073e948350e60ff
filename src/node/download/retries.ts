/** When a request for a file is repeated. */

import { type AuthError, isAuthError, NetworkError } from '../../errors.ts'
import { sleep } from '../../net/cancellation.ts'
import type { Clock } from '../../net/clock.ts'
import { Retries, RetryBudget, type RetryPolicy, retryAfterOf, retryAfterProblem } from '../../net/retry.ts'

const DELAYS = {
  backoff: { first: 500, longest: 20_000, fixed: 0, random: 1, least: 100 },
  overloaded: { first: 1000, longest: 20_000, fixed: 0.5, random: 0.5 },
  retryAfter: { longest: 120_000, spread: 0.1, least: 50 },
} as const

/**
 * Retries of download requests; `retries` counts those without a new byte. The budget has the capacity of a hundred files and grows by one
 * for each file that succeeds at the first attempt.
 */
const DOWNLOAD_RETRIES = { ...DELAYS, retries: 10, unresolved: 4, budget: { most: 100, earned: 1 } } satisfies RetryPolicy

/** Retries of object listings. */
const LISTING_RETRIES: RetryPolicy = { ...DELAYS, retries: 4 }

/** Returns the retries of a listing, at most as many as those of a file. */
export function listingRetries({ settings: { retries } }: { readonly settings: RetryLimits }): RetryPolicy {
  return { ...LISTING_RETRIES, retries: Math.min(LISTING_RETRIES.retries, retries) }
}

/** Retries of requests that verify files at their servers. */
export const VERIFY_RETRIES: RetryPolicy = { ...DELAYS, retries: 3 }

/** Requests for a file that the server prepares (202), as often as the time for it allows. */
const PREPARING_RETRIES: RetryPolicy = {
  retries: 999,
  backoff: { first: 2000, longest: 30_000, fixed: 0.5, random: 0.5 },
  retryAfter: { longest: 86_400_000, spread: 0.1, least: 500 },
}

/** Milliseconds to wait in all, by default, for a file that its server prepares. */
export const PREPARED_WITHIN = 600_000

/** The retry budgets of a download, by origin. */
export class RetryBudgets {
  readonly #budgets = new Map<string, RetryBudget>()

  of(origin: string): RetryBudget {
    const budget = this.#budgets.get(origin) ?? new RetryBudget(DOWNLOAD_RETRIES.budget)
    this.#budgets.set(origin, budget)
    return budget
  }
}

interface RetryLimits {
  /** Consecutive retries without a new byte. */
  readonly retries: number
  /** Milliseconds in all to wait for a file that its server prepares. */
  readonly wait: number
}

/** The retries of one URL of a file. */
export class UrlRetries {
  readonly #budget: RetryBudget
  readonly #retries: Retries
  readonly #preparation: Preparation
  /** Consecutive attempts for which the host name was not resolved. */
  #unresolved = 0
  #hasRetried = false

  constructor({ retries, wait }: RetryLimits, budget: RetryBudget, clock: Clock, random: () => number) {
    this.#budget = budget
    this.#retries = new Retries({ ...DOWNLOAD_RETRIES, retries }, random, budget)
    this.#preparation = new Preparation(wait, clock, random)
  }

  /** Counts a response without an error. */
  succeeded(): void {
    if (!this.#hasRetried) this.#budget.earn()
  }

  /**
   * Returns the milliseconds until the next attempt, and its number.
   *
   * @param hasGained whether the attempt has received new bytes
   *
   * Errors: the one given if there is no further attempt, also as `RATE_LIMITED` and `RETRY_BUDGET`.
   */
  next(error: AuthError, hasGained: boolean): { readonly delay: number; readonly attempt: number } {
    // It is no error of the file that its server prepares it (RFC 9110 §15.3.3).
    if (error.code === 'HTTP_202') return { delay: this.#preparation.next(error), attempt: this.#preparation.count }
    if (hasGained) this.#retries.count = 0
    this.#unresolved = error.code === 'NETWORK_DNS' ? this.#unresolved + 1 : 0
    // A retry does not open fewer files.
    if (error.code === 'FILE_ACCESS') throw error
    if (!error.retryable || this.#unresolved > DOWNLOAD_RETRIES.unresolved) throw finalError(error)
    const hint = retryAfterOf(error)
    const delay = this.#retries.next({ hint, status: error.status, free: hasGained })
    if (delay === 'retry-after') throw rateLimited(error, retryAfterProblem(hint ?? 0, DOWNLOAD_RETRIES.retryAfter.longest))
    if (delay === 'budget') throw budgetEmpty(error)
    if (typeof delay === 'string') throw finalError(error)
    this.#hasRetried = true
    return { delay, attempt: this.#retries.count }
  }
}

/** Returns the error of a file after its last attempt. */
function finalError(error: AuthError): AuthError {
  return error.code === 'HTTP_429' ? rateLimited(error, 'the server still answers 429 after the last retry') : error
}

function rateLimited({ url, status }: AuthError, why: string): NetworkError {
  return new NetworkError('RATE_LIMITED', `${url}: ${why}`, {
    retryable: true,
    ...(url !== undefined && { url }),
    ...(status !== undefined && { status }),
  })
}

function budgetEmpty(last: AuthError): NetworkError {
  const message = `too many requests to this server failed to retry any of them; the last error: ${last.message}`
  return new NetworkError('RETRY_BUDGET', message, { reasons: [last], retryable: true, ...(last.url !== undefined && { url: last.url }) })
}

/** Waits for one file that its server is still preparing (202, RFC 9110 §15.3.3). */
export class Preparation {
  readonly #limit: number
  readonly #clock: Clock
  readonly #retries: Retries
  #since: number | undefined

  /** @param limit milliseconds in all */
  constructor(limit: number, clock: Clock, random: () => number) {
    this.#limit = limit
    this.#clock = clock
    this.#retries = new Retries(PREPARING_RETRIES, random)
  }

  /** Number of waits so far. */
  get count(): number {
    return this.#retries.count
  }

  /** Returns the milliseconds until the file is requested again. Errors: `HTTP_202` when that is after the limit. */
  next(error: AuthError): number {
    const { message, url, status } = error
    this.#since ??= this.#clock.now()
    const left = this.#limit - (this.#clock.now() - this.#since)
    const hint = retryAfterOf(error)
    const delay = this.#retries.next({ hint, left })
    if (typeof delay === 'number') return delay
    const why =
      hint !== undefined && hint > this.#limit ? retryAfterProblem(hint, this.#limit) : `it was not ready within ${this.#limit / 1000} s`
    throw new NetworkError('HTTP_202', `${message}; ${why}`, {
      ...(url !== undefined && { url }),
      ...(status !== undefined && { status }),
      retryable: true,
      hint: 'run the same command later, or allow a longer time with --wait SECONDS, in code wait',
    })
  }
}

/**
 * Repeats work after retryable errors.
 *
 * @param work gets the retries, whose count it may reset
 *
 * Errors: the last one of `work`, `ABORTED`.
 */
export async function withRetries<T>(
  policy: RetryPolicy,
  { clock, random, signal }: { readonly clock: Clock; readonly random: () => number; readonly signal: AbortSignal },
  work: (retries: Retries) => Promise<T>,
): Promise<T> {
  const retries = new Retries(policy, random)
  for (;;) {
    try {
      return await work(retries)
    } catch (error) {
      if (!isAuthError(error) || signal.aborted) throw error
      const delay = error.retryable ? retries.next({ hint: retryAfterOf(error), status: error.status }) : 'retries'
      if (typeof delay === 'string') throw error
      await sleep(delay, clock, signal)
    }
  }
}

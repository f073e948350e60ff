/** Retries with the policy of each caller, and the parser of `Retry-After`. */
import type { AuthError } from '../errors.ts'
import type { Clock } from './clock.ts'

/**
 * Exponential backoff in milliseconds: `first`, doubled for each further retry up to `longest`, multiplied by `fixed` plus a random part of
 * up to `random`, and at least `least`.
 */
export interface Backoff {
  readonly first: number
  readonly longest: number
  /** Shares of 1. */
  readonly fixed: number
  readonly random: number
  readonly least?: number
}

export interface RetryPolicy {
  /** Consecutive attempts after the first. */
  readonly retries: number
  /** The same for a host name that cannot be resolved. */
  readonly unresolved?: number
  readonly backoff: Backoff
  /** After 429 and 529; default: `backoff`. */
  readonly overloaded?: Backoff
  readonly retryAfter: RetryAfterPolicy
  readonly budget?: BudgetTerms
}

/** Limits of `Retry-After` in milliseconds: a longer one ends the retries. */
interface RetryAfterPolicy {
  readonly longest: number
  /** Jitter: up to this part is added at random. */
  readonly spread?: number
  /** The shortest wait; default 0. */
  readonly least?: number
}

/** A failed attempt. */
interface FailedAttempt {
  /** `Retry-After` in milliseconds. */
  readonly hint?: number | undefined
  readonly status?: number | undefined
  /** Milliseconds until the deadline; default: no deadline. */
  readonly left?: number
  /** True to retry immediately, on another connection. */
  readonly now?: boolean
  /** True to leave the budget unchanged. */
  readonly free?: boolean
}

/** The reason why there is no further attempt. */
type RetryEnd = 'retries' | 'retry-after' | 'deadline' | 'budget'

/** Counts the retries of one request. */
export class Retries {
  /** Consecutive retries so far. */
  count = 0
  readonly #policy: RetryPolicy
  readonly #random: () => number
  readonly #budget: RetryBudget | undefined

  constructor(policy: RetryPolicy, random: () => number, budget?: RetryBudget) {
    this.#policy = policy
    this.#random = random
    this.#budget = budget
  }

  /** Counts the next attempt and returns the milliseconds until it, or the reason why there is none. */
  next({ hint, status, left = Number.POSITIVE_INFINITY, now = false, free = false }: FailedAttempt): number | RetryEnd {
    const { retries, retryAfter } = this.#policy
    if (this.count >= retries) return 'retries'
    if (hint !== undefined && (hint > retryAfter.longest || hint > left)) return 'retry-after'
    const delay = now ? 0 : delayBefore(this.#policy, this.count + 1, { hint, status }, this.#random)
    if (delay > left) return 'deadline'
    if (!free && this.#budget && !this.#budget.spend(hint !== undefined)) return 'budget'
    this.count++
    return delay
  }
}

/** Returns the milliseconds before that retry, counted from 1. */
function delayBefore(
  policy: RetryPolicy,
  retry: number,
  { hint, status }: Pick<FailedAttempt, 'hint' | 'status'>,
  random: () => number,
): number {
  const drawn = random()
  const { backoff, overloaded = backoff, retryAfter } = policy
  if (hint === undefined) return backoffBefore(status === 429 || status === 529 ? overloaded : backoff, retry, drawn)
  const { spread = 0, least = 0 } = retryAfter
  return Math.max(least, hint + drawn * spread * hint)
}

/** Returns the same without `Retry-After`; `drawn` is a random number from 0 up to, not including, 1. */
export function backoffBefore({ first, longest, fixed, random, least = 0 }: Backoff, retry: number, drawn: number): number {
  return Math.max(least, Math.min(longest, first * 2 ** (retry - 1)) * (fixed + drawn * random))
}

/** The capacity of a retry budget, and what each first attempt that succeeds, and each second, adds. */
interface BudgetTerms {
  readonly most: number
  readonly earned: number
  readonly perSecond?: number
}

/** Bounds retries to a fraction of the traffic, so that an outage does not cause more load. */
export class RetryBudget {
  readonly #terms: BudgetTerms
  readonly #clock: Clock | undefined
  #tokens: number
  #at = 0

  /** @param clock needed if time adds to the budget */
  constructor(terms: BudgetTerms, clock?: Clock) {
    this.#terms = terms
    this.#clock = clock
    this.#tokens = terms.most
  }

  /** Counts a first attempt that succeeded. */
  earn(tokens = this.#terms.earned): void {
    this.#tokens = Math.min(this.#terms.most, this.#tokens + tokens)
  }

  /** Takes the cost of a retry, half with `Retry-After`; false if the budget is used up. */
  spend(hinted: boolean): boolean {
    const now = this.#clock?.now() ?? 0
    this.earn(((this.#terms.perSecond ?? 0) * Math.max(0, now - this.#at)) / 1000)
    this.#at = now
    const cost = hinted ? 0.5 : 1
    // Sums of tenths are not exact.
    if (this.#tokens < cost - 1e-9) return false
    this.#tokens -= cost
    return true
  }
}

/** `Retry-After` in milliseconds by error; no property, because errors leave the library. */
const RETRY_AFTER = new WeakMap<AuthError, number>()

/** Attaches the milliseconds of `Retry-After` to the error and returns it. */
export function withRetryAfter<E extends AuthError>(error: E, milliseconds: number | undefined): E {
  if (milliseconds !== undefined) RETRY_AFTER.set(error, milliseconds)
  return error
}

/** Returns the milliseconds that {@link withRetryAfter} attached. */
export function retryAfterOf(error: AuthError): number | undefined {
  return RETRY_AFTER.get(error)
}

/** Describes a `Retry-After` over the limit, both in milliseconds. */
export function retryAfterProblem(wait: number, limit: number): string {
  return `Retry-After of ${Math.ceil(wait / 1000)} s exceeds the limit of ${limit / 1000} s`
}

/**
 * Returns the wait that a response requests, in milliseconds: `retry-after-ms`, else `Retry-After` (RFC 9110 §10.2.3) in seconds, which
 * many servers write with decimals, or as a date. A date is compared with the response's own `Date`, which is right even if clocks
 * differ, else with `now` in epoch milliseconds. Undefined when it is absent, malformed (also more than ten digits) or in the past.
 */
export function retryHint(headers: { get(name: string): string | null }, now: number): number | undefined {
  const precise = headers.get('retry-after-ms')?.trim()
  if (precise !== undefined && /^\d{1,13}(?:\.\d{1,9})?$/.test(precise)) return Number(precise)
  const date = Date.parse(headers.get('date') ?? '')
  const rest = restOf(headers.get('retry-after'), Number.isNaN(date) ? now : date)
  return rest === undefined || rest < 0 ? undefined : rest
}

const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

function restOf(text: string | null, now: number): number | undefined {
  const value = text?.trim() ?? ''
  if (/^\d{1,10}(?:\.\d{1,9})?$/.test(value)) return Number(value) * 1000
  if (!DATE.test(value)) return undefined
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : date - now
}

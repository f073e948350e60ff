/** How often something is tried again, and when: each caller passes its policy. */
import type { AuthError } from '../errors.ts'

/** Milliseconds before the first retry, doubled for each further one up to `longest`; `fixed` of it and up to `random` of it are waited, but at least `least`. */
export interface Backoff {
  readonly first: number
  readonly longest: number
  /** Shares of 1. */
  readonly fixed: number
  readonly random: number
  readonly least?: number
}

export interface RetryPolicy {
  /** Attempts after the first, in a row. */
  readonly retries: number
  /** How many of these where the host name cannot be resolved. */
  readonly unresolved?: number
  readonly backoff: Backoff
  /** After 429 and 529; default: `backoff`. */
  readonly overloaded?: Backoff
  readonly retryAfter: RetryAfterPolicy
  readonly budget?: BudgetTerms
}

/** Milliseconds that a server may ask for: what is longer ends the retries. */
export interface RetryAfterPolicy {
  readonly longest: number
  /** Share that is added at most, by chance. */
  readonly spread?: number
  /** The least that is waited; default 0. */
  readonly least?: number
}

/** How an attempt failed. */
export interface FailedAttempt {
  /** Milliseconds that the server asked for. */
  readonly hint?: number | undefined
  readonly status?: number | undefined
  /** Milliseconds that are left for all attempts; default: any number. */
  readonly left?: number
  /** No wait: another connection will do. */
  readonly now?: boolean
  /** Costs nothing of the budget. */
  readonly free?: boolean
}

/** Why there is no further attempt. */
export type RetryEnd = 'retries' | 'retry-after' | 'deadline' | 'budget'

/** The retries of one piece of work. */
export class Retries {
  /** Retries so far, in a row. */
  count = 0
  readonly #policy: RetryPolicy
  readonly #random: () => number
  readonly #budget: RetryBudget | undefined

  constructor(policy: RetryPolicy, random: () => number, budget?: RetryBudget) {
    this.#policy = policy
    this.#random = random
    this.#budget = budget
  }

  /** Milliseconds until the next attempt, which is counted; or why there is none. */
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

/** Milliseconds before that retry, counted from 1. */
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

/** The same where the server asks for nothing; `drawn` is from 0 up to, not including, 1. */
export function backoffBefore({ first, longest, fixed, random, least = 0 }: Backoff, retry: number, drawn: number): number {
  return Math.max(least, Math.min(longest, first * 2 ** (retry - 1)) * (fixed + drawn * random))
}

/** Retries that may be paid at once, and what a first attempt that succeeded adds. */
export interface BudgetTerms {
  readonly most: number
  readonly earned: number
}

/** Keeps retries to a part of the traffic: an outage is not answered with more load. */
export class RetryBudget {
  readonly #terms: BudgetTerms
  #tokens: number

  constructor(terms: BudgetTerms) {
    this.#terms = terms
    this.#tokens = terms.most
  }

  /** A first attempt succeeded. */
  earn(): void {
    const { most, earned } = this.#terms
    if (this.#tokens < most) this.#tokens = Math.min(most, this.#tokens + earned)
  }

  /** Pays for a retry, half where the server asked for it; false when there is not enough left. */
  spend(hinted: boolean): boolean {
    const cost = hinted ? 0.5 : 1
    // Tenths do not add up exactly.
    if (this.#tokens < cost - 1e-9) return false
    this.#tokens -= cost
    return true
  }
}

/** What servers say about when to come back, in milliseconds; not a part of errors that leave the library. */
const RETRY_AFTER = new WeakMap<AuthError, number>()

/** The error, with the milliseconds after which its server wants to be asked again. */
export function withRetryAfter<E extends AuthError>(error: E, milliseconds: number | undefined): E {
  if (milliseconds !== undefined) RETRY_AFTER.set(error, milliseconds)
  return error
}

/** The milliseconds that {@link withRetryAfter} was given. */
export function retryAfterOf(error: AuthError): number | undefined {
  return RETRY_AFTER.get(error)
}

/** Says that a server asks for a longer pause than the limit, both in milliseconds. */
export function retryAfterProblem(wait: number, limit: number): string {
  return `Retry-After of ${Math.ceil(wait / 1000)} s exceeds the limit of ${limit / 1000} s`
}

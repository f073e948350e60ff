import { Gate } from '../../crawl/gate.ts'
import type { Clock } from '../../net/clock.ts'
import { RetryBudget, type RetryPolicy } from '../../net/retry.ts'

const DELAYS = {
  backoff: { first: 500, longest: 20_000, fixed: 0, random: 1, least: 100 },
  overloaded: { first: 1000, longest: 20_000, fixed: 0.5, random: 0.5 },
  retryAfter: { longest: 120_000, spread: 0.1, least: 50 },
} as const

/**
 * How requests of a download are retried; `retries` are those that gained no bytes. The budget allows as many as a hundred files, and one
 * more for each that came at once.
 */
export const DOWNLOAD_RETRIES = { ...DELAYS, retries: 10, unresolved: 4, budget: { most: 100, earned: 1 } } satisfies RetryPolicy

/** How requests for a list of objects are retried. */
export const LISTING_RETRIES: RetryPolicy = { ...DELAYS, retries: 4 }

/** How servers are asked about files that are verified. */
export const VERIFY_RETRIES: RetryPolicy = { ...DELAYS, retries: 3 }

/** How much each origin is asked at a time, and how often again. */
export class Origins {
  readonly #gate: Gate
  readonly #budgets = new Map<string, RetryBudget>()

  constructor(manners: { readonly concurrency: number; readonly rate?: number }, clock: Clock) {
    this.#gate = new Gate(manners, clock, () => undefined)
  }

  get gate(): Gate {
    return this.#gate
  }

  budget(origin: string): RetryBudget {
    const known = this.#budgets.get(origin)
    if (known) return known
    const budget = new RetryBudget(DOWNLOAD_RETRIES.budget)
    this.#budgets.set(origin, budget)
    return budget
  }
}

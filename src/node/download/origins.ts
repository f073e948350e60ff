import { RetryBudget } from '../../clients/retry-budget.ts'
import { Gate } from '../../crawl/gate.ts'
import type { Clock } from '../../net/clock.ts'

/** As many retries as a hundred files, and one more for each that came at once. */
const BUDGET = { most: 100, earned: 1 }

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
    const budget = new RetryBudget(BUDGET)
    this.#budgets.set(origin, budget)
    return budget
  }
}

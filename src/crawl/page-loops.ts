import type { Job, Outcome } from './job.ts'

/** Sees lists whose pages lead back to an earlier one: that one is not asked for twice, so they would end without a word. */
export class PageLoops {
  /** Numbers of pages that have a next one, by key. */
  readonly #numbers = new Map<string, number>()

  /** The outcome without a next page that is an earlier one of its list, and then with `PAGE_LOOP`. */
  broken({ key }: Job, outcome: Outcome): Outcome {
    const next = outcome.jobs.at(-1)
    const number = next?.page?.number ?? 1
    if (!next || number === 1) return outcome
    this.#numbers.set(key, number - 1)
    // Lists that go on with the same page have it at the same place.
    if ((this.#numbers.get(next.key) ?? number) >= number) return outcome
    const { url, jobs, left } = outcome
    const message = 'its next page is an earlier one'
    return { ...outcome, jobs: jobs.slice(0, -1), left: [...left, { url, code: 'PAGE_LOOP', message, asked: false, count: 1 }] }
  }
}

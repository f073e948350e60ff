/** Where the results of a crawl go. */
import type { Outcome } from './job.ts'

/** What a job has led to, and what somebody made of it. */
export interface Stored<R> {
  readonly outcome: Outcome
  readonly result: R
}

/** Keeps results by the key of their job: a job that is done again replaces its result, so doing it twice changes nothing. */
export interface Sink<R> {
  put(key: string, stored: Stored<R>): void | Promise<void>
  /** What this crawl has stored already, in this process or in one before. */
  get(key: string): Stored<R> | undefined
  /** What the crawl before has stored; only what has changed since then is read again. */
  earlier?(key: string): Stored<R> | undefined
}

/** Keeps results in memory. */
export class MemorySink<R> implements Sink<R> {
  readonly #stored = new Map<string, Stored<R>>()
  readonly #earlier: MemorySink<R> | undefined

  constructor(earlier?: MemorySink<R>) {
    this.#earlier = earlier
  }

  put(key: string, stored: Stored<R>): void {
    this.#stored.set(key, stored)
  }

  get(key: string): Stored<R> | undefined {
    return this.#stored.get(key)
  }

  earlier(key: string): Stored<R> | undefined {
    return this.#earlier?.get(key)
  }

  /** Everything, in the order in which it came. */
  values(): IterableIterator<Stored<R>> {
    return this.#stored.values()
  }
}

import type { Sink, Stored } from '../../src/crawl/crawl.ts'

/** Keeps results in memory. */
export class MemorySink<R> implements Sink<R> {
  readonly #stored = new Map<string, Stored<R>>()
  readonly #earlier: MemorySink<R> | undefined

  constructor(earlier?: MemorySink<R>) {
    this.#earlier = earlier
  }

  /** Stores the result of a job. */
  put(key: string, stored: Stored<R>): void {
    this.#stored.set(key, stored)
  }

  get(key: string): Stored<R> | undefined {
    return this.#stored.get(key)
  }

  earlier(key: string): Stored<R> | undefined {
    return this.#earlier?.get(key)
  }

  /** Returns all results in the order in which they were added. */
  values(): IterableIterator<Stored<R>> {
    return this.#stored.values()
  }
}

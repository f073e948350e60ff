/** Stores the results of a crawl. */

import { type CrawlOptions, crawl } from './crawl.ts'
import type { Outcome, Stop, Visit } from './job.ts'

/** A job, its outcome and the caller's result. */
export interface Stored<R> {
  readonly outcome: Outcome
  readonly result: R
}

/** Stores results by the key of their job. A job that is repeated replaces its result, so repetition is harmless. */
export interface Sink<R> {
  put(key: string, stored: Stored<R>): void | Promise<void>
  /** Returns the result that this crawl has stored already, in this process or in an earlier one. */
  get(key: string): Stored<R> | undefined
  /** Returns the result of the previous crawl; only documents that changed since are read again. */
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

  /** Returns all results in the order in which they were added. */
  values(): IterableIterator<Stored<R>> {
    return this.#stored.values()
  }
}

/** A visit with its result, or the promise of it. */
interface Begun<R> {
  readonly visit: Visit
  readonly result: R | Promise<R>
}

/**
 * Crawls, computes a result for each visit and stores it. Results that the sink already has are not computed again, so an interrupted
 * crawl resumes and ends with the same results as an uninterrupted one.
 *
 * @param options with `isFull`, results are awaited only when it returns true; otherwise each before the next visit
 * @param work computes the result; not called for recalled jobs
 * @param report called with each visit and its result in order, and with the error if the crawl stopped
 */
export async function crawlInto<R>(
  sink: Sink<R>,
  { isFull = () => true, ...options }: Omit<CrawlOptions, 'recall' | 'earlier'> & { readonly isFull?: () => boolean },
  work: (visit: Visit) => R | Promise<R>,
  report: (event: { readonly visit: Visit; readonly result: R } | Stop) => void = () => {},
): Promise<void> {
  const known = { recall: (key: string) => sink.get(key)?.outcome, earlier: (key: string) => sink.earlier?.(key)?.outcome }
  const begun: Begun<R>[] = []
  const take = async (isEnough: () => boolean): Promise<void> => {
    for (let one = begun[0]; one && !isEnough(); one = begun[0]) {
      begun.shift()
      const [{ visit }, result] = [one, await one.result]
      if (visit.recalled !== 'here') await sink.put(visit.job.key, { outcome: visit.outcome, result })
      report({ visit, result })
    }
  }
  for await (const visit of crawl({ ...options, ...known })) {
    if (visit.kind === 'stop') {
      await take(() => false)
      report(visit)
      continue
    }
    const result = resultOf(visit, sink, work)
    // Prevents an unhandled rejection: the promise may reject before it is awaited.
    if (result instanceof Promise) result.catch(() => undefined)
    begun.push({ visit, result })
    await take(() => !isFull())
  }
  await take(() => false)
}

function resultOf<R>(visit: Visit, sink: Sink<R>, work: (visit: Visit) => R | Promise<R>): R | Promise<R> {
  const { key } = visit.job
  const stored = visit.recalled === 'here' ? sink.get(key) : visit.recalled === 'unchanged' ? sink.earlier?.(key) : undefined
  return stored ? stored.result : work(visit)
}

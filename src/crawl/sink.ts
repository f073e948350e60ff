/** Where the results of a crawl go. */

import { type CrawlOptions, crawl } from './crawl.ts'
import type { Outcome, Stop, Visit } from './job.ts'

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

/** What a visit led to, or is leading to. */
interface Begun<R> {
  readonly visit: Visit
  readonly result: R | Promise<R>
}

/**
 * Crawls, makes a result of each visit and stores it. What the sink holds already is not done again, so a crawl that was stopped
 * resumes, with the same results as one run.
 *
 * @param options with `isFull`, results are waited for only when it says so; otherwise each before the next visit
 * @param work makes the result; for what was recalled it is not asked
 * @param report called with each visit and its result, in the order of the visits, and why the crawl stopped if it did
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
    // It may fail before it is awaited.
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

import { type CrawlOptions, crawl, type Stop, type Visit } from './crawl.ts'
import type { Sink } from './sink.ts'

/**
 * Crawls, makes a result of each visit and stores it. What the sink holds already is not done again, so a crawl that was stopped
 * goes on where it was, and gives in the end what one run would have given.
 *
 * @param work makes the result; for what was recalled it is not asked
 * @param tell hears each visit with its result, and why the crawl stopped if it did
 */
export async function crawlInto<R>(
  sink: Sink<R>,
  options: Omit<CrawlOptions, 'recall' | 'earlier'>,
  work: (visit: Visit) => R | Promise<R>,
  tell: (told: { readonly visit: Visit; readonly result: R } | Stop) => void = () => {},
): Promise<void> {
  const known = { recall: (key: string) => sink.get(key)?.outcome, earlier: (key: string) => sink.earlier?.(key)?.outcome }
  for await (const visit of crawl({ ...options, ...known })) {
    if (visit.kind === 'stop') {
      tell(visit)
      continue
    }
    const { key } = visit.job
    const stored = visit.recalled === 'here' ? sink.get(key) : visit.recalled === 'unchanged' ? sink.earlier?.(key) : undefined
    const result = stored ? stored.result : await work(visit)
    if (visit.recalled !== 'here') await sink.put(key, { outcome: visit.outcome, result })
    tell({ visit, result })
  }
}

/** Crawling: walks static catalogs and STAC APIs and gives their documents; sends nothing by itself. */

export type { Clock } from '../net/clock.ts'
export type { CrawlResponse, CrawlSend } from './ask.ts'
export { sendWith } from './ask.ts'
export { type CrawlOptions, crawl } from './crawl.ts'
export { type Frontier, MemoryFrontier } from './frontier.ts'
export type { Job, Left, LimitName, Outcome, Page, Scope, Stop, Visit } from './job.ts'
export type { CrawlLimits, CrawlManners } from './settings.ts'
export { crawlInto, MemorySink, type Sink, type Stored } from './sink.ts'

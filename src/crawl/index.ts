/** Crawls static catalogs and STAC APIs and yields their documents. All requests go through the `send` of the caller. */

export type { Clock } from '../net/clock.ts'
export type { CrawlResponse, CrawlSend } from './ask.ts'
export { sendWith } from './ask.ts'
export { type CrawlOptions, crawl, crawlInto, MemorySink, type Sink, type Stored } from './crawl.ts'
export { type Frontier, MemoryFrontier } from './frontier.ts'
export type { EarlyStop, Job, LimitName, Outcome, Page, Scope, SkippedLink, Visit } from './job.ts'
export type { CrawlLimits, CrawlManners } from './settings.ts'

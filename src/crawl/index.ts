/** Crawls static catalogs and STAC APIs and yields their documents. All requests go through the `send` of the caller. */
export { type CrawlSend, sendWith } from './ask.ts'
export { type CrawlOptions, crawl, crawlInto, type Sink } from './crawl.ts'
export type { Frontier } from './frontier.ts'
export type { EarlyStop, Job, Outcome, Visit } from './job.ts'

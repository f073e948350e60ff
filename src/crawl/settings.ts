/** How far a crawl goes, and how it behaves. */
import type { RetryPolicy } from '../net/retry.ts'

export interface CrawlLimits {
  /** Follow links to other origins: `cross` does, `same` leaves them out without a word, default: leave out and report. */
  readonly origins?: 'cross' | 'same'
  /** Further origins that may be visited. Never a grant: what may be sent there is for the credentials to say. */
  readonly visit?: readonly string[]
  /** Documents to read; default 1 000 000, and then it is reported as `CRAWL_LIMIT`. */
  readonly maxDocuments?: number
  /** Links away from the start; default 64, and then it is reported as `CRAWL_LIMIT`. */
  readonly maxDepth?: number
  /** Pages of each list. */
  readonly maxPages?: number
  /** Items of each Collection, chosen by the seed. */
  readonly sample?: number
  /** Default 1. */
  readonly seed?: number
  /** The part of the documents that is this run's, from 1: `{ index: 2, of: 3 }`. Catalogs are walked by every part. */
  readonly shard?: { readonly index: number; readonly of: number }
  /** `limit` of item lists; default 250. */
  readonly pageSize?: number
}

export interface CrawlManners {
  /** Requests at a time per origin; default 8. */
  readonly concurrency?: number
  /** Requests per second and origin; default: as fast as they are answered. */
  readonly rate?: number
  /** Repetitions of what may succeed later; default and most 4. */
  readonly retries?: number
  /** Seconds of a `Retry-After` that are waited for; default and most 120. */
  readonly longestWait?: number
  /** Milliseconds for one exchange; default 60 000. */
  readonly timeout?: number
  /** Bytes of one decoded answer; default 50 MiB. */
  readonly maxBytes?: number
  /** Who asks, for people who run servers. */
  readonly userAgent?: string
  /** Ask each origin for its `robots.txt` (RFC 9309) and keep to it. */
  readonly robots?: boolean
}

/** How requests of a crawl are retried; a `Retry-After` is waited for by the whole origin. */
export const CRAWL_RETRIES: RetryPolicy = {
  retries: 4,
  backoff: { first: 500, longest: 30_000, fixed: 0.5, random: 0.5 },
  retryAfter: { longest: 120_000 },
}

/** Where everything that is not given comes from. */
export const DEFAULTS = { documents: 1_000_000, depth: 64, pageSize: 250, concurrency: 8, timeout: 60_000 } as const

/** Limits, request settings and retries of a crawl. */
import type { RetryPolicy } from '../net/retry.ts'

/** Limits of a crawl: how far it goes, and where. */
export interface CrawlLimits {
  /** Follow links to other origins: `cross` does, `same` skips them silently; default: skip and report. */
  readonly origins?: 'cross' | 'same'
  /** Further origins to visit. Credentials are sent there only if their `sendTo` allows it. */
  readonly visit?: readonly string[]
  /** Maximum number of documents; default 1 000 000. Reported as `CRAWL_LIMIT`. */
  readonly maxDocuments?: number
  /** Maximum depth in links from the start; default 64. Reported as `CRAWL_LIMIT`. */
  readonly maxDepth?: number
  /** Maximum number of pages per list. */
  readonly maxPages?: number
  /** Number of Items to sample per Collection, selected by `seed`. */
  readonly sample?: number
  /** Seed of the sample; default 1. */
  readonly seed?: number
  /** The shard of this run, from 1: `{ index: 2, of: 3 }`. Every shard reads all Catalogs and Collections. */
  readonly shard?: { readonly index: number; readonly of: number }
  /** `limit` of item lists; default 250. */
  readonly pageSize?: number
}

/** How a crawl treats servers: concurrency, rate, retries and timeouts. */
export interface CrawlManners {
  /** Maximum number of documents that are requested at a time; default: only `perHost` limits them. At least 1. */
  readonly concurrency?: number
  /** Maximum number of concurrent requests per origin; default: `concurrency`, else 8, at least 1. It is lowered for an origin that answers 429 or 503. */
  readonly perHost?: number
  /** Requests per second and origin; default: no limit. */
  readonly rate?: number
  /** Retries of a request; default and maximum 4. */
  readonly retries?: number
  /** Longest `Retry-After` to wait for, in milliseconds; default and maximum 120 000. */
  readonly maxRetryAfter?: number
  /** Timeout of one exchange in milliseconds; default 60 000. */
  readonly timeout?: number
  /** Maximum size of a decoded response in bytes; default 50 MiB. */
  readonly maxBytes?: number
  /** `User-Agent` of the requests. */
  readonly userAgent?: string
  /** Read the `robots.txt` (RFC 9309) of each origin and obey it. */
  readonly robots?: boolean
}

/** Retry policy of a crawl; a `Retry-After` holds the whole origin. */
export const CRAWL_RETRIES: RetryPolicy = {
  retries: 4,
  backoff: { first: 500, longest: 30_000, fixed: 0.5, random: 0.5 },
  retryAfter: { longest: 120_000 },
}

/** Default values. */
export const DEFAULTS = { documents: 1_000_000, depth: 64, pageSize: 250, perHost: 8, timeout: 60_000 } as const

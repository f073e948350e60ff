/** The state that all files of a download share. */

import type { HttpResponse } from '../../http/message.ts'
import { sleep } from '../../net/cancellation.ts'
import { type Clock, systemClock } from '../../net/clock.ts'
import { OriginLimiter, RateLimiter } from '../../net/limiter.ts'
import { RetryBudget, type RetryPolicy } from '../../net/retry.ts'
import type { Target } from '../../stac/target.ts'
import { PREPARED_WITHIN } from './answer.ts'
import type { Destination } from './destination/destination.ts'
import type { DownloadEvent, DownloadOptions } from './download.ts'
import type { FileRecord } from './download-record.ts'
import type { FilePlan } from './file-plan.ts'
import { HashThread } from './hash-thread.ts'

export interface DownloadContext {
  readonly folder: Destination
  readonly record: FileRecord
  readonly plan: Pick<FilePlan, 'withSuffix'>
  readonly hashes: HashThread
  readonly origins: Origins
  readonly clock: Clock
  readonly random: () => number
  /** Aborts everything. */
  readonly signal: AbortSignal
  readonly settings: FileSettings
  /** Limits the bytes per second; undefined without a limit. */
  readonly bandwidth: BandwidthLimiter | undefined
  send(target: Target, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse>
  tell(event: DownloadEvent): void
}

/** The options of a single file. */
export interface FileSettings {
  readonly existing: 'keep' | 'refuse' | 'replace'
  readonly resume: boolean
  readonly strict: boolean
  readonly acceptHtml: boolean
  readonly trustServer: boolean
  /** Milliseconds in all to wait for a file that the server prepares. */
  readonly wait: number
  readonly verify: boolean
  readonly ranges: number
  /** True if `connectionsPerFile` was given: the load of the CPU does not reduce it. */
  readonly rangesGiven: boolean
  /** Size in bytes from which concurrent requests are used. */
  readonly largeFrom: number
  /** Largest range in bytes that one of them asks for. */
  readonly largestRange: number
  /** Bytes of all files from which they are hashed in a thread. */
  readonly threadFrom: number
  readonly retries: number
  readonly stallTimeout: number
  readonly progressInterval: number
}

/** Bytes of all files from which they are hashed in a thread. */
export const THREAD_FROM = 32 * 2 ** 20

const DEFAULTS: FileSettings = {
  existing: 'keep',
  resume: true,
  strict: false,
  acceptHtml: false,
  trustServer: false,
  wait: PREPARED_WITHIN,
  verify: false,
  ranges: 4,
  rangesGiven: false,
  largeFrom: 64 * 2 ** 20,
  largestRange: 16 * 2 ** 20,
  threadFrom: THREAD_FROM,
  retries: 10,
  stallTimeout: 60_000,
  progressInterval: 200,
}

/** Concurrent requests per origin. */
const PER_HOST = 8

/** The state that all files of a download share. */
export function downloadContext(
  options: DownloadOptions,
  parts: Pick<DownloadContext, 'folder' | 'record' | 'plan'> & { readonly hashes?: HashThread; readonly limiter?: RequestLimiter },
  signal: AbortSignal,
  tell: DownloadContext['tell'],
): DownloadContext {
  const { folder, record, plan, limiter } = parts
  const { auth, clock = systemClock(), random = Math.random, perHost = PER_HOST, rate, bytesPerSecond } = options
  // With a byte limit, further requests for one file bring no gain.
  const settings: FileSettings = {
    ...DEFAULTS,
    ...(bytesPerSecond !== undefined && { ranges: 1 }),
    ...settingsIn(options),
    ...(!folder.isLocal && { ranges: 1 }),
    rangesGiven: options.ranges !== undefined,
  }
  return {
    folder,
    record,
    plan,
    hashes: parts.hashes ?? new HashThread(settings.threadFrom),
    origins: new Origins(
      limiter ?? new OriginLimiter({ concurrency: perHost, ...(rate !== undefined && { rate }) }, clock, () => undefined),
    ),
    clock,
    random,
    signal,
    settings,
    bandwidth: bytesPerSecond === undefined ? undefined : new BandwidthLimiter(bytesPerSecond, clock),
    send: (target, headers, aborted) => auth.send(target, { headers, signal: aborted }),
    tell,
  }
}

/** Returns the options that were given. */
function settingsIn(options: DownloadOptions): Partial<FileSettings> {
  const given = Object.entries(options).filter(([name, value]) => Object.hasOwn(DEFAULTS, name) && value !== undefined)
  return Object.fromEntries(given) as Partial<FileSettings>
}

const DELAYS = {
  backoff: { first: 500, longest: 20_000, fixed: 0, random: 1, least: 100 },
  overloaded: { first: 1000, longest: 20_000, fixed: 0.5, random: 0.5 },
  retryAfter: { longest: 120_000, spread: 0.1, least: 50 },
} as const

/**
 * Retries of download requests; `retries` counts those without a new byte. The budget has the capacity of a hundred files and grows by one
 * for each file that succeeds at the first attempt.
 */
export const DOWNLOAD_RETRIES = { ...DELAYS, retries: 10, unresolved: 4, budget: { most: 100, earned: 1 } } satisfies RetryPolicy

/** Retries of object listings. */
export const LISTING_RETRIES: RetryPolicy = { ...DELAYS, retries: 4 }

/** Retries of requests that verify files at their servers. */
export const VERIFY_RETRIES: RetryPolicy = { ...DELAYS, retries: 3 }

/** Limits the requests of each origin. */
export type RequestLimiter = Pick<OriginLimiter, 'enter' | 'leave' | 'succeeded' | 'refused'>

/** Limits and retry budgets by origin. */
class Origins {
  readonly #limiter: RequestLimiter
  readonly #budgets = new Map<string, RetryBudget>()

  constructor(limiter: RequestLimiter) {
    this.#limiter = limiter
  }

  get limiter(): RequestLimiter {
    return this.#limiter
  }

  budget(origin: string): RetryBudget {
    const known = this.#budgets.get(origin)
    if (known) return known
    const budget = new RetryBudget(DOWNLOAD_RETRIES.budget)
    this.#budgets.set(origin, budget)
    return budget
  }
}

/** Bytes per second that each file should have: servers close connections that are read too slowly. */
const SHARE = 131_072

/** Returns how many concurrent files a byte limit allows. */
export function filesWithin(bytesPerSecond: number | undefined, most: number): number {
  return bytesPerSecond === undefined ? most : Math.min(most, Math.max(1, Math.floor(bytesPerSecond / SHARE)))
}

/** Limits the bytes per second of all files. */
class BandwidthLimiter {
  readonly #limiter: RateLimiter
  readonly #clock: Clock

  constructor(bytesPerSecond: number, clock: Clock) {
    this.#limiter = new RateLimiter({ requestsPerSecond: bytesPerSecond, burst: 0 })
    this.#clock = clock
  }

  /** Waits until those bytes are within the limit. Errors: `ABORTED`. */
  async wait(bytes: number, signal: AbortSignal): Promise<void> {
    const wait = this.#limiter.take(this.#clock.now(), bytes)
    if (wait > 0) await sleep(wait, this.#clock, signal)
  }
}

/** What all files of a download share. */

import { OriginLimiter } from '../../crawl/origin-limiter.ts'
import type { HttpResponse } from '../../http/message.ts'
import { sleep } from '../../net/cancellation.ts'
import { type Clock, systemClock } from '../../net/clock.ts'
import { RateLimiter } from '../../net/limiter.ts'
import { RetryBudget, type RetryPolicy } from '../../net/retry.ts'
import type { Target } from '../../stac/target.ts'
import type { DownloadOptions } from './download.ts'
import type { DownloadEvent } from './events.ts'
import type { FilePlan } from './file-plan.ts'
import { HashThread } from './hash-thread.ts'
import type { DownloadRecord } from './manifest.ts'
import type { TargetFolder } from './target-folder.ts'

export interface DownloadContext {
  readonly folder: TargetFolder
  readonly record: DownloadRecord
  readonly plan: FilePlan
  readonly hashes: HashThread
  readonly origins: Origins
  readonly clock: Clock
  readonly random: () => number
  /** Ends everything. */
  readonly signal: AbortSignal
  readonly settings: FileSettings
  /** Slows reading down; undefined without a limit. */
  readonly bandwidth: BandwidthLimiter | undefined
  send(target: Target, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse>
  tell(event: DownloadEvent): void
}

/** The options that a single file is fetched with. */
interface FileSettings {
  readonly existing: 'keep' | 'refuse' | 'replace'
  readonly resume: boolean
  readonly strict: boolean
  readonly acceptHtml: boolean
  readonly verify: boolean
  readonly ranges: number
  /** So many also where the thread has no time for them. */
  readonly rangesGiven: boolean
  readonly retries: number
  readonly stallTimeout: number
  readonly progressInterval: number
}

const DEFAULTS: FileSettings = {
  existing: 'keep',
  resume: true,
  strict: false,
  acceptHtml: false,
  verify: false,
  ranges: 4,
  rangesGiven: false,
  retries: 10,
  stallTimeout: 60_000,
  progressInterval: 200,
}

/** Requests at a time per origin. */
const PER_HOST = 8

/** The world of one download. */
export function downloadContext(
  options: DownloadOptions,
  { folder, record, plan }: Pick<DownloadContext, 'folder' | 'record' | 'plan'>,
  signal: AbortSignal,
  tell: DownloadContext['tell'],
): DownloadContext {
  const { auth, clock = systemClock(), random = Math.random, perHost = PER_HOST, rate, bytesPerSecond } = options
  return {
    folder,
    record,
    plan,
    hashes: new HashThread(),
    origins: new Origins({ concurrency: perHost, ...(rate !== undefined && { rate }) }, clock),
    clock,
    random,
    signal,
    // More requests do not make a file come faster that is held back.
    settings: {
      ...DEFAULTS,
      ...(bytesPerSecond !== undefined && { ranges: 1 }),
      ...settingsIn(options),
      rangesGiven: options.ranges !== undefined,
    },
    bandwidth: bytesPerSecond === undefined ? undefined : new BandwidthLimiter(bytesPerSecond, clock),
    send: (target, headers, signal) => auth.send(target, { headers, signal }),
    tell,
  }
}

/** Those that were given. */
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
 * How requests of a download are retried; `retries` are those that gained no bytes. The budget allows as many as a hundred files, and one
 * more for each that came at once.
 */
export const DOWNLOAD_RETRIES = { ...DELAYS, retries: 10, unresolved: 4, budget: { most: 100, earned: 1 } } satisfies RetryPolicy

/** How requests for a list of objects are retried. */
export const LISTING_RETRIES: RetryPolicy = { ...DELAYS, retries: 4 }

/** How servers are asked about files that are verified. */
export const VERIFY_RETRIES: RetryPolicy = { ...DELAYS, retries: 3 }

/** How much each origin is asked at a time, and how often again. */
class Origins {
  readonly #limiter: OriginLimiter
  readonly #budgets = new Map<string, RetryBudget>()

  constructor(manners: { readonly concurrency: number; readonly rate?: number }, clock: Clock) {
    this.#limiter = new OriginLimiter(manners, clock, () => undefined)
  }

  get limiter(): OriginLimiter {
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

/** Bytes per second that one file should have: servers end connections that nobody reads from for long. */
const SHARE = 131_072

/** How many files at a time a limit leaves enough for, at most so many. */
export function filesWithin(bytesPerSecond: number | undefined, most: number): number {
  return bytesPerSecond === undefined ? most : Math.min(most, Math.max(1, Math.floor(bytesPerSecond / SHARE)))
}

/** Lets so many bytes pass in a second, over all files. */
class BandwidthLimiter {
  readonly #limiter: RateLimiter
  readonly #clock: Clock

  constructor(bytesPerSecond: number, clock: Clock) {
    this.#limiter = new RateLimiter({ requestsPerSecond: bytesPerSecond, burst: 0 })
    this.#clock = clock
  }

  /** Waits until those bytes may have come. Errors: `ABORTED`. */
  async wait(bytes: number, signal: AbortSignal): Promise<void> {
    const wait = this.#limiter.take(this.#clock.now(), bytes)
    if (wait > 0) await sleep(wait, this.#clock, signal)
  }
}

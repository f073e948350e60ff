/** The state that all files of a download share. */

import type { HttpResponse } from '../../http/message.ts'
import { sleep } from '../../net/cancellation.ts'
import { type Clock, systemClock } from '../../net/clock.ts'
import { OriginLimiter, RateLimiter } from '../../net/limiter.ts'
import type { Target } from '../../stac/target.ts'
import type { Destination } from './destination/destination.ts'
import type { DownloadEvent, DownloadOptions } from './download.ts'
import type { FileRecord } from './download-record.ts'
import type { FilePlan } from './file-plan.ts'
import { PREPARED_WITHIN, RetryBudgets } from './retries.ts'

export interface DownloadContext extends SharedContext {
  readonly folder: Destination
  readonly record: FileRecord
  readonly plan: Pick<FilePlan, 'withSuffix'>
  tell(event: DownloadEvent): void
}

/** What needs no destination. */
export interface SharedContext {
  readonly limiter: RequestLimiter
  readonly budgets: RetryBudgets
  readonly clock: Clock
  readonly random: () => number
  /** Aborts everything. */
  readonly signal: AbortSignal
  readonly settings: FileSettings
  send(target: Target, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse>
  /** Waits until so many more bytes are within the limit of all files; absent without a limit. Errors: `ABORTED`. */
  readonly throttle?: (bytes: number, signal: AbortSignal) => Promise<void>
}

/** Limits the requests of each origin. */
export type RequestLimiter = Pick<OriginLimiter, 'enter' | 'leave' | 'succeeded' | 'refused'>

/** The options of a single file, and the sizes in bytes of a file and of its ranges from which and in which it is requested concurrently. */
type FileSettings = typeof DEFAULTS

const DEFAULTS = {
  existing: 'keep' as NonNullable<DownloadOptions['existing']>,
  resume: true,
  strict: false,
  acceptHtml: false,
  trustServer: false,
  wait: PREPARED_WITHIN,
  verify: false,
  ranges: 4,
  largeFrom: 64 * 2 ** 20,
  largestRange: 16 * 2 ** 20,
  retries: 10,
  stallTimeout: 60_000,
  progressInterval: 200,
}

/** Concurrent requests per origin. */
const PER_HOST = 8

/** Returns the state that all files of a download share; `isLocal` is that of their destination. */
export function downloadContext(
  options: DownloadOptions,
  { isLocal, signal, limiter }: Pick<SharedContext, 'signal'> & { readonly isLocal: boolean; readonly limiter?: RequestLimiter },
): SharedContext {
  const { auth, clock = systemClock(), random = Math.random, perHost = PER_HOST, rate, bytesPerSecond } = options
  const given = Object.entries(options).filter(([name, value]) => Object.hasOwn(DEFAULTS, name) && value !== undefined)
  return {
    limiter: limiter ?? new OriginLimiter({ concurrency: perHost, ...(rate !== undefined && { rate }) }, clock, () => undefined),
    signal,
    budgets: new RetryBudgets(),
    clock,
    random,
    settings: {
      ...DEFAULTS,
      // With a byte limit, further requests for one file bring no gain.
      ...(bytesPerSecond !== undefined && { ranges: 1 }),
      ...Object.fromEntries(given),
      ...(!isLocal && { ranges: 1 }),
    },
    send: (target, headers, aborted) => auth.send(target, { headers, signal: aborted }),
    ...(bytesPerSecond !== undefined && { throttle: throttleOf(bytesPerSecond, clock) }),
  }
}

/** Bytes per second that each file should have: servers close connections that are read too slowly. */
const SHARE = 131_072

/** Returns how many concurrent files a byte limit allows. */
export function filesWithin(bytesPerSecond: number | undefined, most: number): number {
  return bytesPerSecond === undefined ? most : Math.min(most, Math.max(1, Math.floor(bytesPerSecond / SHARE)))
}

function throttleOf(bytesPerSecond: number, clock: Clock): NonNullable<DownloadContext['throttle']> {
  const limiter = new RateLimiter({ requestsPerSecond: bytesPerSecond, burst: 0 })
  return async (bytes, signal) => {
    const wait = limiter.take(clock.now(), bytes)
    if (wait > 0) await sleep(wait, clock, signal)
  }
}

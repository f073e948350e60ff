/** What all files of a download share. */

import type { HttpResponse } from '../../http/message.ts'
import { type Clock, systemClock } from '../../net/clock.ts'
import type { Target } from '../../stac/target.ts'
import type { DownloadRecord } from './download-record.ts'
import type { DownloadEvent } from './events.ts'
import type { FilePlan } from './file-plan.ts'
import { HashThread } from './hash-thread.ts'
import type { DownloadOptions } from './options.ts'
import { Origins } from './origins.ts'
import { Pace } from './pace.ts'
import type { TargetFolder } from './target-folder.ts'

export interface World {
  readonly folder: TargetFolder
  readonly record: DownloadRecord
  readonly plan: FilePlan
  readonly hashes: HashThread
  readonly origins: Origins
  readonly clock: Clock
  readonly random: () => number
  /** Ends everything. */
  readonly signal: AbortSignal
  readonly settings: WorldSettings
  /** Slows reading down; undefined without a limit. */
  readonly pace: Pace | undefined
  send(target: Target, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse>
  tell(event: DownloadEvent): void
}

/** The options that a single file is fetched with. */
export interface WorldSettings {
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

const DEFAULTS: WorldSettings = {
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
export function worldOf(
  options: DownloadOptions,
  { folder, record, plan }: Pick<World, 'folder' | 'record' | 'plan'>,
  signal: AbortSignal,
  tell: World['tell'],
): World {
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
    pace: bytesPerSecond === undefined ? undefined : new Pace(bytesPerSecond, clock),
    send: (target, headers, signal) => auth.send(target, { headers, signal }),
    tell,
  }
}

/** Those that were given. */
function settingsIn(options: DownloadOptions): Partial<WorldSettings> {
  const given = Object.entries(options).filter(([name, value]) => Object.hasOwn(DEFAULTS, name) && value !== undefined)
  return Object.fromEntries(given) as Partial<WorldSettings>
}

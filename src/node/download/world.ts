/** What all files of a download share. */
import type { CrawlClock } from '../../crawl/settings.ts'
import type { HttpResponse } from '../../http/message.ts'
import type { Target } from '../../stac/target.ts'
import type { DownloadEvent } from './events.ts'
import type { HashThread } from './hash-thread.ts'
import type { Origins } from './origins.ts'
import type { Pace } from './pace.ts'
import type { TargetFolder } from './target-folder.ts'

export interface World {
  readonly folder: TargetFolder
  readonly hashes: HashThread
  readonly origins: Origins
  readonly clock: CrawlClock
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
  readonly ranges: number
  readonly retries: number
  readonly stallTimeout: number
  readonly progressInterval: number
}

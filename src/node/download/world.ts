/** What all files of a download share. */
import type { HttpResponse } from '../../http/message.ts'
import type { Target } from '../../stac/target.ts'
import type { DownloadEvent } from './events.ts'
import type { TargetFolder } from './target-folder.ts'

export interface World {
  readonly folder: TargetFolder
  readonly existing: 'keep' | 'refuse' | 'replace'
  readonly signal: AbortSignal
  send(target: Target, headers: Readonly<Record<string, string>>): Promise<HttpResponse>
  tell(event: DownloadEvent): void
}

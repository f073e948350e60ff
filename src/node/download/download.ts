/** Fetches the assets of documents into a folder. */

import type { Auth } from '../../auth/auth.ts'
import type { Clock } from '../../net/clock.ts'
import type { Target } from '../../stac/target.ts'
import type { DownloadEvent } from './events.ts'

/**
 * Fetches the assets of documents into a folder, several at a time, and reports events; the summary comes last. A file that fails
 * is an event and stops nothing else. When whoever listens stops, or `signal` aborts, what is there is kept so that the next run can
 * go on with it.
 *
 * Errors: `CONFIG_INVALID` for a wrong template; `FILE_ACCESS`, `PATH_UNSAFE` for the folder; `ABORTED`; what `inputs` throw.
 *
 * @param inputs documents or single targets, read as they are needed
 *
 * @example
 * for await (const event of download([{ document: item, url }], { folder: 'data', auth }))
 *   if (event.kind === 'failed') console.error(event.file.name, event.error.message)
 */
export async function* download(
  inputs: Iterable<DownloadInput> | AsyncIterable<DownloadInput>,
  options: DownloadOptions,
): AsyncGenerator<DownloadEvent, void> {
  // Users of the credentials alone load none of it.
  const { DownloadRun } = await import('./download-run.ts')
  const run = await DownloadRun.prepare(inputs, options)
  const done = run.perform()
  try {
    yield* run.events
  } finally {
    run.stop()
    await done
  }
}

/** A document whose assets are wanted: an Item, a Collection, a Catalog, or a list of them. */
export interface SourceDocument {
  readonly document: object
  /** Where it was read from; the base of relative addresses. */
  readonly url?: string
  /** Documents that may lend their schemes, nearest first. */
  readonly parents?: readonly object[]
}

/** What can be downloaded: a document's assets, or one asset, alternate or link. */
export type DownloadInput = SourceDocument | Target

/** Which assets of a document; what is left out leaves the choice open. An asset must satisfy all that is said. */
export interface AssetChoice {
  /** Keys in `assets`, or globs of keys: `B0*`. */
  readonly keys?: readonly string[]
  /** Keys, or names in URLs, of assets that are left out, or globs of them: `*.xml`. */
  readonly exclude?: readonly string[]
  /** Any of these in `roles`. */
  readonly roles?: readonly string[]
  /** Any of these media types; parameters are ignored, `image/*` stands for all of its kind. */
  readonly types?: readonly string[]
  /** Bytes that a file has at least, by `file:size`, else by the length of the response; one of unknown size is downloaded. */
  readonly minSize?: number
  /** Bytes that it has at most. */
  readonly maxSize?: number
}

/** How files are fetched. */
export interface TransferOptions {
  /** Files at a time; default 16, or as many as `bytesPerSecond` leaves 128 KiB per second for. */
  readonly concurrency?: number
  /** Requests at a time per origin; default 8. Fewer while a server answers 429 or 503. */
  readonly perHost?: number
  /** Requests per second and origin; default: as fast as they are answered. */
  readonly rate?: number
  /** Bytes per second in all; default: as fast as they come. */
  readonly bytesPerSecond?: number
  /**
   * Requests at a time for one file of at least 64 MiB, where its server can give parts; default up to 4, as long as this thread has
   * time for more, with `bytesPerSecond` 1.
   */
  readonly ranges?: number
  /** Attempts in a row that gained nothing before a file is given up; default 10. */
  readonly retries?: number
  /** Milliseconds within which 1 KiB per second must arrive on average; default 60 000. */
  readonly stallTimeout?: number
}

export interface DownloadOptions extends TransferOptions {
  /** Where files go; it must exist, except for a dry run. */
  readonly folder: string
  /** The engine with the user's credentials. Folders of object stores are listed only if it has all of these calls. */
  readonly auth: Pick<Auth, 'send'> & Partial<Pick<Auth, 'authorize' | 'explain' | 'fetch' | 'fetchFor'>>
  readonly assets?: AssetChoice
  /** Names of alternates in the order in which they are tried; default: the asset itself, then its alternates. */
  readonly alternates?: readonly string[]
  /**
   * Names of the files below the folder; default `{id}/{name}`. Fields: `id` and `collection` of the document, `key` of the asset,
   * `name` from its address, in two parts `stem` and `ext` (with its dot), `year`, `month`, `day` of `datetime`, and `local_path`:
   * the `file:local_path` of the asset where it is a relative path that leads nowhere else, otherwise `name`.
   */
  readonly template?: string
  /**
   * What happens to a file that is there: `keep` it if nothing speaks against it (default: size and checksum of the document, and
   * what an earlier run has noted about it), `refuse` with `PATH_EXISTS`, or `replace` it once the new one is complete.
   */
  readonly existing?: 'keep' | 'refuse' | 'replace'
  /** True asks the server about files that are there, and keeps only those that are what it has; see `existing`. */
  readonly verify?: boolean
  /** A file to write what is there after this run: a manifest in NDJSON, one line per file. */
  readonly manifest?: string
  /** Two files of one name: `refuse` the second (default) or `rename` it. */
  readonly collisions?: 'refuse' | 'rename'
  /** Objects of an asset that is a folder of an object store, such as a Zarr store; of a larger folder nothing is fetched. Default 100 000. */
  readonly maxObjects?: number
  /** False begins anew where another run has left a part. */
  readonly resume?: boolean
  /** Only plans: no request is sent and nothing is written. */
  readonly dryRun?: boolean
  /** True writes a copy of each document beside its files, with the addresses of what was downloaded made relative. */
  readonly documents?: boolean
  /**
   * True keeps a web page where the document, the name or the role of a file promises something else, with a warning; otherwise it is
   * `LOGIN_PAGE` or `FILE_INTEGRITY`, and nothing of it is kept.
   */
  readonly acceptHtml?: boolean
  /** True refuses what otherwise is a warning: a body in an unknown coding, and a web page of another host where nothing is promised. */
  readonly strict?: boolean
  readonly signal?: AbortSignal
  /** Milliseconds between two events about the progress of a file; default 200. */
  readonly progressInterval?: number
  readonly clock?: Clock
  /** From 0 to 1, for pauses. */
  readonly random?: () => number
}

/** Fetches the assets of documents into a folder; its options and events. */

import type { Auth } from '../../auth/auth.ts'
import type { AuthError, ErrorCode } from '../../errors.ts'
import type { Clock } from '../../net/clock.ts'
import type { Target } from '../../stac/target.ts'
import type { Unverified } from './manifest.ts'

/**
 * Fetches the assets of documents into a folder, several at a time, and yields events; the last one is the summary. A failed file is an
 * event and does not stop the others. When the caller stops iterating or `signal` aborts, partial files are kept for the next run.
 *
 * Errors: `CONFIG_INVALID` for invalid options and inputs; `FILE_ACCESS`, `PATH_UNSAFE` for the folder; `USAGE`, `CREDENTIAL_SOURCE`,
 * `SCHEME_UNSUPPORTED` for a bucket; `ABORTED`; those of `inputs`.
 *
 * @param inputs documents or single targets, read when they are needed
 *
 * @example
 * for await (const event of download([{ document: item, url }], { folder: 'data', auth }))
 *   if (event.kind === 'failed') console.error(event.file.name, event.error.message)
 */
export async function* download(
  inputs: Iterable<DownloadInput> | AsyncIterable<DownloadInput>,
  options: DownloadOptions,
): AsyncGenerator<DownloadEvent, void> {
  // Lazy: programs that only read credentials from `stac-auth/node` do not load it.
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

/** A document whose assets are downloaded: an Item, a Collection, a Catalog, or a list of them. */
export interface SourceDocument {
  /** The parsed document. */
  readonly document: object
  /** The URL or path that it was read from: the base of relative URLs. */
  readonly url?: string
  /** Parent documents whose schemes may be used, nearest first. */
  readonly parents?: readonly object[]
}

/** A document, or one asset, alternate or link. */
export type DownloadInput = SourceDocument | Target

/** Selects assets of a document. An asset must match all fields that are given. */
export interface AssetChoice {
  /** Keys in `assets`, or globs of keys: `B0*`. */
  readonly keys?: readonly string[]
  /** Keys, file names in URLs of the asset and its alternates, or globs of either: `*.jp2`. */
  readonly include?: readonly string[]
  /** Assets to leave out: keys, file names in URLs, or globs of either: `*.xml`. */
  readonly exclude?: readonly string[]
  /** One of these in `roles`. */
  readonly roles?: readonly string[]
  /** One of these media types; parameters are ignored, `image/*` matches all images. */
  readonly types?: readonly string[]
  /** Smallest size in bytes, by `file:size`, else by the length of the response. A file of unknown size is downloaded. */
  readonly minSize?: number
  /** Largest size in bytes, as `minSize`. */
  readonly maxSize?: number
}

/** Limits of the requests. */
export interface TransferOptions {
  /** Concurrent files; default 16, or fewer with `bytesPerSecond`, so that each has 128 KiB per second. */
  readonly concurrency?: number
  /** Concurrent requests per origin; default 8. Lowered while a server responds with 429 or 503. */
  readonly perHost?: number
  /** Requests per second and origin; default: unlimited. */
  readonly rate?: number
  /** Bytes per second of all files together; default: unlimited. */
  readonly bytesPerSecond?: number
  /**
   * Concurrent range requests for one file of at least 64 MiB, where its server supports them; default up to 4, or 1 with
   * `bytesPerSecond`.
   */
  readonly ranges?: number
  /** Consecutive retries without a new byte after which a file fails; default 10. */
  readonly retries?: number
  /** Milliseconds over which at least 1 KiB per second must arrive on average, at most a week; default 60 000. */
  readonly stallTimeout?: number
}

/** Options of `download`. */
export interface DownloadOptions extends TransferOptions {
  /**
   * The target folder; it must exist, except for a dry run. Or `s3://bucket/prefix`, a bucket of the user's: files go there without a copy on
   * the disk, with the keys, region and endpoint that the AWS SDK finds in the environment and in profiles. It needs the packages
   * `@aws-sdk/client-s3` and `@aws-sdk/lib-storage`.
   */
  readonly folder: string
  /** The engine with the user's credentials. Folders of object stores are listed only if it has all of these methods. */
  readonly auth: Pick<Auth, 'send'> & Partial<Pick<Auth, 'authorize' | 'explain' | 'fetch' | 'fetchFor'>>
  /** Which assets are downloaded; default: all. */
  readonly assets?: AssetChoice
  /** Names of alternates in the order of preference; default: the asset itself, then its alternates. */
  readonly alternates?: readonly string[]
  /**
   * Template of the file names below the folder; default `{id}/{name}`. Fields: `id` and `collection` of the document, `key` of the asset,
   * `name` from its URL, also in two parts `stem` and `ext` (with its dot), `year`, `month`, `day` of `datetime`, and `local_path`:
   * the `file:local_path` of the asset if it is a relative path below the folder, otherwise `name`.
   */
  readonly template?: string
  /**
   * How to treat an existing file: `keep` it if it agrees with the size and checksum of the document and with the manifest of earlier runs
   * (default), `refuse` it with `PATH_EXISTS`, or `replace` it once the new one is complete.
   */
  readonly existing?: 'keep' | 'refuse' | 'replace'
  /** True compares existing files with the server as well, and keeps only those that are equal; see `existing`. */
  readonly verify?: boolean
  /** Path of a manifest to write after the run: NDJSON, one line per file of the folder. */
  readonly manifest?: string
  /** How to treat a second file of the same name: `refuse` (default) or `rename` it. */
  readonly collisions?: 'refuse' | 'rename'
  /** Most objects of an asset that is a folder of an object store, such as a Zarr store; a larger one fails. Default 100 000. */
  readonly maxObjects?: number
  /** False restarts files of which an earlier run has left a part. */
  readonly resume?: boolean
  /** True only plans: sends no request and writes nothing. */
  readonly dryRun?: boolean
  /** True writes a copy of each document beside its files, in which the URLs of downloaded files are relative paths. */
  readonly documents?: boolean
  /**
   * True saves an HTML page with a warning although the document, the name or the role of the file expects something else; by default it
   * fails with `LOGIN_PAGE` or `FILE_INTEGRITY` and is not saved.
   */
  readonly acceptHtml?: boolean
  /**
   * True keeps a file whose size, checksum or format is another one than its document states, with a warning; the manifest records it as
   * unverified. By default it fails with `FILE_INTEGRITY`. A web page is not accepted, nor what differs from the hash of the server.
   */
  readonly trustServer?: boolean
  /** Milliseconds in all to wait for a file that its server is still preparing (202), at most a week; default 600 000. */
  readonly wait?: number
  /** True fails instead of warning for an unknown content coding, and for an HTML page of another host where nothing else is expected. */
  readonly strict?: boolean
  /**
   * Returns a document of the inputs as it is now, for files whose signed URL has expired: they continue with the URL that it has for the
   * same asset, which is checked like the first one. Not called for the workers of a queue. Default: such files fail.
   */
  readonly reread?: (source: SourceDocument) => Promise<SourceDocument | undefined>
  /** Ends the run with `ABORTED`; incomplete files can be resumed. */
  readonly signal?: AbortSignal
  /** Milliseconds between two progress events of a file; default 200. */
  readonly progressInterval?: number
  /** The time, for tests; default: that of the platform. */
  readonly clock?: Clock
  /** Returns a number from 0 up to, not including, 1, for jitter. */
  readonly random?: () => number
}

/** One file to download. */
export interface DownloadFile {
  /** From 1, in the order of planning. */
  readonly number: number
  /**
   * Path below the folder, with `/` as separator. A name planned without an extension may have one in `written` and `kept`: the one that the
   * server proposes.
   */
  readonly name: string
  /** Path in the file system, or the URL of the object. */
  readonly path: string
  /** Origin and path of the first request. */
  readonly url: string
  /** JSON pointer of the target in the input. */
  readonly pointer: string
  /** `id` of the document. */
  readonly document?: string
  /** Key of the asset. */
  readonly key?: string
  /** Size in bytes by the document (`file:size`). */
  readonly size?: number
  /** True in a dry run for a folder of an object store, which is not listed. */
  readonly folder?: true
}

/**
 * What was compared: a hash (`checksum` of the document, `digest` of the server), a size, the length of the response; for an existing
 * file, the entry of an earlier run (`manifest`) and what the server says now (`server`).
 */
export type Verification = 'checksum' | 'digest' | 'size' | 'length' | 'manifest' | 'server'

/** What events of files have in common. */
export interface FileEvent {
  /** The file. */
  readonly file: DownloadFile
}

/** The first event of every file. */
export interface PlannedEvent extends FileEvent {
  readonly kind: 'planned'
}

/** The response of a file has begun. */
export interface StartedEvent extends FileEvent {
  readonly kind: 'started'
  /** Size of the file in bytes, if known. */
  readonly size?: number
  /** Bytes resumed from an earlier run. */
  readonly resumed: number
}

/** Bytes received so far; fewer than before after a restart. */
export interface ProgressEvent extends FileEvent {
  readonly kind: 'progress'
  /** Bytes that are there, those of earlier runs included. */
  readonly bytes: number
  /** All bytes of the file; absent when unknown. */
  readonly size?: number
}

/** The file is requested again after that many milliseconds. */
export interface RetryEvent extends FileEvent {
  readonly kind: 'retry'
  /** What ended the attempt. */
  readonly error: AuthError
  /** Milliseconds until the next attempt. */
  readonly delay: number
  /** Consecutive attempts without a new byte. */
  readonly attempt: number
}

/** A warning: `CONTENT_TYPE_UNEXPECTED`, `CONTENT_CODING_UNKNOWN`, `CHECKSUM_UNSUPPORTED`; with `trustServer` also `FILE_INTEGRITY`. */
export interface WarningEvent extends FileEvent {
  readonly kind: 'warning'
  /** The stable reason. */
  readonly code: ErrorCode
  /** The text for people. */
  readonly message: string
}

/** The file is complete and has its final name. */
export interface WrittenEvent extends FileEvent {
  readonly kind: 'written'
  /** Size of the file in bytes. */
  readonly bytes: number
  /** Bytes received over the network for it in this run. */
  readonly received: number
  /** Present if a worker of a queue has died: what it received in its last second is not counted. */
  readonly uncounted?: true
  /** What it agreed with. */
  readonly verified: readonly Verification[]
  /** What differs from its document, with `trustServer`. */
  readonly unverified?: readonly Unverified[]
}

/** The file exists already and was kept. */
export interface KeptEvent extends FileEvent {
  readonly kind: 'kept'
  /** Its size in bytes. */
  readonly bytes: number
  /** What it agreed with. */
  readonly verified: readonly Verification[]
}

/** A file failed; the others go on. */
export interface FailedEvent extends FileEvent {
  readonly kind: 'failed'
  /** Why it is not there. */
  readonly error: AuthError
  /** Bytes received over the network for it in this run. */
  readonly received: number
  /** Present if a worker of a queue has died: what it received in its last second is not counted. */
  readonly uncounted?: true
  /** Bytes kept for the next run. */
  readonly resumable: number
}

/**
 * The file was left out because the size of its response is outside `assets.minSize` and `assets.maxSize`; or a chunk of a Zarr store is not
 * there, which stands for fill values.
 */
export interface SkippedEvent extends FileEvent {
  readonly kind: 'skipped'
  /** Size of the file in bytes; 0 for a missing chunk. */
  readonly size: number
  /** Bytes received over the network for it in this run. */
  readonly received: number
  /** Present if a worker of a queue has died: what it received in its last second is not counted. */
  readonly uncounted?: true
}

/** A copy of a document was written, or has failed. */
export interface DocumentEvent {
  readonly kind: 'document'
  /** Path in the file system. */
  readonly path: string
  /** The `id` of the document. */
  readonly id?: string
  /** Why the copy could not be written. */
  readonly error?: AuthError
}

/** The last event, also of an aborted download. */
export interface SummaryEvent {
  readonly kind: 'summary'
  /** Planned files: each was written, kept, skipped or failed, except in a dry run or an aborted download. */
  readonly files: number
  /** Files that were downloaded. */
  readonly written: number
  /** Files that were there already. */
  readonly kept: number
  /** Files that are not there. */
  readonly failed: number
  /** Files left out because of the size of their response; those left out by `file:size` are not planned. */
  readonly skipped: number
  /** Written copies of documents. */
  readonly documents: number
  /** Bytes of all files written and kept. */
  readonly bytes: number
  /** Bytes received over the network in this run. */
  readonly received: number
  /** Present if `received` does not count all bytes of a worker that has died. */
  readonly uncounted?: true
  /** Attempts after the first ones. */
  readonly retries: number
  /** Time of the run. */
  readonly milliseconds: number
  /** Why no further file was started: no space is left, or `signal` has aborted. */
  readonly stopped?: AuthError
}

/** An event of a download, by its `kind`; the summary comes last. */
export type DownloadEvent =
  | PlannedEvent
  | StartedEvent
  | ProgressEvent
  | RetryEvent
  | WarningEvent
  | WrittenEvent
  | KeptEvent
  | FailedEvent
  | SkippedEvent
  | DocumentEvent
  | SummaryEvent

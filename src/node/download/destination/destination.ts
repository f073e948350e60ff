/** Where downloaded files go: a folder on the disk, or a bucket of an object store. */

import type { WaitOptions } from '../../base/process-lock.ts'
import type { HashThread } from '../hash-thread.ts'
import type { ManifestStore } from '../manifest.ts'
import type { PartVersion, Span } from '../part-journal.ts'
import { TargetFolder } from './target-folder.ts'

export interface Destination {
  /** The real path without links, or `s3://bucket/prefix`. */
  readonly path: string
  /** False for a bucket, which takes the bytes of a file in their order and cannot rename it: one request for each file, and no suffixes. */
  readonly isLocal: boolean
  /** The record of all files that were downloaded to here. */
  readonly manifest: ManifestStore
  /** Returns the path of a file. Errors: `PATH_UNSAFE` for a segment that is not a plain name. */
  pathOf(segments: readonly string[]): string
  /** Makes room for a file. Returns whether an earlier run has left a part of it. Errors: `PATH_UNSAFE`, `FILE_ACCESS`, `DISK_FULL`. */
  prepare(path: string): Promise<{ readonly hasPart: boolean }>
  /** Returns a file; undefined if nothing exists. Errors: `PATH_UNSAFE` for anything that is not a file, `FILE_ACCESS`. */
  present(path: string): Promise<PresentFile | undefined>
  /** Returns the hash of a file in lower-case hex. Errors: `FILE_ACCESS`. */
  digest(path: string, algorithm: string): Promise<string>
  /** Returns the first bytes of a file, at most that many. Errors: `FILE_ACCESS`. */
  head(path: string, bytes: number): Promise<Uint8Array>
  /** Begins a file. Errors: `PATH_BUSY`, `PATH_UNSAFE`, `FILE_ACCESS`, `DISK_FULL`. */
  open(path: string, hashes: HashThread, options: OpenOptions): Promise<Content>
  /** Returns the text of a file of stac-auth itself; undefined if it does not exist. Errors: `FILE_ACCESS`. */
  readOwn(name: string, most: number): Promise<string | undefined>
  /** Creates such a file; returns false if it has to be read, because it exists or another process may have been first. Errors: `PATH_UNSAFE`, `FILE_ACCESS`, `DISK_FULL`. */
  createOwn(name: string, text: string): Promise<boolean>
  /** Makes new names durable. */
  sync(): Promise<void>
  /** Returns the same destination, which looks again for what other processes have left there. */
  again(): Promise<Destination>
}

/** A file that exists. */
export interface PresentFile {
  readonly size: number
  /** Time of the last modification, epoch milliseconds. */
  readonly modified: number
}

export interface OpenOptions {
  /** True if an earlier run has left a part. */
  readonly taken: boolean
  /** False discards its content. */
  readonly resume: boolean
  /** Whether to wait for another process that holds it. */
  readonly wait?: WaitOptions
}

/** The received bytes of a file. */
export interface Content {
  /** The version of the bytes, if it can be requested again. */
  readonly version: PartVersion | undefined
  /** The bytes from the beginning without a gap. */
  readonly length: number
  /** All received bytes, including those after a gap. */
  readonly total: number
  /** Returns the missing ranges of a file of that size. */
  missing(size: number): readonly Span[]
  /** Sets the version and size of the following bytes. Errors: those of writing. */
  begin(version: PartVersion | undefined, size: number | undefined): Promise<void>
  /** Discards all bytes. */
  reset(): Promise<void>
  /** Appends bytes; returns a promise if the caller has to wait before it appends more. Errors: those of writing. */
  add(chunk: Uint8Array): Promise<void> | undefined
  /** Writes the buffered bytes. Errors: those of writing. */
  flush(): Promise<void>
  /** Prepares for bytes at any offset, where the destination allows several ranges. Errors: those of writing. */
  spread(): Promise<void>
  /** Writes bytes at an offset. Errors: those of writing. */
  writeAt(offset: number, chunks: readonly Uint8Array[]): Promise<void>
  /** False if bytes have passed that a hash would need. */
  canHash(algorithm: string): boolean
  /** Starts a hash. */
  expect(algorithm: string): void
  /** Returns the digest of the complete file in hex. Errors: `FILE_ACCESS`. */
  digest(algorithm: string): Promise<string>
  /** Names the file, which may have a suffix that its part lacks. Errors: those of writing, `PATH_EXISTS`. */
  complete(replace: boolean, path?: string): Promise<void>
  /** Ends without a file: keeps a part if another run can resume it. Throws nothing. Returns the number of kept bytes. */
  close(keep: boolean): Promise<number>
}

/**
 * Opens a folder, or the bucket of a URL `s3://bucket/prefix`.
 *
 * @param mayBeMissing whether a folder need not exist
 *
 * Errors: `FILE_ACCESS`, `PATH_UNSAFE` for a folder, `USAGE` for a malformed URL.
 */
export async function openDestination(name: string, mayBeMissing = false): Promise<Destination> {
  if (!/^s3:\/\//i.test(name)) return TargetFolder.open(name, mayBeMissing)
  const { TargetBucket } = await import('./target-bucket.ts')
  return new TargetBucket(name)
}

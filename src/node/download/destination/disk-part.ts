/** The received bytes of a file on the disk. */
import { createHash, type Hash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { IntegrityError, isAuthError } from '../../../errors.ts'
import { checkFolder, presentFile, renameWhenFree } from '../../base/files.ts'
import { type Lease, tryLock, type WaitOptions } from '../../base/process-lock.ts'
import { fileAppeared, readFailure, systemCode, writeFailure } from '../../base/system-error.ts'
import type { OpenOptions, Part } from './destination.ts'
import { PartJournal, type PartRecord, type PartVersion, readPartJournal, type Span, Spans } from './part-journal.ts'
import { writeSmallFile } from './small-file.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_RDWR } = constants

/** Size in bytes up to which a file is written at once. */
const SMALL = 2 ** 20

/** Bytes of each write of a larger one: a killed process has lost no more. */
const PIECE = 2 ** 19

/** Bytes that a hash reads back after each write, so that it catches up with the bytes of an earlier run while more arrive. */
const READ_BACK = 4 * PIECE

/** Bytes after which a sync is started. */
const SYNCED = 32 * 2 ** 20

/** Consecutive bytes that are not written yet. */
interface Run {
  readonly start: number
  readonly chunks: Uint8Array[]
  size: number
}

/** The partial file `.part`, with its lock `.part.lock` and its journal `.part.json`. */
interface PartFiles {
  readonly lease: Lease
  journal: PartJournal
  handle: FileHandle
}

/**
 * The bytes of a file: in memory while they are few, then in a partial file beside the final name, hashed while it grows.
 *
 * Two processes never combine their bytes, even if a lock is lost: a process that lost it notices before it writes, renames or removes
 * anything. If it is suspended in between, it can only write bytes of its own version at their offsets into the old file, because a new holder
 * creates new files.
 */
export class DiskPart implements Part {
  readonly #path: string
  readonly #wait: WaitOptions
  /** Undefined while all bytes are in memory. */
  #files: PartFiles | undefined
  #version: PartVersion | undefined
  /** All bytes; those that are written; and those that a sync has made durable. */
  #received = new Spans()
  #written = new Spans()
  #durable = new Spans()
  /** Bytes in memory, by the offset at which they end. */
  readonly #runs = new Map<number, Run>()
  #writing: Promise<void> = Promise.resolve()
  readonly #hashes = new Map<string, PrefixHash>()
  /** Bytes written since the last sync, and the sync in progress. */
  #unsynced = 0
  #syncing: Promise<void> | undefined
  /** The system reports a failed write-back only once. */
  #unwritten: unknown

  private constructor(path: string, wait: WaitOptions) {
    this.#path = path
    this.#wait = wait
  }

  /**
   * Opens the part that an earlier run has left, or begins an empty one.
   *
   * Errors: `PATH_BUSY` if another process holds it or it is not ours, `PATH_UNSAFE`, `FILE_ACCESS`, `DISK_FULL`.
   */
  static async open(path: string, { taken, resume, wait = {} }: OpenOptions): Promise<DiskPart> {
    const part = new DiskPart(path, wait)
    if (!taken) return part
    const { files, found } = await openFiles(path, wait)
    part.#files = files
    if (!found) return part
    part.#version = found.version
    part.#written = found.spans
    part.#received = found.spans.copy()
    part.#durable = found.spans.copy()
    if (!resume) await part.reset()
    return part
  }

  get version(): PartVersion | undefined {
    return this.#version
  }

  get length(): number {
    return this.#received.prefix
  }

  get total(): number {
    return this.#received.total
  }

  missing(size: number): readonly Span[] {
    return this.#received.missing(size)
  }

  async begin(version: PartVersion | undefined, size: number | undefined): Promise<void> {
    if (size !== undefined && size > SMALL) await this.#toDisk()
    if (version && version !== this.#version) this.#journaled((journal) => journal.begin(version))
    this.#version = version
  }

  /** Restarts, with a new file. Errors: `PATH_BUSY` if another process took the part over, `FILE_ACCESS`, `DISK_FULL`. */
  async reset(): Promise<void> {
    await this.#settled()
    this.#writing = Promise.resolve()
    this.#runs.clear()
    this.#hashes.clear()
    this.#version = undefined
    this.#received = new Spans()
    if (this.#files) await this.#restart(this.#files)
  }

  write(offset: number, chunk: Uint8Array): Promise<void> | undefined {
    const run = this.#runs.get(offset) ?? { start: offset, chunks: [], size: 0 }
    const end = offset + chunk.byteLength
    this.#runs.delete(offset)
    this.#runs.set(end, run)
    run.chunks.push(chunk)
    run.size += chunk.byteLength
    this.#received.add(offset, end)
    for (const hash of this.#hashes.values()) hash.add(offset, chunk)
    if (run.size < (this.#files ? PIECE : SMALL)) return undefined
    // One run is written while the next one is received.
    const before = this.#writing
    this.#spill(end, run)
    return before
  }

  async flush(): Promise<void> {
    await this.#writing
    if (!this.#files) return
    for (const [end, run] of this.#runs) this.#spill(end, run)
    await this.#writing
  }

  hash(algorithm: string): true {
    if (!this.#hashes.has(algorithm)) this.#hashes.set(algorithm, new PrefixHash(algorithm))
    return true
  }

  async digest(algorithm: string): Promise<string> {
    const hash = this.#hashes.get(algorithm) ?? new PrefixHash(algorithm)
    if (this.#files) await this.#readBack(hash, this.#files.handle, this.length)
    else for (const chunk of hash.isEmpty ? this.#inMemory : []) hash.append(chunk)
    return hash.digest()
  }

  /**
   * Gives the file its final name: syncs a partial file first, and removes lock and journal.
   *
   * Errors: `PATH_EXISTS` if another file appeared there, `PATH_BUSY` if another process took the part over, `PATH_UNSAFE`, `DISK_FULL`,
   * `FILE_ACCESS`.
   */
  async complete(replace: boolean, path = this.#path): Promise<void> {
    const files = this.#files
    if (!files) return writeSmallFile(path, this.#inMemory, replace, this.#path)
    try {
      await this.#settled()
      if (this.#unwritten === undefined) await files.handle.sync().catch(this.#lose)
      if (this.#unwritten !== undefined) throw this.#unwritten
      checkFolder(path)
      if (presentFile(path) && !replace) throw fileAppeared(path)
      const { ino } = await files.handle.stat()
      if (!(await files.lease.confirm()) || presentFile(partOf(this.#path))?.ino !== ino) throw lost(this.#path)
      await files.handle.close()
      await renameWhenFree(partOf(this.#path), path)
      files.journal.remove()
      await files.lease.release()
    } catch (error) {
      throw writeError(error, this.#path)
    }
  }

  async close(keep: boolean): Promise<number> {
    await this.flush().catch(() => undefined)
    await this.#settled()
    const files = this.#files
    if (!files) return 0
    const { lease, journal } = files
    // After a failed sync only the bytes of an earlier one count: the system does not say which ones it lost.
    const kept = this.#unwritten === undefined ? this.#written : this.#durable
    const isKept = keep && this.#version !== undefined && kept.total > 0 && this.#isJournalOf(kept, journal)
    await files.handle.close().catch(() => undefined)
    if (isKept) journal.close()
    else if (!(await lease.confirm())) {
      journal.close()
      return 0
    } else {
      await rm(partOf(this.#path), { force: true }).catch(() => undefined)
      journal.remove()
    }
    await lease.release()
    return isKept ? kept.total : 0
  }

  /** The chunks of a file of which nothing is on the disk. */
  get #inMemory(): readonly Uint8Array[] {
    return [...this.#runs.values()].flatMap(({ chunks }) => chunks)
  }

  /** Records once more which bytes are there if some were lost. Returns false if it cannot. */
  #isJournalOf(kept: Spans, journal: PartJournal): boolean {
    try {
      if (kept === this.#durable) {
        journal.begin(this.#version)
        for (const span of kept) journal.add(span)
      }
      return true
    } catch {
      return false
    }
  }

  #journaled(work: (journal: PartJournal) => void): void {
    try {
      if (this.#files) work(this.#files.journal)
    } catch (error) {
      throw writeError(error, this.#path)
    }
  }

  /** Returns the partial file; switches to one if there is none. Errors: as {@link open}. */
  async #toDisk(): Promise<PartFiles> {
    if (this.#files) return this.#files
    const { files, found } = await openFiles(this.#path, this.#wait)
    if (found) await this.#restart(files)
    this.#files = files
    const version = this.#version
    if (version) this.#journaled((journal) => journal.begin(version))
    return files
  }

  /** Replaces the files with new ones. Errors: `PATH_BUSY` if another process took them over, `FILE_ACCESS`, `DISK_FULL`. */
  async #restart(files: PartFiles): Promise<void> {
    if (!(await files.lease.confirm())) throw lost(this.#path)
    this.#written = new Spans()
    this.#durable = new Spans()
    this.#unwritten = undefined
    this.#unsynced = 0
    try {
      await rm(partOf(this.#path), { force: true })
      files.journal.remove()
      files.journal = newJournal(this.#path)
      const old = files.handle
      files.handle = await openPart(this.#path, true)
      await old.close()
    } catch (error) {
      throw writeError(error, this.#path)
    }
  }

  #spill(end: number, run: Run): void {
    this.#runs.delete(end)
    this.#writing = this.#writing.then(async () => {
      const files = await this.#toDisk()
      await this.#writeOut(files, run.start, run.chunks)
      for (const hash of this.#hashes.values()) await this.#readBack(hash, files.handle, this.#written.prefix, READ_BACK)
    })
    // The next write or wait reports it.
    this.#writing.catch(() => undefined)
  }

  /** Errors: `PATH_BUSY` if another process took the part over, `DISK_FULL`, `FILE_ACCESS`. */
  async #writeOut({ lease, handle }: Pick<PartFiles, 'lease' | 'handle'>, offset: number, chunks: readonly Uint8Array[]): Promise<void> {
    if (this.#unwritten !== undefined) throw writeError(this.#unwritten, this.#path)
    if (!lease.isFresh && !(await lease.confirm())) throw lost(this.#path)
    const { bytesWritten } = await handle.writev(chunks, offset).catch((error) => {
      throw writeError(error, this.#path)
    })
    const end = offset + bytesWritten
    this.#journaled((journal) => journal.add([offset, end]))
    this.#written.add(offset, end)
    this.#unsynced += bytesWritten
    if (this.#unsynced >= SYNCED && !this.#syncing) this.#sync(handle)
    // A full disk may accept a part of the bytes first.
    const unwritten = rest(chunks, bytesWritten)
    if (unwritten.length > 0) await this.#writeOut({ lease, handle }, end, unwritten)
  }

  /** Syncs while more bytes arrive, so that the final sync is short. */
  #sync(handle: FileHandle): void {
    this.#unsynced = 0
    const durable = this.#written.copy()
    this.#syncing = handle
      .datasync()
      .then(() => {
        this.#durable = durable
      }, this.#lose)
      .finally(() => {
        this.#syncing = undefined
      })
  }

  readonly #lose = (error: unknown): void => {
    this.#unwritten ??= error
  }

  /** Waits for everything that uses the files. Throws nothing. */
  async #settled(): Promise<void> {
    await this.#writing.catch(() => undefined)
    await this.#syncing
  }

  /** Errors: `FILE_ACCESS`, also for a file that ends early. */
  async #readBack(hash: PrefixHash, file: FileHandle, end: number, most?: number): Promise<void> {
    await hash.read(file, end, most).catch((error) => {
      throw readFailure(error, this.#path)
    })
  }
}

/** The hash of the bytes from the beginning: in memory if they arrive in order, otherwise read from the file. */
class PrefixHash {
  readonly #hash: Hash
  #at = 0

  constructor(algorithm: string) {
    this.#hash = createHash(algorithm)
  }

  get isEmpty(): boolean {
    return this.#at === 0
  }

  /** Adds received bytes if they are the next ones. */
  add(offset: number, chunk: Uint8Array): void {
    if (offset === this.#at) this.append(chunk)
  }

  append(chunk: Uint8Array): void {
    this.#hash.update(chunk)
    this.#at += chunk.byteLength
  }

  /** Adds what is written before an offset, at most that many bytes. Errors: those of reading. */
  async read(file: FileHandle, end: number, most = Number.POSITIVE_INFINITY): Promise<void> {
    const stop = Math.min(end, this.#at + most)
    if (this.#at >= stop) return
    const buffer = Buffer.allocUnsafe(Math.min(PIECE, stop - this.#at))
    while (this.#at < stop) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, stop - this.#at), this.#at)
      if (bytesRead === 0) throw Object.assign(new Error('the file ended early'), { code: 'EIO' })
      this.append(buffer.subarray(0, bytesRead))
    }
  }

  /** Returns the hash so far in lower-case hex. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }
}

/**
 * Creates the files of a part, or opens those that an earlier run has left.
 *
 * Errors: `PATH_BUSY` if another process holds them or they are not ours, `PATH_UNSAFE`, `FILE_ACCESS`, `DISK_FULL`.
 */
async function openFiles(path: string, wait: WaitOptions): Promise<{ readonly files: PartFiles; readonly found?: PartRecord }> {
  checkFolder(path)
  const lease = await tryLock(lockOf(path), { ...wait, file: path }).catch((error) => {
    throw isAuthError(error) && error.code === 'CACHE_UNSAFE'
      ? busy(path, 'the path of its lock is taken by something else', removalOf(lockOf(path)))
      : writeError(error, path)
  })
  if (!lease) throw busy(path, 'another process is downloading it', `wait for that process; if there is none, remove "${lockOf(path)}"`)
  try {
    const present = presentFile(partOf(path))
    const record = await recordOf(path, present)
    const left = record?.version && present && { ...record, spans: record.spans.within(present.size) }
    const found = left && left.spans.total > 0 ? left : undefined
    // A holder that lost its lock may have the old files open: it must not write into the new ones.
    if (record && !found) await removeAll(path)
    const journal = found ? new PartJournal(journalOf(path)) : newJournal(path)
    let handle: FileHandle | undefined
    try {
      handle = await openPart(path, found === undefined)
      // The bytes of a killed process may not be durable yet. From here on it is known.
      if (found) await handle.datasync()
      return { files: { lease, journal, handle }, ...(found && { found }) }
    } catch (error) {
      await handle?.close()
      if (found) journal.close()
      else journal.remove()
      throw error
    }
  } catch (error) {
    await lease.release()
    throw writeError(error, path)
  }
}

/** A failed creation leaves nothing. Errors: those of the system. */
function newJournal(path: string): PartJournal {
  const journal = new PartJournal(journalOf(path))
  try {
    journal.begin(undefined)
  } catch (error) {
    journal.remove()
    throw error
  }
  return journal
}

function openPart(path: string, isNew: boolean): Promise<FileHandle> {
  return open(partOf(path), O_RDWR | O_NOFOLLOW | (isNew ? O_CREAT | O_EXCL : 0), 0o666)
}

async function removeAll(path: string): Promise<void> {
  await rm(partOf(path), { force: true })
  await rm(journalOf(path), { force: true })
}

/** Returns `PATH_BUSY` for a part that another process took over because this one sent no heartbeat. */
function lost(path: string): IntegrityError {
  return busy(path, 'another process took it over because this one was suspended for too long', 'wait for that process')
}

/** Returns what an earlier run has left. Errors: `PATH_BUSY` for files that are not ours. */
async function recordOf(path: string, present: Stats | undefined): Promise<PartRecord | undefined> {
  const record = await readPartJournal(journalOf(path))
  if (record) return record
  // The journal is created before its part, so a part without one belongs to another program.
  if (present) throw busy(path, 'its partial file exists and is not from stac-auth')
  // A part that was never started is empty.
  if (presentFile(journalOf(path))?.size) throw busy(path, 'the path of its journal is taken by something else', removalOf(journalOf(path)))
  return undefined
}

/** Returns `PATH_BUSY` with the obstacle. */
function busy(path: string, why: string, hint = removalOf(partOf(path))): IntegrityError {
  return new IntegrityError('PATH_BUSY', `"${path}" cannot be downloaded: ${why}`, { hint })
}

function removalOf(place: string): string {
  return `remove "${place}" if no other process uses it`
}

function writeError(error: unknown, path: string): Error {
  if (isAuthError(error)) return error
  // A link in place of the part or of its journal.
  if (systemCode(error) === 'ELOOP') return busy(path, 'its partial file is a link')
  return writeFailure(error, `"${path}"`)
}

function rest(chunks: readonly Uint8Array[], written: number): readonly Uint8Array[] {
  let left = written
  return chunks.flatMap((chunk) => {
    const skipped = Math.min(left, chunk.byteLength)
    left -= skipped
    return skipped < chunk.byteLength ? [chunk.subarray(skipped)] : []
  })
}

function partOf(path: string): string {
  return `${path}.part`
}

function journalOf(path: string): string {
  return `${path}.part.json`
}

function lockOf(path: string): string {
  return `${path}.part.lock`
}

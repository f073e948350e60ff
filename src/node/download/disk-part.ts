/** A partial file: `.part` beside the final name, with a lock and a journal beside it. */
import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { IntegrityError, isAuthError } from '../../errors.ts'
import { checkFolder, presentFile, renameWhenFree } from '../base/files.ts'
import { type Lease, tryLock, type WaitOptions } from '../base/process-lock.ts'
import { fileAppeared, systemCode, writeFailure } from '../base/system-error.ts'
import { PartJournal, type PartRecord, type PartVersion, readPartJournal, type Span, Spans } from './part-journal.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_RDWR } = constants

/** Bytes after which a sync is started. */
const SYNCED = 32 * 2 ** 20

/** The state that a sync has made durable. */
interface Durable {
  readonly spans: Spans
  /** Length of its journal in bytes. */
  readonly length: number
}

/**
 * Two processes never combine their bytes, even if a lock is lost: a process that lost it notices before it writes, renames or removes
 * anything. If it is suspended in between, it can only write bytes of its own version at their offsets into the old file, because a new holder
 * creates new files.
 */
export class DiskPart {
  /** The resumable state that an earlier run has left. */
  readonly found: PartRecord | undefined
  readonly #path: string
  readonly #lease: Lease
  readonly #journal: PartJournal
  #file: FileHandle
  #spans: Spans
  /** Bytes written since the last sync, and the sync in progress. */
  #unsynced = 0
  #syncing: Promise<void> | undefined
  #durable: Durable | undefined
  /** The system reports a failed write-back only once. */
  #unwritten: unknown

  private constructor(path: string, { file, lease, journal, found }: Opened) {
    this.#path = path
    this.#file = file
    this.#lease = lease
    this.#journal = journal
    this.found = found
    this.#spans = found?.spans ?? new Spans()
    if (found) this.#durable = { spans: new Spans(found.spans.toJSON()), length: journal.length }
  }

  /**
   * Creates the part, or opens one that an earlier run has left.
   *
   * @param wait whether to wait for a process on another host or in another container that may hold it
   *
   * Errors: `PATH_BUSY` if another process holds it or it is not ours, `PATH_UNSAFE`, `FILE_ACCESS`, `DISK_FULL`.
   */
  static async open(path: string, wait: WaitOptions = {}): Promise<DiskPart> {
    checkFolder(path)
    const lease = await tryLock(lockOf(path), wait).catch((error) => {
      throw isAuthError(error) && error.code === 'CACHE_UNSAFE'
        ? busy(path, 'the path of its lock is taken by something else', removalOf(lockOf(path)))
        : writeError(error, path)
    })
    if (!lease) throw busy(path, 'another process is downloading it', `wait for that process; if there is none, remove "${lockOf(path)}"`)
    try {
      return new DiskPart(path, { lease, ...(await opened(path)) })
    } catch (error) {
      await lease.release()
      throw writeError(error, path)
    }
  }

  /** Descriptor of the open file. */
  get descriptor(): number {
    return this.#file.fd
  }

  /** Returns the ranges present: after a failed sync only those of an earlier one, because the system does not say which bytes it lost. */
  get spans(): Spans {
    return this.#unwritten === undefined ? this.#spans : (this.#durable?.spans ?? new Spans())
  }

  /** Starts a version that another run can resume; the part is empty. Errors: `FILE_ACCESS`, `DISK_FULL`. */
  describe(version: PartVersion): void {
    this.#durable = undefined
    this.#attempt(() => this.#journal.begin(version))
  }

  /** Restarts with a new file without a version. Errors: `PATH_BUSY` if another process took it over, `FILE_ACCESS`, `DISK_FULL`. */
  async reset(): Promise<void> {
    await this.#syncing
    if (!(await this.#lease.confirm())) throw lost(this.#path)
    this.#spans = new Spans()
    this.#durable = undefined
    this.#unwritten = undefined
    this.#unsynced = 0
    try {
      await rm(partOf(this.#path), { force: true })
      this.#journal.replace()
      const old = this.#file
      this.#file = await openPart(this.#path, true)
      await old.close()
    } catch (error) {
      throw writeError(error, this.#path)
    }
  }

  /** Writes bytes at an offset. Errors: `PATH_BUSY` if another process took it over, `DISK_FULL`, `FILE_ACCESS`. */
  async write(offset: number, chunks: readonly Uint8Array[]): Promise<void> {
    if (this.#unwritten !== undefined) throw writeError(this.#unwritten, this.#path)
    if (!this.#lease.isFresh && !(await this.#lease.confirm())) throw lost(this.#path)
    let length = 0
    for (const chunk of chunks) length += chunk.byteLength
    const { bytesWritten } = await this.#file.writev(chunks, offset).catch((error) => {
      throw writeError(error, this.#path)
    })
    const span: Span = [offset, offset + bytesWritten]
    this.#attempt(() => this.#journal.add(span))
    this.#spans.add(...span)
    // A full disk may accept a part of the bytes first.
    if (bytesWritten < length) await this.write(offset + bytesWritten, rest(chunks, bytesWritten))
    this.#unsynced += bytesWritten
    if (this.#unsynced >= SYNCED && !this.#syncing) this.#syncAside()
  }

  /**
   * Syncs the part, gives it its final name and removes lock and journal.
   *
   * @param path in the same folder; default: the one that the part was made for
   *
   * Errors: `PATH_EXISTS` if another file appeared there, `PATH_BUSY` if another process took the part over, `PATH_UNSAFE`, `DISK_FULL`,
   * `FILE_ACCESS`.
   */
  async complete(replace: boolean, path = this.#path): Promise<void> {
    try {
      await this.#sync()
      checkFolder(path)
      if (presentFile(path) && !replace) throw fileAppeared(path)
      const { ino } = await this.#file.stat()
      if (!(await this.#lease.confirm()) || presentFile(partOf(this.#path))?.ino !== ino) throw lost(this.#path)
      await this.#file.close()
      await renameWhenFree(partOf(this.#path), path)
      await this.#forget()
    } catch (error) {
      throw writeError(error, this.#path)
    }
  }

  /** Keeps the part for another run. Throws nothing. */
  async keep(): Promise<void> {
    await this.#syncing
    try {
      if (this.#unwritten !== undefined && this.#durable) this.#journal.cut(this.#durable.length)
    } catch {
      // The journal would record bytes that were lost.
      return this.discard()
    }
    this.#journal.close()
    await this.#close()
    await this.#lease.release()
  }

  /** Removes the part unless another process took it over. Throws nothing. */
  async discard(): Promise<void> {
    await this.#close()
    const isOurs = await this.#lease.confirm()
    if (!isOurs) return this.#journal.close()
    await rm(partOf(this.#path), { force: true }).catch(() => undefined)
    await this.#forget()
  }

  async #sync(): Promise<void> {
    await this.#syncing
    if (this.#unwritten === undefined) await this.#file.sync().catch(this.#lose)
    if (this.#unwritten !== undefined) throw this.#unwritten
  }

  /** Syncs while more bytes arrive, so that the final sync is short. */
  #syncAside(): void {
    this.#unsynced = 0
    this.#syncing = this.#datasync()
      .catch(this.#lose)
      .finally(() => {
        this.#syncing = undefined
      })
  }

  async #datasync(): Promise<void> {
    const durable = { spans: new Spans(this.#spans.toJSON()), length: this.#journal.length }
    await this.#file.datasync()
    this.#durable = durable
  }

  readonly #lose = (error: unknown): void => {
    this.#unwritten ??= error
  }

  async #close(): Promise<void> {
    await this.#syncing
    await this.#file.close().catch(() => undefined)
  }

  async #forget(): Promise<void> {
    await this.#journal.remove()
    await this.#lease.release()
  }

  #attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      throw writeError(error, this.#path)
    }
  }
}

interface Opened {
  readonly lease: Lease
  readonly file: FileHandle
  readonly journal: PartJournal
  readonly found?: PartRecord
}

/** Opens the files. Errors: those of the system, `PATH_BUSY` for files that are not ours. */
async function opened(path: string): Promise<Omit<Opened, 'lease'>> {
  const present = presentFile(partOf(path))
  const record = await recordOf(path, present)
  const left = record?.version && present && { ...record, spans: record.spans.within(present.size) }
  const found = left && left.spans.total > 0 ? left : undefined
  // A holder that lost its lock may have the old files open: it must not write into the new ones.
  if (record && !found) await removeAll(path)
  const journal = await PartJournal.open(journalOf(path), found !== undefined)
  let file: FileHandle | undefined
  try {
    file = await openPart(path, found === undefined)
    // The bytes of a killed process may not be durable yet. From here on it is known.
    if (found) await file.datasync()
    return { file, journal, ...(found && { found }) }
  } catch (error) {
    await file?.close()
    await (found ? journal.close() : journal.remove())
    throw error
  }
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

/** A file that is not complete yet: `.part` beside the name that it will have, with a lock and a journal beside it. */
import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { IntegrityError, isAuthError } from '../../errors.ts'
import { checkFolder, presentFile } from '../files.ts'
import { fileAppeared, systemCode, writeFailure } from '../system-error.ts'
import { type Lease, tryLock, type WaitOptions } from '../tokens/process-lock.ts'
import { PartJournal, type PartRecord, type PartVersion, readPartJournal, type Span, Spans } from './part-journal.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_RDWR } = constants

/** Bytes after which the disk is asked for what it has to write. */
const SYNCED = 32 * 2 ** 20

/** What a sync has brought to the disk. */
interface Durable {
  readonly spans: Spans
  /** Length of the journal that records it, in bytes. */
  readonly length: number
}

/**
 * Two processes never combine what they write, whatever becomes of the lock: one that lost it finds out before it writes again, or names or
 * removes anything. Should it be stopped in between, all it can still do is write bytes of one version to where they belong, for whoever
 * begins anew makes new files.
 */
export class DiskPart {
  /** What an earlier run has left in it, if that can be resumed. */
  readonly found: PartRecord | undefined
  readonly #path: string
  readonly #lease: Lease
  readonly #journal: PartJournal
  #file: FileHandle
  #spans: Spans
  /** Bytes written that nobody has asked the disk for, and the asking that is under way. */
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
   * Makes the part or takes up one that an earlier run has left.
   *
   * @param wait for a process on another host, or in another container, that may have it
   *
   * Errors: `PATH_BUSY` when another process has it or it is not ours, `PATH_UNSAFE`, `FILE_ACCESS`, `DISK_FULL`.
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

  /** Which bytes are there: only what an earlier sync has brought to the disk, once one has failed, for the system does not say which it lost. */
  get spans(): Spans {
    return this.#unwritten === undefined ? this.#spans : (this.#durable?.spans ?? new Spans())
  }

  /** It is empty, and what comes is of that version, which another run can ask for as well. Errors: `FILE_ACCESS`, `DISK_FULL`. */
  describe(version: PartVersion): void {
    this.#durable = undefined
    this.#attempt(() => this.#journal.begin(version))
  }

  /** Begins anew, in a new file, and is of no version. Errors: `PATH_BUSY` when another process took it over, `FILE_ACCESS`, `DISK_FULL`. */
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

  /** Errors: `PATH_BUSY` when another process took it over, `DISK_FULL`, `FILE_ACCESS`. */
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
    // A disk that is full may take a part of it first.
    if (bytesWritten < length) await this.write(offset + bytesWritten, rest(chunks, bytesWritten))
    this.#unsynced += bytesWritten
    if (this.#unsynced >= SYNCED && !this.#syncing) this.#syncAside()
  }

  /**
   * Brings it to the disk, gives it its name and removes what is beside it.
   *
   * @param path in the same folder; default: the one that the part was made for
   *
   * Errors: `PATH_EXISTS` when another file has come there, `PATH_BUSY` when another process took it over, `PATH_UNSAFE`, `DISK_FULL`,
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
      await rename(partOf(this.#path), path)
      await this.#forget()
    } catch (error) {
      throw writeError(error, this.#path)
    }
  }

  /** Leaves it for another run. Throws nothing. */
  async keep(): Promise<void> {
    await this.#syncing
    try {
      if (this.#unwritten !== undefined && this.#durable) this.#journal.cut(this.#durable.length)
    } catch {
      // It would record bytes that were lost.
      return this.discard()
    }
    this.#journal.close()
    await this.#close()
    await this.#lease.release()
  }

  /** Removes it, unless another process took it over. Throws nothing. */
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

  /** The disk works while more comes, so that little is left to wait for in the end. */
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

/** Errors: those of the system, `PATH_BUSY` for what is not ours. */
async function opened(path: string): Promise<Omit<Opened, 'lease'>> {
  const present = presentFile(partOf(path))
  const record = await recordOf(path, present)
  const left = record?.version && present && { ...record, spans: record.spans.within(present.size) }
  const found = left && left.spans.total > 0 ? left : undefined
  // A holder that lost its lock may have the old files open: it writes nothing into the new ones.
  if (record && !found) await removeAll(path)
  const journal = await PartJournal.open(journalOf(path), found !== undefined)
  let file: FileHandle | undefined
  try {
    file = await openPart(path, found === undefined)
    // What a killed process has written may be on no disk yet. From then on this is known.
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

/** `PATH_BUSY` for a part that another process took over while this one did not send a heartbeat. */
function lost(path: string): IntegrityError {
  return busy(path, 'another process took it over because this one was suspended for too long', 'wait for that process')
}

/** What an earlier run has left beside a part. Errors: `PATH_BUSY` for what is not ours. */
async function recordOf(path: string, present: Stats | undefined): Promise<PartRecord | undefined> {
  const record = await readPartJournal(journalOf(path))
  if (record) return record
  // A journal is there before its part is, so a part without one is somebody else's.
  if (present) throw busy(path, 'its partial file exists and is not from stac-auth')
  // One that was never begun is empty.
  if (presentFile(journalOf(path))?.size) throw busy(path, 'the path of its journal is taken by something else', removalOf(journalOf(path)))
  return undefined
}

/** `PATH_BUSY`, with what is in the way. */
function busy(path: string, why: string, hint = removalOf(partOf(path))): IntegrityError {
  return new IntegrityError('PATH_BUSY', `"${path}" cannot be downloaded: ${why}`, { hint })
}

function removalOf(place: string): string {
  return `remove "${place}" if no other process uses it`
}

function writeError(error: unknown, path: string): Error {
  if (isAuthError(error)) return error
  // A link in the place of the part or of its journal.
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

/** A file that is not complete yet: `.part` beside the name that it will have, with a lock and a journal beside it. */
import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { IntegrityError, isAuthError } from '../../errors.ts'
import { tryLock } from '../process-lock.ts'
import { systemCode, writeFailure } from '../system-error.ts'
import { PartJournal, type PartRecord, type PartVersion, readPartJournal } from './part-journal.ts'
import { checkFolder, presentFile } from './present-file.ts'
import { type Span, Spans } from './spans.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_RDWR } = constants

/** Bytes after which the disk is asked for what it has to write. */
const SYNCED = 32 * 2 ** 20

export class DiskPart {
  /** What an earlier run has left in it, if that can be gone on with. */
  readonly found: PartRecord | undefined
  readonly #path: string
  readonly #file: FileHandle
  readonly #unlock: () => Promise<void>
  readonly #journal: PartJournal
  #spans: Spans
  /** Bytes written that nobody has asked the disk for, and the asking that is under way. */
  #unsynced = 0
  #syncing: Promise<void> | undefined
  /** A system tells only once what it could not bring to the disk. */
  #unwritten: unknown

  private constructor(path: string, file: FileHandle, unlock: () => Promise<void>, journal: PartJournal, found?: PartRecord) {
    this.#path = path
    this.#file = file
    this.#unlock = unlock
    this.#journal = journal
    this.found = found
    this.#spans = found?.spans ?? new Spans()
  }

  /**
   * Makes the part or takes up one that an earlier run has left.
   *
   * Errors: `PATH_BUSY` when another process has it or it is not ours, `PATH_UNSAFE`, `FILE_ACCESS`, `DISK_FULL`.
   */
  static async open(path: string): Promise<DiskPart> {
    checkFolder(path)
    const unlock = await tryLock(lockOf(path)).catch((error) => {
      throw isAuthError(error) && error.code === 'CACHE_UNSAFE'
        ? busy(path, 'something else is in the place of its lock', removalOf(lockOf(path)))
        : told(error, path)
    })
    if (!unlock) throw busy(path, 'another process is downloading it', `wait for it; if there is none, remove "${lockOf(path)}"`)
    try {
      const present = presentFile(partOf(path))
      const record = await recordOf(path, present)
      const found = record && present && { ...record, spans: record.spans.within(present.size) }
      const journal = await PartJournal.open(journalOf(path), found !== undefined)
      const file = await open(partOf(path), O_RDWR | O_NOFOLLOW | (present ? 0 : O_CREAT | O_EXCL), 0o666).catch(async (error) => {
        await (found ? journal.close() : journal.remove())
        throw error
      })
      return new DiskPart(path, file, unlock, journal, found)
    } catch (error) {
      await unlock()
      throw told(error, path)
    }
  }

  /** Descriptor of the open file. */
  get descriptor(): number {
    return this.#file.fd
  }

  /** Which bytes are there; none when the system could not bring all of them to the disk, for it does not say which. */
  get spans(): Spans {
    return this.#unwritten === undefined ? this.#spans : new Spans()
  }

  /** It is empty, and what comes is of that version, which another run can ask for as well. Errors: `FILE_ACCESS`, `DISK_FULL`. */
  describe(version: PartVersion): void {
    this.#attempt(() => this.#journal.begin(version))
  }

  /** Begins anew, and is of no version. Errors: `FILE_ACCESS`. */
  async reset(): Promise<void> {
    this.#spans = new Spans()
    this.#attempt(() => this.#journal.begin(undefined))
    await this.#file.truncate(0).catch((error) => {
      throw told(error, this.#path)
    })
  }

  /** Errors: `DISK_FULL`, `FILE_ACCESS`. */
  async write(offset: number, chunks: readonly Uint8Array[]): Promise<void> {
    if (this.#unwritten !== undefined) throw told(this.#unwritten, this.#path)
    let length = 0
    for (const chunk of chunks) length += chunk.byteLength
    const { bytesWritten } = await this.#file.writev(chunks, offset).catch((error) => {
      throw told(error, this.#path)
    })
    // A disk that is full may take a part of it first.
    if (bytesWritten < length) await this.write(offset + bytesWritten, rest(chunks, bytesWritten))
    const span: Span = [offset, offset + bytesWritten]
    this.#spans.add(...span)
    this.#attempt(() => this.#journal.add(span))
    this.#unsynced += bytesWritten
    if (this.#unsynced >= SYNCED && !this.#syncing) this.#syncAside()
  }

  /**
   * Brings it to the disk, gives it its name and removes what is beside it.
   *
   * Errors: `PATH_EXISTS` when another file has come there, `PATH_UNSAFE`, `DISK_FULL`, `FILE_ACCESS`.
   */
  async complete(replace: boolean): Promise<void> {
    try {
      await this.#sync()
      await this.#file.close()
      checkFolder(this.#path)
      if (presentFile(this.#path) && !replace) throw appeared(this.#path)
      await rename(partOf(this.#path), this.#path)
      await this.#forget()
    } catch (error) {
      throw told(error, this.#path)
    }
  }

  /** Leaves it for another run. Throws nothing. */
  async keep(): Promise<void> {
    this.#journal.close()
    await this.#close()
    await this.#unlock()
  }

  /** Throws nothing. */
  async discard(): Promise<void> {
    await this.#close()
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
    this.#syncing = this.#file
      .datasync()
      .catch(this.#lose)
      .finally(() => {
        this.#syncing = undefined
      })
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
    await this.#unlock()
  }

  #attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      throw told(error, this.#path)
    }
  }
}

/** `PATH_EXISTS` for a file that was not there when its download began. */
export function appeared(path: string): IntegrityError {
  return new IntegrityError('PATH_EXISTS', `"${path}" has come into being while it was downloaded; it was left as it is`)
}

/** What an earlier run has left beside a part. Errors: `PATH_BUSY` for what is not ours. */
async function recordOf(path: string, present: Stats | undefined): Promise<PartRecord | undefined> {
  const record = await readPartJournal(journalOf(path))
  if (record) return record
  // A journal is there before its part is, so a part without one is somebody else's.
  if (present) throw busy(path, 'its partial file is there, and was not left by a download of ours')
  // One that was never begun is empty.
  if (presentFile(journalOf(path))?.size) throw busy(path, 'something else is in the place of its journal', removalOf(journalOf(path)))
  return undefined
}

/** `PATH_BUSY`, with what is in the way. */
function busy(path: string, why: string, hint = removalOf(partOf(path))): IntegrityError {
  return new IntegrityError('PATH_BUSY', `"${path}" cannot be downloaded: ${why}`, { hint })
}

function removalOf(place: string): string {
  return `remove "${place}" if no other program is at work`
}

function told(error: unknown, path: string): Error {
  if (isAuthError(error)) return error
  // A link in the place of the part or of its journal.
  if (systemCode(error) === 'ELOOP') return busy(path, 'a link is in the place of its partial file')
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

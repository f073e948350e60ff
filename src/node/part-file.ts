/** A file on its way: it is written to a `.part` beside it, and a lock beside that says who does so. */
import { type FileHandle, lstat, open, rm } from 'node:fs/promises'
import { IntegrityError, isAuthError } from '../errors.ts'
import { writeFailure } from './system-error.ts'
import { type Lease, tryLock } from './tokens/process-lock.ts'

export class PartFile {
  readonly path: string
  readonly file: FileHandle
  readonly #name: string
  readonly #lease: Lease

  private constructor(path: string, name: string, file: FileHandle, lease: Lease) {
    this.path = path
    this.#name = name
    this.file = file
    this.#lease = lease
  }

  /**
   * Makes the part of a file. One that a process has left which is gone, or has sent no heartbeat for 60 s, is thrown away before.
   *
   * @param name of the file, for messages
   *
   * Errors: `PATH_BUSY` when another process writes it, or a part of unknown origin exists; `DISK_FULL`, `FILE_ACCESS`.
   */
  static async open(target: string, mode: number, name: string): Promise<PartFile> {
    const path = `${target}.part`
    const lease = await tryLock(`${path}.lock`).catch((error) => {
      if (!isAuthError(error)) throw writeFailure(error, `"${name}"`)
      if (error.code !== 'CACHE_UNSAFE') throw error
      throw busy(name, 'the path of its lock is taken by something else', `remove "${path}.lock" if no other process uses it`)
    })
    if (!lease) throw busy(name, 'another process is writing it', 'wait for that process; a lock held on another host expires after 60 s')
    try {
      // What a download has left has a journal, and is worth something.
      const isDownload = await lstat(`${path}.json`).then(Boolean, () => false)
      if (lease.isTakenOver && !isDownload) await rm(path, { force: true })
      return new PartFile(path, name, await open(path, 'wx', mode), lease)
    } catch (error) {
      await lease.release()
      throw writeFailure(error, `"${name}"`)
    }
  }

  /** To be called before the part gets the name of the file. Errors: `PATH_BUSY` when another process took it over. */
  async confirm(): Promise<void> {
    if (!(await this.#lease.confirm())) throw busy(this.#name, 'another process took it over', 'wait for that process')
  }

  /** Removes the part, unless it has a name by now or is another process's. Throws nothing. */
  async end(): Promise<void> {
    if (await this.#lease.confirm()) await rm(this.path, { force: true }).catch(() => undefined)
    await this.#lease.release()
  }
}

function busy(name: string, why: string, hint: string): IntegrityError {
  return new IntegrityError('PATH_BUSY', `"${name}" cannot be written: ${why}`, { hint })
}

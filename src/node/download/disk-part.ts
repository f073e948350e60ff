/** A file that is not complete yet: `.part` beside the name that it will have. */
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { IntegrityError } from '../../errors.ts'
import { writeFailure } from '../system-error.ts'
import { presentFile } from './target-folder.ts'

export class DiskPart {
  readonly #path: string
  readonly #file: FileHandle

  private constructor(path: string, file: FileHandle) {
    this.#path = path
    this.#file = file
  }

  /** Errors: `PATH_BUSY` when there is a part already, `FILE_ACCESS`, `DISK_FULL`. */
  static async create(path: string): Promise<DiskPart> {
    const file = await open(`${path}.part`, 'wx+', 0o666).catch((error) => {
      throw writeFailure(error, `"${path}"`)
    })
    return new DiskPart(path, file)
  }

  async write(offset: number, chunks: readonly Uint8Array[]): Promise<void> {
    try {
      await this.#file.writev(chunks, offset)
    } catch (error) {
      throw writeFailure(error, `"${this.#path}"`)
    }
  }

  /** Brings it to the disk and gives it its name. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `DISK_FULL`, `FILE_ACCESS`. */
  async complete(replace: boolean): Promise<void> {
    try {
      await this.#file.sync()
      await this.#file.close()
      if ((await presentFile(this.#path)) && !replace) throw new IntegrityError('PATH_EXISTS', `"${this.#path}" exists already`)
      await rename(`${this.#path}.part`, this.#path)
    } catch (error) {
      throw error instanceof IntegrityError ? error : writeFailure(error, `"${this.#path}"`)
    }
  }

  async discard(): Promise<void> {
    await this.#file.close().catch(() => undefined)
    await rm(`${this.#path}.part`, { force: true })
  }
}

/** The folder that a download writes into, and nothing outside of it. */
import type { Stats } from 'node:fs'
import { lstat, mkdir, realpath } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { IntegrityError, isAuthError } from '../../errors.ts'
import { syncFolder } from '../own-file.ts'
import { systemCode, writeFailure } from '../system-error.ts'

export class TargetFolder {
  /** Without links in it. */
  readonly path: string
  readonly #made = new Map<string, Promise<void>>()

  private constructor(path: string) {
    this.path = path
  }

  /** Resolves the folder once. Errors: `FILE_ACCESS`, `PATH_UNSAFE` for what is no folder. */
  static async open(name: string): Promise<TargetFolder> {
    try {
      const path = await realpath(name)
      if ((await lstat(path)).isDirectory()) return new TargetFolder(path)
    } catch (error) {
      throw writeFailure(error, `"${name}"`)
    }
    throw new IntegrityError('PATH_UNSAFE', `"${name}" is not a folder`)
  }

  /** The path of a file of those segments, each of which is one by itself. */
  pathOf(segments: readonly string[]): string {
    const path = join(this.path, ...segments)
    const isBelow = segments.every((segment) => segment !== '' && segment !== '..' && segment !== '.' && !/[/\\]/.test(segment))
    if (isBelow && segments.length > 0 && path.startsWith(this.path)) return path
    throw new IntegrityError('PATH_UNSAFE', `"${segments.join('/')}" leads out of "${this.path}"`)
  }

  /** Makes the folder of a file; a link in its place is not followed. Errors: `PATH_UNSAFE`, `FILE_ACCESS`, `DISK_FULL`. */
  async prepare(path: string): Promise<void> {
    const folder = dirname(path)
    if (folder === this.path || !folder.startsWith(this.path)) return
    let made = this.#made.get(folder)
    if (!made) {
      made = this.#make(folder)
      this.#made.set(folder, made)
    }
    await made
  }

  /** Makes new names last through a power cut. */
  async sync(): Promise<void> {
    for (const folder of [this.path, ...this.#made.keys()]) await syncFolder(folder)
  }

  async #make(folder: string): Promise<void> {
    await this.prepare(folder)
    try {
      await mkdir(folder)
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw writeFailure(error, `"${folder}${sep}"`)
      if ((await lstat(folder)).isDirectory()) return
      throw new IntegrityError('PATH_UNSAFE', `"${folder}" is a link or a file: nothing is written through it`)
    }
  }
}

/** What stands in the place of a file; undefined for nothing. Errors: `PATH_UNSAFE` for what is no regular file, `FILE_ACCESS`. */
export async function presentFile(path: string): Promise<Stats | undefined> {
  try {
    const stats = await lstat(path)
    if (stats.isFile()) return stats
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw isAuthError(error) ? error : writeFailure(error, `"${path}"`)
  }
  throw new IntegrityError('PATH_UNSAFE', `"${path}" is a link, a folder or a special file: nothing is written through it`)
}

/** The folder that a download writes into, and nothing outside of it. */
import { lstat, mkdir, realpath } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { IntegrityError } from '../../errors.ts'
import { syncFolder } from '../files.ts'
import { notWrittenThrough, systemCode, writeFailure } from '../system-error.ts'
import { clearLeftovers } from './leftovers.ts'

export class TargetFolder {
  /** Without links in it. */
  readonly path: string
  /** By folder: the files of which an earlier run has left a part. */
  readonly #made = new Map<string, Promise<ReadonlySet<string>>>()

  private constructor(path: string) {
    this.path = path
  }

  /**
   * Resolves the folder once; with `mayBeMissing` it need not be there. Errors: `FILE_ACCESS`, `PATH_UNSAFE` for what is no folder.
   */
  static async open(name: string, mayBeMissing = false): Promise<TargetFolder> {
    try {
      const path = await realpath(name)
      if ((await lstat(path)).isDirectory()) return new TargetFolder(path)
    } catch (error) {
      if (mayBeMissing && systemCode(error) === 'ENOENT') return new TargetFolder(resolve(name))
      throw writeFailure(error, `"${name}"`)
    }
    throw new IntegrityError('PATH_UNSAFE', `"${name}" is not a folder`, { hint: 'choose another name' })
  }

  /** The path of a file of those segments, each of which is one by itself. */
  pathOf(segments: readonly string[]): string {
    const path = join(this.path, ...segments)
    const isBelow = segments.every((segment) => segment !== '' && segment !== '..' && segment !== '.' && !/[/\\]/.test(segment))
    if (isBelow && segments.length > 0 && path.startsWith(this.path)) return path
    throw new IntegrityError('PATH_UNSAFE', `"${segments.join('/')}" leads out of "${this.path}"`)
  }

  /**
   * Makes the folder of a file and clears away what killed processes have left there; a link in its place is not followed.
   *
   * Gives whether an earlier run has left a part of the file. Errors: `PATH_UNSAFE`, `FILE_ACCESS`, `DISK_FULL`.
   */
  async prepare(path: string): Promise<{ readonly hasPart: boolean }> {
    return { hasPart: (await this.#prepared(dirname(path))).has(path) }
  }

  /** Makes new names last through a power cut. */
  async sync(): Promise<void> {
    for (const folder of this.#made.keys()) await syncFolder(folder)
  }

  #prepared(folder: string): Promise<ReadonlySet<string>> {
    const known = this.#made.get(folder)
    if (known) return known
    const made = (folder === this.path ? Promise.resolve() : this.#make(folder)).then(() => clearLeftovers(folder))
    this.#made.set(folder, made)
    return made
  }

  async #make(folder: string): Promise<void> {
    await this.#prepared(dirname(folder))
    try {
      await mkdir(folder)
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw writeFailure(error, `"${folder}${sep}"`)
      if ((await lstat(folder)).isDirectory()) return
      throw notWrittenThrough(`"${folder}" is a link or a file`)
    }
  }
}

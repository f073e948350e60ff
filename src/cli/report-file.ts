/** A file that a report is written to while it grows, and that appears whole or not at all. */
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, constants, type FileHandle, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemCode, writeFailure } from '../node/system-error.ts'

/** In a folder that nobody may write to, or over a file that is mounted by itself, there is only the file itself. */
const ONLY_ITSELF = ['EACCES', 'EPERM', 'EROFS', 'EBUSY']

/**
 * Replaces the report of an earlier run, whole or not at all; a link is followed, and what is not a regular file (a pipe, a device) is
 * written to as it is. Errors of all methods: `FILE_ACCESS`, `DISK_FULL`; then the earlier report is still there.
 */
export class ReportFile {
  readonly #name: string
  readonly #place: string
  readonly #handle: FileHandle
  /** Absent for what is written to as it is. */
  readonly #part: string | undefined

  private constructor(name: string, place: string, handle: FileHandle, part?: string) {
    this.#name = name
    this.#place = place
    this.#handle = handle
    this.#part = part
  }

  static async open(name: string): Promise<ReportFile> {
    try {
      const stats = await stat(name).catch(() => undefined)
      const place = stats ? await realpath(name) : name
      if (stats) await access(place, constants.W_OK)
      if (stats && !stats.isFile()) return new ReportFile(name, place, await open(place, 'w'))
      const part = `${place}.${randomUUID()}.part`
      const handle = await open(part, 'wx', (stats?.mode ?? 0o666) & 0o777).catch((error) => {
        if (!stats || !ONLY_ITSELF.includes(systemCode(error))) throw error
      })
      if (handle) return new ReportFile(name, place, handle, part)
      const elsewhere = join(tmpdir(), `stac-auth-${randomUUID()}.part`)
      return new ReportFile(name, place, await open(elsewhere, 'wx', 0o600), elsewhere)
    } catch (error) {
      throw writeFailure(error, `"${name}"`)
    }
  }

  write(text: string): Promise<void> {
    return this.#orDiscard(() => this.#handle.writeFile(text))
  }

  /** Puts the report in its place when the disk has it. */
  close(): Promise<void> {
    return this.#orDiscard(async () => {
      const part = this.#part
      if (part !== undefined) await this.#handle.sync()
      await this.#handle.close()
      if (part === undefined) return
      try {
        await rename(part, this.#place)
      } catch (error) {
        if (![...ONLY_ITSELF, 'EXDEV'].includes(systemCode(error))) throw error
        await writeFile(this.#place, createReadStream(part))
        await rm(part, { force: true })
      }
    })
  }

  /** Leaves the earlier report as it is. */
  async discard(): Promise<void> {
    await this.#handle.close().catch(() => undefined)
    if (this.#part !== undefined) await rm(this.#part, { force: true })
  }

  async #orDiscard(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      await this.discard()
      throw writeFailure(error, `"${this.#name}"`)
    }
  }
}

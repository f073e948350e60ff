/** Reads regular files, creates folders, and writes files atomically, so that a file is complete or does not exist. */
import { closeSync, constants, linkSync, lstatSync, openSync, readSync, realpathSync, renameSync, type Stats, unlinkSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAuthError } from '../../errors.ts'
import { notWrittenThrough, readFailure, systemCode, writeFailure } from './system-error.ts'

/** How a file is written atomically. */
export interface AtomicWrite {
  /** Writes the content into the part, which is closed afterwards. */
  write(file: FileHandle): Promise<void>
  /** Checks once more before the rename. */
  confirm?(): Promise<void>
  /** Gives the part its final name; default: a rename, which replaces an existing file. */
  place?(part: string, target: string): Promise<void>
  /** True to sync the folder as well. */
  durable?: boolean
}

/**
 * Writes a file atomically: writes and syncs `part` beside it, then renames it. The caller creates `part`, and removes it after a failure.
 *
 * Errors: those of the callbacks; `DISK_FULL`, `FILE_ACCESS`.
 *
 * @param name of the file, for messages
 */
export async function writeFileAtomically(
  { path, file }: { readonly path: string; readonly file: FileHandle },
  target: string,
  { write, confirm, place = renameWhenFree, durable = false }: AtomicWrite,
  name = target,
): Promise<void> {
  const refuse = (error: unknown): never => {
    throw isAuthError(error) ? error : writeFailure(error, `"${name}"`)
  }
  try {
    await write(file)
    await file.sync().catch(refuse)
  } finally {
    await file.close()
  }
  await confirm?.()
  await place(path, target).catch(refuse)
  if (durable) await syncFolder(dirname(target))
}

/** Codes with which Windows refuses a file that is open elsewhere or is being removed, and `FILE_ACCESS` made of them. */
const REFUSED = new Set(['EPERM', 'EACCES', 'EBUSY', 'FILE_ACCESS'])

/** Pauses in milliseconds, together a second: a virus scanner or indexer opens a new file for some tenths of one. */
const PAUSES = [10, 20, 50, 100, 200, 300, 320]

/**
 * Repeats a step that Windows refuses because another process has the file open or removes it. The same codes say there that access is
 * denied, so it is repeated for a second only. Elsewhere nothing is repeated. Errors: those of the step.
 */
export async function whenFree<T>(step: () => Promise<T>): Promise<T> {
  for (const pause of process.platform === 'win32' ? PAUSES : []) {
    try {
      return await step()
    } catch (error) {
      if (!REFUSED.has(systemCode(error))) throw error
      await sleep(pause)
    }
  }
  return step()
}

/** Renames a file, also one that another process reads for a moment on Windows. */
export function renameWhenFree(from: string, to: string): Promise<void> {
  return whenFree(() => rename(from, to))
}

/**
 * Gives a part its final name by a hard link, which unlike a rename never replaces a file that another program has created; on a file system
 * without hard links, the name is checked first. Returns false if there is such a file. Errors: those of the system.
 */
export function nameNew(part: string, path: string): boolean {
  try {
    linkSync(part, path)
  } catch (error) {
    if (systemCode(error) === 'EEXIST' || lstatSync(path, { throwIfNoEntry: false })) return false
    renameSync(part, path)
    return true
  }
  unlinkSync(part)
  return true
}

/** Syncs a folder, if the system supports that, so that a rename survives a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY).catch(() => undefined)
  await folder?.sync().catch(() => undefined)
  await folder?.close()
}

/**
 * Creates a folder and its missing parents; an existing one stays unchanged. It creates them one by one, because the recursive `mkdir` of
 * Node never returns on a file system such as `/proc`, which reports missing folders and allows no new ones. Errors: those of `mkdir`.
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    const code = systemCode(error)
    if (code === 'EEXIST') return
    const parent = dirname(path)
    if (code !== 'ENOENT' || parent === path) throw error
    await makeFolder(parent, mode)
    await mkdir(path, { mode }).catch((again) => {
      if (systemCode(again) !== 'EEXIST') throw again
    })
  }
}

/** The bytes and stats of a file, or why it was not read, as the end of a sentence. */
type FileReading = { readonly bytes: Uint8Array; readonly stats: Stats } | { readonly problem: FileProblem }

type FileProblem = 'does not exist' | 'is not readable by you' | 'cannot be read' | 'is not a regular file' | 'is too large'

/** The constant is undefined on Windows, whose folders contain no named pipes. */
const NONBLOCK = constants.O_NONBLOCK ?? 0

/** Reads a regular file of at most `limit` bytes. Pipes and devices give a problem and never block. Never throws. */
export async function readRegularFile(path: string, limit: number): Promise<FileReading> {
  try {
    const file = await open(path, constants.O_RDONLY | NONBLOCK)
    try {
      const stats = await file.stat()
      if (!stats.isFile()) return { problem: 'is not a regular file' }
      if (stats.size > limit) return { problem: 'is too large' }
      const bytes = await file.readFile()
      return bytes.length > limit ? { problem: 'is too large' } : { bytes, stats }
    } finally {
      await file.close()
    }
  } catch (error) {
    return { problem: problemOf(error) }
  }
}

function problemOf(error: unknown): FileProblem {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
  return code === 'EACCES' || code === 'EPERM' ? 'is not readable by you' : 'cannot be read'
}

/** Returns the stats of a regular file; undefined if nothing exists. Errors: `PATH_UNSAFE` for anything else, `FILE_ACCESS`. */
export function presentFile(path: string): Stats | undefined {
  const stats = statsOf(path)
  if (!stats || stats.isFile()) return stats
  throw notWrittenThrough(`"${path}" is a link, a folder or a special file`)
}

/**
 * Checks that the folder of a resolved path is not a link now: another process may have replaced it.
 *
 * Errors: `PATH_UNSAFE`, `FILE_ACCESS`.
 */
export function checkFolder(path: string): void {
  const folder = dirname(path)
  if (realOf(folder) !== folder) throw notWrittenThrough(`"${folder}" was replaced by a link`)
}

/** Returns the first bytes of a regular file, at most that many. Errors: `FILE_ACCESS`. */
export function headOf(path: string, most: number): Uint8Array {
  try {
    const file = openSync(path, constants.O_RDONLY | NONBLOCK | (constants.O_NOFOLLOW ?? 0))
    try {
      const head = Buffer.allocUnsafe(most)
      return head.subarray(0, readSync(file, head, 0, most, 0))
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw readFailure(error, path)
  }
}

/** Returns the stats synchronously, in a tenth of the time of the asynchronous call: it is called for every file. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw writeFailure(error, `"${path}"`)
  }
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    throw writeFailure(error, `"${path}"`)
  }
}

/** Regular files: links, folders, pipes and devices are refused. */
import { closeSync, constants, lstatSync, openSync, readSync, realpathSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { notWrittenThrough, readFailure, writeFailure } from './system-error.ts'

/** A file's bytes and what the same open file says about itself, or why it was not read, as the end of a sentence. */
type FileReading = { readonly bytes: Uint8Array; readonly stats: Stats } | { readonly problem: FileProblem }

type FileProblem = 'does not exist' | 'is not readable by you' | 'cannot be read' | 'is not a regular file' | 'is too large'

/** Windows has no such flag, and no named pipes in its folders. */
const NONBLOCK = constants.O_NONBLOCK ?? 0

/** Reads a regular file of at most `limit` bytes; pipes and devices are neither waited for nor read. Throws nothing. */
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

/** What stands in the place of a file; undefined for nothing. Errors: `PATH_UNSAFE` for what is no regular file, `FILE_ACCESS`. */
export function presentFile(path: string): Stats | undefined {
  const stats = statsOf(path)
  if (!stats || stats.isFile()) return stats
  throw notWrittenThrough(`"${path}" is a link, a folder or a special file`)
}

/**
 * Makes sure that the folder of a file is still where it was when its path was made, for others may have moved it and left a link.
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
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
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

/** At once: it costs a tenth of what waiting for another thread does, and is asked for every file. */
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

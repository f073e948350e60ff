import { closeSync, constants, lstatSync, openSync, readSync, realpathSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { notWrittenThrough, readFailure, writeFailure } from '../system-error.ts'

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
  if (realOf(folder) !== folder) throw notWrittenThrough(`"${folder}" has become a link`)
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

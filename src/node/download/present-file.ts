import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { notWrittenThrough, writeFailure } from '../system-error.ts'

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

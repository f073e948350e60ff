import type { Stats } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { IntegrityError, isAuthError } from '../../errors.ts'
import { systemCode, writeFailure } from '../system-error.ts'

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

/**
 * Makes sure that the folder of a file is still where it was when its path was made, for others may have moved it and left a link.
 *
 * Errors: `PATH_UNSAFE`, `FILE_ACCESS`.
 */
export async function checkFolder(path: string): Promise<void> {
  const folder = dirname(path)
  const real = await realpath(folder).catch((error) => {
    throw writeFailure(error, `"${path}"`)
  })
  if (real !== folder) throw new IntegrityError('PATH_UNSAFE', `"${folder}" has become a link: nothing is written through it`)
}

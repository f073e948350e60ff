import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
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

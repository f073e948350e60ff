/** Replaces the content of a file atomically. */
import { type FileHandle, lstat } from 'node:fs/promises'
import { IntegrityError } from '../errors.ts'
import { notWrittenThrough, systemCode, writeFailure } from '../node/system-error.ts'
import { replaceAlone } from '../node/write-file.ts'

/** The state of a file when it was read. */
export interface Seen {
  readonly size: number
  readonly mtimeMs: number
  readonly mode: number
  readonly ino: number
}

/** Returns the state of a regular file; undefined for links, folders, special files and missing files. */
export async function seenFile(name: string): Promise<Seen | undefined> {
  const stats = await lstat(name).catch(() => undefined)
  return stats?.isFile() ? stats : undefined
}

/**
 * Replaces the content of a file and keeps its mode, or creates a file if `seen` is undefined. Links are not followed.
 *
 * Errors: `FILE_CHANGED` if the file differs from `seen`, `PATH_UNSAFE` (a link, a folder, a special file), `PATH_BUSY`, `DISK_FULL`,
 * `FILE_ACCESS`; the file is unchanged then.
 */
export async function replaceFile(name: string, text: string, seen: Seen | undefined): Promise<void> {
  const write = (file: FileHandle) =>
    file.writeFile(text).catch((error: unknown) => {
      throw writeFailure(error, `"${name}"`)
    })
  await replaceAlone(name, name, seen ? seen.mode & 0o777 : 0o666, { write, confirm: () => requireSame(name, seen) })
}

async function requireSame(name: string, seen: Seen | undefined): Promise<void> {
  const now = await lstat(name).catch((error) => {
    if (systemCode(error) === 'ENOENT') return undefined
    throw writeFailure(error, `"${name}"`)
  })
  if (now && !now.isFile()) throw notWrittenThrough(`"${name}" is a link, a folder or a special file`)
  const same = seen ? now && now.ino === seen.ino && now.size === seen.size && now.mtimeMs === seen.mtimeMs : !now
  if (!same)
    throw new IntegrityError('FILE_CHANGED', `"${name}" was changed by another program in the meantime`, { hint: 'run the command again' })
}

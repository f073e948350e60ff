/** A new content for a file, whole or not at all. */
import { type FileHandle, lstat } from 'node:fs/promises'
import { IntegrityError } from '../errors.ts'
import { notWrittenThrough, systemCode, writeFailure } from '../node/system-error.ts'
import { replaceAlone } from '../node/write-file.ts'

/** What a file looked like when it was read. */
export interface Seen {
  readonly size: number
  readonly mtimeMs: number
  readonly mode: number
  readonly ino: number
}

/** How a regular file looks now; undefined for links, folders, special files and what is not there. */
export async function seenFile(name: string): Promise<Seen | undefined> {
  const stats = await lstat(name).catch(() => undefined)
  return stats?.isFile() ? stats : undefined
}

/**
 * Puts the text in the place of a file, or makes a new one when `seen` is undefined; the mode stays. Nothing is written
 * through a link.
 *
 * Errors: `FILE_CHANGED` when it is no longer as it was `seen`, `PATH_UNSAFE` (a link, a folder, a special file), `PATH_BUSY`,
 * `DISK_FULL`, `FILE_ACCESS`; then the file is as before.
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
  if (!same) throw new IntegrityError('FILE_CHANGED', `"${name}" was changed by someone else meanwhile`, { hint: 'run the command again' })
}

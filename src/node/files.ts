/** Writes files atomically: a file is complete or does not exist. */
import { constants } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isAuthError } from '../errors.ts'
import { writeFailure } from './system-error.ts'

/** How a file is written atomically. */
export interface AtomicWrite {
  /** Puts the content into the file beside it, which is closed afterwards. */
  write(file: FileHandle): Promise<void>
  /** Checks once more before the file gets its name. */
  confirm?(): Promise<void>
  /** Gives the file its name; default: a rename, which replaces what is there. */
  place?(part: string, target: string): Promise<void>
  /** Also brings the name to the disk. */
  durable?: boolean
}

/**
 * Writes a file so that it is complete or not there: into `part` beside it, to the disk, then to its name. Whoever has made `part` removes it
 * after a failure.
 *
 * Errors: those of the callbacks; `DISK_FULL`, `FILE_ACCESS`.
 *
 * @param name of the file, for messages
 */
export async function writeFileAtomically(
  { path, file }: { readonly path: string; readonly file: FileHandle },
  target: string,
  { write, confirm, place = rename, durable = false }: AtomicWrite,
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

/** Makes a rename last through a power cut, where folders can be synced. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY).catch(() => undefined)
  await folder?.sync().catch(() => undefined)
  await folder?.close()
}

/** Writes a new file or replaces the content of one: atomically, and by one process at a time. */

import { createReadStream } from 'node:fs'
import { type FileHandle, lstat, open, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { IntegrityError } from '../../errors.ts'
import type { Files } from '../../platform/platform.ts'
import { type AtomicWrite, nameNew, writeFileAtomically } from './files.ts'
import { tryLock } from './process-lock.ts'
import { notWrittenThrough, readFailure, systemCode, writeFailure } from './system-error.ts'

/**
 * Writes a file atomically through a part `.part` that only one process at a time can have, and always removes the part. A part whose process
 * has ended or has sent no heartbeat for 60 s is removed.
 *
 * @param name of the file, for messages
 *
 * Errors: `PATH_BUSY` when another process writes it, or a part of unknown origin exists; `DISK_FULL`, `FILE_ACCESS`; those of the callbacks.
 */
export async function replaceAlone(target: string, name: string, mode: number, how: AtomicWrite): Promise<void> {
  const path = `${target}.part`
  const lease = await tryLock(`${path}.lock`, { file: name }).catch((error) => {
    if (systemCode(error) !== 'CACHE_UNSAFE') throw error
    throw busy(name, 'the path of its lock is taken by something else', `remove "${path}.lock" if no other process uses it`)
  })
  if (!lease) throw busy(name, 'another process is writing it', 'wait for that process; a lock held on another host expires after 60 s')
  let isOurs = false
  const confirm = async () => {
    await how.confirm?.()
    if (!(await lease.confirm())) throw busy(name, 'another process took it over', 'wait for that process')
  }
  try {
    // The part of a download has a journal and can be resumed.
    const isDownload = await lstat(`${path}.json`).then(Boolean, () => false)
    if (lease.isTakenOver && !isDownload) await rm(path, { force: true }).catch(refusing(name))
    const file = await open(path, 'wx', mode).catch(refusing(name))
    isOurs = true
    await writeFileAtomically({ path, file }, target, { ...how, confirm }, name)
  } finally {
    if (isOurs && (await lease.confirm())) await rm(path).catch(() => undefined)
    await lease.release()
  }
}

/**
 * Writes the chunks of `source` to a new file; after a failure no file is left.
 *
 * @param overwrite true replaces an existing file once the new one is complete
 *
 * Errors: `PATH_EXISTS`, `PATH_UNSAFE` (a link, a folder, a special file, no file name), `PATH_BUSY` (another process is
 * writing it: {@link PartFile.open}), `DISK_FULL`, `FILE_ACCESS`, and those of `source`, which is called only if the file may be written.
 */
export async function writeNewFile(name: string, source: () => Promise<AsyncIterable<Uint8Array>>, overwrite = false): Promise<void> {
  const refuse = refusing(name)
  const target = await newPath(name, overwrite)
  const write = async (file: FileHandle) => {
    for await (const chunk of await source()) await file.writeFile(chunk).catch(refuse)
  }
  const place = async (part: string) => {
    if (!nameNew(part, target)) throw exists(name)
  }
  await replaceAlone(target, name, 0o666, overwrite ? { write } : { write, place })
}

/** Returns the path of a file that may be written, with its folder resolved. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`. */
export async function newPath(name: string, overwrite = false): Promise<string> {
  const refuse = refusing(name)
  const file = basename(name)
  if (/[\\/]$/.test(name) || file === '' || file === '.' || file === '..')
    throw new IntegrityError('PATH_UNSAFE', `"${name}" is a folder, not a file to write`, { hint: 'add a file name to it' })
  const folder = await realpath(dirname(name)).catch(refuse)
  const target = join(folder, file)
  const present = await lstat(target).catch((error) => (systemCode(error) === 'ENOENT' ? undefined : refuse(error)))
  if (present?.isFile() && !overwrite) throw exists(name)
  if (present && !present.isFile())
    throw notWrittenThrough(
      `"${name}" is a link, a folder or a special file`,
      present.isSymbolicLink() || present.isDirectory() ? undefined : `choose another name, or redirect stdout to it: > ${name}`,
    )
  return target
}

function exists(name: string): IntegrityError {
  return new IntegrityError('PATH_EXISTS', `"${name}" exists already`, { hint: 'remove it or choose another name' })
}

function refusing(name: string) {
  return (error: unknown): never => {
    throw writeFailure(error, `"${name}"`)
  }
}

function busy(name: string, why: string, hint: string): IntegrityError {
  return new IntegrityError('PATH_BUSY', `"${name}" cannot be written: ${why}`, { hint })
}

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

/** Files of this machine, behind the interface of all platforms: read in chunks, and written atomically. */
export const localFiles: Files = {
  async open(path) {
    const stats = await stat(path).catch((error: unknown) => {
      throw readFailure(error, path)
    })
    if (!stats.isFile()) throw new IntegrityError('FILE_ACCESS', `cannot read "${path}": it is not a regular file`)
    return { name: basename(path), size: stats.size, chunks: () => chunksOf(path) }
  },
  async check(path, overwrite) {
    await newPath(path, overwrite)
  },
  write: writeNewFile,
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path)
  } catch (error) {
    throw readFailure(error, path)
  }
}

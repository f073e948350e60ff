/** Private files with secrets: read only when no other user can have changed them, written atomically. */
import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, link, lstat, open, rename, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { IntegrityError, isAuthError } from '../../errors.ts'
import { shellWord } from '../../text/shell-word.ts'
import { writeFileAtomically } from './files.ts'
import { readFailure, systemCode, writeFailure } from './system-error.ts'

/** Windows has neither flag; its folders contain no named pipes, and only administrators create links. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_RDWR, O_WRONLY } = constants

/**
 * Returns the bytes and the status of a file, read from one open file; undefined when it does not exist.
 *
 * Errors: `CACHE_UNSAFE` with a command that repairs it, for links, special files, files of other users, files accessible to others and
 * files longer than `limit` bytes; `FILE_ACCESS`.
 */
export async function readOwnFile(path: string, limit: number): Promise<{ readonly bytes: Buffer; readonly stats: Stats } | undefined> {
  let file: FileHandle | undefined
  try {
    file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const stats = await file.stat()
    checkFile(path, stats, limit)
    return { bytes: await file.readFile(), stats }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    if (isAuthError(error)) throw error
    const stats = await lstat(path).catch(() => undefined)
    if (stats) checkFile(path, stats, limit)
    throw readFailure(error, path)
  } finally {
    await file?.close()
  }
}

/**
 * Creates a file beside `path` with that many bytes of reserved disk space, for {@link writeOwnFile}, and returns its name. The bytes are
 * random, because some file systems do not allocate space for others.
 *
 * Errors: `DISK_FULL`, `FILE_ACCESS`.
 */
export async function reserveOwnFile(path: string, bytes: number): Promise<string> {
  const part = beside(path, 'tmp')
  try {
    const file = await open(part, 'wx', 0o600)
    try {
      await file.writeFile(randomBytes(bytes))
      await file.sync()
    } finally {
      await file.close()
    }
    return part
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined)
    throw writeFailure(error, `"${path}"`)
  }
}

/**
 * Replaces a file atomically: writes a new file beside it, flushes it to disk and renames it.
 *
 * @param reserved a file of {@link reserveOwnFile} to write to
 *
 * Errors: `DISK_FULL`, `FILE_ACCESS`; `CACHE_UNSAFE` when a folder has that name.
 */
export async function writeOwnFile(path: string, text: string, reserved?: string): Promise<void> {
  const part = reserved ?? beside(path, 'tmp')
  try {
    const file = await (reserved === undefined ? open(part, 'wx', 0o600) : open(part, O_RDWR | O_NOFOLLOW))
    const write = async () => {
      await file.writeFile(text)
      if (reserved !== undefined) await file.truncate(Buffer.byteLength(text))
    }
    await writeFileAtomically({ path: part, file }, path, { write, durable: true })
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined)
    const stats = await lstat(path).catch(() => undefined)
    if (stats?.isDirectory()) checkKind(path, stats)
    throw isAuthError(error) ? error : writeFailure(error, `"${path}"`)
  }
}

/**
 * Overwrites and removes a file; the target of a link is not touched. Does nothing when there is no file.
 *
 * Errors: `FILE_ACCESS`; `CACHE_UNSAFE` for a folder.
 */
export async function wipeOwnFile(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined)
  if (stats?.isDirectory()) checkKind(path, stats)
  const dropped = beside(path, 'tmp')
  try {
    // Renamed first, so that concurrent readers do not see a partly overwritten file.
    await rename(path, dropped)
    if (stats?.isFile()) await overwrite(dropped)
    await unlink(dropped)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw writeFailure(error, `"${path}"`)
  }
}

/** Renames a damaged file to a new name with the extension `.corrupt`, unless it was replaced since it was read. Does not throw. */
export async function setAside(path: string, { ino }: Stats): Promise<void> {
  const aside = beside(path, 'corrupt')
  try {
    await rename(path, aside)
    if ((await lstat(aside)).ino === ino) return
    await link(aside, path)
  } catch (error) {
    // The file is gone or cannot be renamed. It is ignored in both cases.
    if (systemCode(error) !== 'EEXIST') return
  }
  await unlink(aside).catch(() => undefined)
}

/** Refuses a folder that other users can read. Errors: `CACHE_UNSAFE`. */
export function checkFolder(path: string, stats: Stats): void {
  if (!stats.isDirectory()) throw unsafe(`"${path}" is not a folder`, `rm ${shellWord(path)}`)
  checkAccess(path, stats)
}

function checkFile(path: string, stats: Stats, limit: number): void {
  checkKind(path, stats)
  checkAccess(path, stats)
  if (stats.size > limit) throw unsafe(`"${path}" is longer than ${limit} bytes`, `rm ${shellWord(path)}`)
}

function checkKind(path: string, stats: Stats): void {
  if (stats.isFile()) return
  const kind = stats.isSymbolicLink() ? 'a link' : stats.isDirectory() ? 'a folder' : 'a special file'
  throw unsafe(`"${path}" is ${kind}, not a token file`, `${stats.isDirectory() ? 'rm -r' : 'rm'} ${shellWord(path)}`)
}

/** Modes and owners are not checked on Windows. */
function checkAccess(path: string, stats: Stats): void {
  if (process.platform === 'win32') return
  const [name, folder] = [shellWord(path), stats.isDirectory()]
  if (stats.uid !== process.geteuid?.())
    throw unsafe(`"${path}" belongs to another user`, folder ? `mv ${name} ${shellWord(`${path}.old`)}` : `rm -f ${name}`)
  if (stats.mode & 0o077) throw unsafe(`"${path}" is accessible to other users`, `chmod ${folder ? '700' : '600'} ${name}`)
}

function unsafe(message: string, hint: string): IntegrityError {
  return new IntegrityError('CACHE_UNSAFE', `${message}: its content is not used`, { hint })
}

/** Returns a random name in the same folder, starting with the text before the first dot of the file name. */
function beside(path: string, ending: string): string {
  const [stem = ''] = path.slice(dirname(path).length + 1).split('.')
  return join(dirname(path), `${stem}.${randomBytes(8).toString('hex')}.${ending}`)
}

async function overwrite(path: string): Promise<void> {
  // A file that is no longer writable may still be removable.
  const file = await open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined)
  if (!file) return
  try {
    const zeros = Buffer.alloc(65_536)
    const { size } = await file.stat()
    for (let at = 0; at < size; at += zeros.length) await file.write(zeros, 0, Math.min(zeros.length, size - at), at)
    await file.sync()
  } finally {
    await file.close()
  }
}

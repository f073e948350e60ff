/** A new file that is complete or not there, written by one process at a time. */
import { type FileHandle, link, lstat, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { IntegrityError, isAuthError } from '../errors.ts'
import { type AtomicWrite, writeFileAtomically } from './files.ts'
import { PartFile } from './part-file.ts'
import { notWrittenThrough, systemCode, writeFailure } from './system-error.ts'

/** Writes a file atomically, with a part that only one process at a time can have ({@link PartFile}), and that is removed in any case. */
export async function replaceAlone(target: string, name: string, mode: number, how: AtomicWrite): Promise<void> {
  const part = await PartFile.open(target, mode, name)
  const confirm = async () => {
    await how.confirm?.()
    await part.confirm()
  }
  try {
    await writeFileAtomically(part, target, { ...how, confirm }, name)
  } finally {
    await part.end()
  }
}

/**
 * Writes the chunks that `source` gives to a new file; on any failure nothing of it is left.
 *
 * @param overwrite true puts the file in the place of one that is there, once it is complete
 *
 * Errors: `PATH_EXISTS`, `PATH_UNSAFE` (a link, a folder, a special file, no file name), `PATH_BUSY` (someone else is
 * writing it: {@link PartFile.open}), `DISK_FULL`, `FILE_ACCESS`, and those of `source`, which is asked only when the file may be written.
 */
export async function writeNewFile(name: string, source: () => Promise<AsyncIterable<Uint8Array>>, overwrite = false): Promise<void> {
  const refuse = refusing(name)
  const target = await newPath(name, overwrite)
  const write = async (file: FileHandle) => {
    for await (const chunk of await source()) await file.writeFile(chunk).catch(refuse)
  }
  const place = overwrite ? rename : (part: string) => give(part, name, target)
  await replaceAlone(target, name, 0o666, { write, place })
}

/** The path of a file that may be written, its folder resolved once. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`. */
export async function newPath(name: string, overwrite = false): Promise<string> {
  const refuse = refusing(name)
  const file = basename(name)
  if (/[\\/]$/.test(name) || file === '' || file === '.' || file === '..')
    throw new IntegrityError('PATH_UNSAFE', `"${name}" is a folder, not a file to write`, { hint: 'add a file name to it' })
  const folder = await realpath(dirname(name)).catch(refuse)
  const target = join(folder, file)
  const present = await lstat(target).catch((error) => (systemCode(error) === 'ENOENT' ? undefined : refuse(error)))
  if (present?.isFile() && !overwrite) throw exists(name)
  if (present && !present.isFile()) throw notWrittenThrough(`"${name}" is a link, a folder or a special file`)
  return target
}

/** Systems and folders without links of this kind; those that know of no call of that name say so as well. */
const NO_LINKS = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EINVAL'])

/** A file that appeared while this one was written keeps its name: links, unlike renames, replace nothing. */
async function give(part: string, name: string, target: string): Promise<void> {
  const refuse = refusing(name)
  try {
    await link(part, target)
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw exists(name)
    if (!NO_LINKS.has(systemCode(error))) return refuse(error)
    await newPath(name)
    return rename(part, target).catch(refuse)
  }
  await rm(part).catch(refuse)
}

function exists(name: string): IntegrityError {
  return new IntegrityError('PATH_EXISTS', `"${name}" exists already`, { hint: 'remove it or choose another name' })
}

function refusing(name: string) {
  return (error: unknown): never => {
    throw isAuthError(error) ? error : writeFailure(error, `"${name}"`)
  }
}

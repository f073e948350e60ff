/** A new file that is complete or not there: data goes to a `.part` beside it, is synced, then gets the name. */
import { link, lstat, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { IntegrityError } from '../errors.ts'
import { PartFile } from './part-file.ts'
import { notWrittenThrough, systemCode, writeFailure } from './system-error.ts'

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
  const part = await PartFile.open(target, 0o666, name)
  try {
    try {
      for await (const chunk of await source()) await part.file.writeFile(chunk).catch(refuse)
      await part.file.sync().catch(refuse)
    } finally {
      await part.file.close()
    }
    await part.confirm()
    if (overwrite) await rename(part.path, target).catch(refuse)
    else await give(part.path, name, target)
  } finally {
    await part.end()
  }
}

/** The path of a file that may be written, its folder resolved once. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`. */
export async function newPath(name: string, overwrite = false): Promise<string> {
  const refuse = refusing(name)
  const file = basename(name)
  if (/[\\/]$/.test(name) || file === '' || file === '.' || file === '..')
    throw new IntegrityError('PATH_UNSAFE', `"${name}" is a folder, not a file to write`, { hint: 'write a file name behind it' })
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
    throw writeFailure(error, `"${name}"`)
  }
}

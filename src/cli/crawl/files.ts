/** Catalogs in files: read as if they were served, but never outside of the folder in which the crawl started. */
import { realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { CrawlSend } from '../../crawl/index.ts'
import { IntegrityError } from '../../errors.ts'
import { readRegularFile } from '../../node/regular-file.ts'
import { readFailure } from '../../node/system-error.ts'
import { tooLarge } from '../../stac/parse-document.ts'

/** What a folder's first document may be called. */
const FIRST = ['catalog.json', 'collection.json']

/** The address of a file, or of the first document in a folder. Errors: `FILE_ACCESS`. */
export async function startFile(path: string): Promise<string> {
  try {
    if (!(await stat(path)).isDirectory()) return pathToFileURL(await realpath(path)).href
    for (const name of FIRST) {
      const file = join(path, name)
      const found = await stat(file).catch(() => undefined)
      if (found?.isFile()) return pathToFileURL(await realpath(file)).href
    }
  } catch (error) {
    throw readFailure(error, path)
  }
  throw new IntegrityError('FILE_ACCESS', `"${path}" has no ${FIRST.join(' or ')} to start with`)
}

/** Reads files below the folders of the start files; symbolic links are followed first. Errors: `FILE_ACCESS`, `PATH_UNSAFE`, `DOC_TOO_LARGE`. */
export function sendFiles(starts: readonly string[]): CrawlSend {
  const roots = starts.map((url) => dirname(fileURLToPath(url)) + sep)
  return async ({ url }) => {
    const path = pathOf(url)
    const real = await realpath(path).catch((error) => {
      throw readFailure(error, nameOfFile(url))
    })
    if (!roots.some((root) => real.startsWith(root)))
      throw new IntegrityError('PATH_UNSAFE', `"${nameOfFile(url)}" leads out of the folder in which the crawl started`)
    return {
      status: 200,
      url,
      headers: { get: () => null },
      bytes: async (limit) => {
        const reading = await readRegularFile(real, limit)
        if ('problem' in reading && reading.problem === 'is too long') throw tooLarge(limit, { url })
        if ('problem' in reading) throw new IntegrityError('FILE_ACCESS', `"${nameOfFile(url)}" ${reading.problem}`)
        return reading.bytes
      },
      discard: async () => {},
    }
  }
}

/** What a file is called in reports: from where the user stands when it is below that. */
export function nameOfFile(url: string): string {
  try {
    const path = fileURLToPath(url)
    const below = relative(resolve('.'), path)
    return below.startsWith('..') ? path : below
  } catch {
    return url
  }
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    throw new IntegrityError('FILE_ACCESS', 'the link is no address of a file on this machine')
  }
}

/** Where a crawl begins. */

import { realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Auth } from '../../auth/auth.ts'
import type { Warning } from '../../auth/strategy.ts'
import type { CrawlSend, Visit } from '../../crawl/index.ts'
import { IntegrityError, isAuthError } from '../../errors.ts'
import { readRegularFile } from '../../node/regular-file.ts'
import { readFailure } from '../../node/system-error.ts'
import { tooLarge } from '../../stac/parse-document.ts'
import { linkOf } from '../../stac/target.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { Failure } from '../exit-code.ts'
import { isAddress } from '../read-document.ts'
import { usageError } from '../usage.ts'

/** The addresses that a crawl begins with, and the inputs that are none. Errors: `USAGE`. */
export async function startsOf(inputs: readonly string[]): Promise<{ start: readonly string[]; failures: readonly Failure[] }> {
  const start: string[] = []
  const failures: Failure[] = []
  for (const name of inputs) {
    if (name === '-') throw usageError('standard input leads nowhere', '--crawl needs the address or the file of a catalog')
    if (isAddress(name) && !URL.canParse(name)) throw usageError(`"${name}" is no address`)
    try {
      start.push(isAddress(name) ? name : await startFile(name))
    } catch (error) {
      if (!isAuthError(error)) throw error
      failures.push({ name, error })
    }
  }
  return { start, failures }
}

/** Files are read from below the start, addresses are fetched with what the user granted to them. */
export function sendFrom(start: readonly string[], auth: () => Promise<Auth>): CrawlSend {
  const files = sendFiles(start.filter((url) => url.startsWith('file:')))
  const addresses: CrawlSend = async (request, options) => (await auth()).send(request, options)
  return (request, options) => (request.url.startsWith('file:') ? files : addresses)(request, options)
}

/** What a folder's first document may be called. */
const FIRST = ['catalog.json', 'collection.json']

/** The address of a file, or of the first document in a folder. Errors: `FILE_ACCESS`. */
async function startFile(path: string): Promise<string> {
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
function sendFiles(starts: readonly string[]): CrawlSend {
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
        if ('problem' in reading && reading.problem === 'is too large') throw tooLarge(limit, { url })
        if ('problem' in reading) throw new IntegrityError('FILE_ACCESS', `"${nameOfFile(url)}" ${reading.problem}`)
        return reading.bytes
      },
      discard: async () => {},
    }
  }
}

/** What a file is called in reports: from where the user stands when it is below that. */
function nameOfFile(url: string): string {
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

/** What a document of a crawl is called in reports. */
export function nameOf(url: string): string {
  return url.startsWith('file:') ? nameOfFile(url) : forUrl(url)
}

/**
 * Why the next page on another origin is asked for without what its link refers to; undefined when there is nothing to tell. A
 * crawl sends by address, so a reference never takes material further; but who wrote it expected that it would.
 */
export async function foreignNext({ document, outcome, job }: Visit, auth: () => Promise<Auth>): Promise<Warning | undefined> {
  const next = document && job.page ? linkOf(document, 'next', { url: outcome.url }) : undefined
  if (!next || next.refs.length === 0 || !URL.canParse(next.href, outcome.url)) return undefined
  if (new URL(next.href, outcome.url).origin === new URL(outcome.url).origin) return undefined
  const { refs } = await (await auth()).explain(next)
  const [untrusted] = refs.filter(({ code }) => code === 'CREDENTIAL_TARGET_UNTRUSTED')
  if (!untrusted || refs.some(({ code }) => code === undefined)) return undefined
  const origin = new URL(next.href, outcome.url).origin
  const message = `the next page is on ${origin}, where the entry for "${untrusted.ref}" may not go: it is asked for without it`
  return { code: 'CREDENTIAL_TARGET_UNTRUSTED', message, pointer: untrusted.pointer ?? `${next.pointer}/href` }
}

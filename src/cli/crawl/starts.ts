/** Finds the start URLs of a crawl and reads its files. */

import { realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Auth } from '../../auth/auth.ts'
import type { Warning } from '../../auth/strategy.ts'
import type { CrawlSend, Visit } from '../../crawl/index.ts'
import { IntegrityError, isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { readFailure, readRegularFile } from '../../node/base/index.ts'
import { tooLarge } from '../../stac/parse-document.ts'
import { linkOf } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { Failure } from '../exit-code.ts'
import { usageError } from '../exit-code.ts'

/** Returns the start URLs of a crawl, and the inputs that cannot be read. Errors: `USAGE`. */
export async function startsOf(inputs: readonly string[]): Promise<{ start: readonly string[]; failures: readonly Failure[] }> {
  const start: string[] = []
  const failures: Failure[] = []
  for (const name of inputs) {
    if (name === '-') throw usageError('--crawl cannot start from stdin', 'give the URL or the path of a catalog')
    if (isAddress(name) && !canParseUrl(name)) throw usageError(`"${name}" is not a valid URL`)
    try {
      start.push(isAddress(name) ? name : await startFile(name))
    } catch (error) {
      if (!isAuthError(error)) throw error
      failures.push({ name, error })
    }
  }
  return { start, failures }
}

/** Returns the function that reads files below the start folders and fetches URLs with the credentials that allow them. */
export function sendFrom(start: readonly string[], auth: () => Promise<Auth>): CrawlSend {
  const files = sendFiles(start.filter((url) => url.startsWith('file:')))
  const addresses: CrawlSend = async (request, options) => (await auth()).send(request, { ...options, anonymous: 'allow' })
  return (request, options) => (request.url.startsWith('file:') ? files : addresses)(request, options)
}

/** Names of the start document of a folder. */
const FIRST = ['catalog.json', 'collection.json']

/** Returns the URL of a file, or of the start document in a folder. Errors: `FILE_ACCESS`. */
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
  throw new IntegrityError('FILE_ACCESS', `"${path}" does not contain ${FIRST.join(' or ')}`)
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
      throw new IntegrityError('PATH_UNSAFE', `"${nameOfFile(url)}" is outside the folder in which the crawl started`)
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

/** Returns the name of a file in reports: relative if it is below the working directory. */
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
    throw new IntegrityError('FILE_ACCESS', 'the link is not the URL of a file on this machine')
  }
}

/** Returns the name of a document in reports. */
export function nameOf(url: string): string {
  return url.startsWith('file:') ? nameOfFile(url) : forUrl(url)
}

/**
 * Returns a warning if the next page is on another origin and its link refers to a scheme whose credential is not allowed there. A crawl
 * selects credentials by URL, so the page is requested without it.
 */
export async function foreignNext({ document, outcome, job }: Visit, auth: () => Promise<Auth>): Promise<Warning | undefined> {
  const next = document && job.page ? linkOf(document, 'next', { url: outcome.url }) : undefined
  if (!next || next.refs.length === 0 || !canParseUrl(next.href, outcome.url)) return undefined
  if (new URL(next.href, outcome.url).origin === new URL(outcome.url).origin) return undefined
  const { refs } = await (await auth()).explain(next)
  const [untrusted] = refs.filter(({ code }) => code === 'CREDENTIAL_TARGET_UNTRUSTED')
  if (!untrusted || refs.some(({ code }) => code === undefined)) return undefined
  const origin = new URL(next.href, outcome.url).origin
  const message = `the next page is on ${origin}, which the credential for "${untrusted.ref}" does not allow: it is requested without a credential`
  return { code: 'CREDENTIAL_TARGET_UNTRUSTED', message, pointer: untrusted.pointer ?? `${next.pointer}/href` }
}

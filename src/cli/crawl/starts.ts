/** Where a crawl begins. */
import type { Auth } from '../../auth/auth.ts'
import type { CrawlSend } from '../../crawl/index.ts'
import { isAuthError } from '../../errors.ts'
import type { Failure } from '../failure.ts'
import { isAddress } from '../read-document.ts'
import { usageError } from '../usage.ts'
import { sendFiles, startFile } from './files.ts'

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

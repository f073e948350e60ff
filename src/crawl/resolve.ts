import { type AddressProblem, addressOf, isAddressProblem } from '../http/address.ts'
import { withoutFragment } from './job.ts'

/**
 * The address of a link, without fragment, or why it is not followed. The base is where its document was read from. What was
 * read from the network never leads to a file.
 */
export function resolveLink(href: string, base: string): string | AddressProblem {
  const isFile = base.startsWith('file:')
  // A file names other files by relative references, and the network by whole addresses.
  const file = isFile && URL.canParse(href, base) ? new URL(href, base) : undefined
  if (file?.protocol === 'file:' && file.hostname === '') return withoutFragment(file)
  const url = addressOf(href, isFile ? ANYWHERE : { ...ANYWHERE, base })
  if (isAddressProblem(url)) return url
  return url.protocol === 's3:'
    ? { code: 'URL_SCHEME_FORBIDDEN', message: 'has the scheme "s3:", which has no documents to follow' }
    : withoutFragment(url)
}

/** Whether the origin may be asked is for the transport to say: it sees what is really dialled. */
const ANYWHERE = { secure: false, named: { has: () => true } } as const

import { type AddressProblem, addressOf, isAddressProblem } from '../http/address.ts'
import { withoutFragment } from './job.ts'

/**
 * The address of a link, without fragment, or why it is not followed. The base is where its document was read from. What was
 * read from the network never leads to a file.
 */
export function resolveLink(href: string, base: string): string | AddressProblem {
  const resolved = parsed(href, base)
  // A file names other files by relative references, and the network by whole addresses.
  if (resolved?.protocol === 'file:' && resolved.hostname === '' && base.startsWith('file:')) return withoutFragment(resolved)
  // Whether the origin may be asked is for the transport to say: it sees what is really dialled.
  const named = new Set(resolved ? [resolved.origin] : [])
  const url = addressOf(href, { secure: false, named, ...(!base.startsWith('file:') && { base }) })
  if (isAddressProblem(url)) return url
  return url.protocol === 's3:'
    ? { code: 'URL_SCHEME_FORBIDDEN', message: 'has the scheme "s3:", which has no documents to follow' }
    : withoutFragment(url)
}

function parsed(href: string, base: string): URL | undefined {
  return URL.canParse(href, base) ? new URL(href, base) : undefined
}

import { LastOrigin } from '../http/last-origin.ts'

/** What a parser leaves as it is: no dot segment, nothing to be encoded, no empty query, no fragment. */
const PLAIN = /^(?:\/(?!\.|%2e)[\w.~!$&()*+,;=:@%-]*)+(?:\?[\w.~!$&()*+,;=:@%/?-]+)?$/i

const ORIGIN = new LastOrigin()

/**
 * Origin, and path with query as they are sent (RFC 9112 §3.2.1). What is written as a parser would write it is cut, not parsed.
 *
 * Errors: `TypeError` for what is no address.
 */
export function requestTarget(url: string): { readonly origin: string; readonly path: string } {
  const origin = ORIGIN.of(url)
  const rest = url.slice(origin.length)
  if (url.startsWith(origin) && PLAIN.test(rest)) return { origin, path: rest }
  const { pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}

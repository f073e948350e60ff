/** Reads redirects (RFC 9110 §15.4), before deciding whether to follow. */
import { TrustError } from '../errors.ts'
import { harmlessHeaders } from './headers.ts'
import type { HttpRequest } from './message.ts'
import { addressOf, isAddressProblem, isLoopbackHost, originOf, trustHint } from './url.ts'

/** Returns the URL that a redirect leads to. Errors: `TrustError` `REDIRECT_INVALID`, `REDIRECT_DOWNGRADE`, `URL_ADDRESS_FORBIDDEN`. */
export function locationOf(location: string | null, from: string, named: ReadonlySet<string>, hop: number): URL {
  const text = locationText(location ?? '', from)
  const target = addressOf(text, { base: from, secure: false, named })
  if (isAddressProblem(target)) {
    if (target.code === 'URL_ADDRESS_FORBIDDEN') throw privateTarget(new URL(text, from), from, target.message, hop)
    throw new TrustError('REDIRECT_INVALID', `${originOf(from)} redirects to a URL that ${target.message}`, { url: from, hop })
  }
  if (target.protocol === 's3:') throw new TrustError('REDIRECT_INVALID', `${originOf(from)} redirects to s3:`, { url: from, hop })
  if (target.protocol === 'http:' && from.startsWith('https:')) {
    throw new TrustError('REDIRECT_DOWNGRADE', `${originOf(from)} redirects from https: to ${target.origin}`, { url: from, hop })
  }
  return target
}

/**
 * Returns the text of a `Location`, whose bytes HTTP clients return as Latin-1 characters: as UTF-8, or with each byte beyond ASCII
 * percent-encoded where they are not UTF-8. A reference that begins with `//` gets the scheme of the URL that it came from
 * (RFC 3986 §4.2).
 */
export function locationText(location: string, from: string): string {
  const encoded = location.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
  const text = utf8In(location) ?? encoded
  return text.startsWith('//') ? new URL(from).protocol + text : text
}

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes characters that stand for bytes of UTF-8; undefined for others. */
function utf8In(location: string): string | undefined {
  if (!/^[\0-\xff]*$/.test(location)) return location
  try {
    return DECODER.decode(Uint8Array.from(location, (byte) => byte.charCodeAt(0)))
  } catch {
    return undefined
  }
}

/**
 * Returns the caller's request for the next hop, without secrets: unchanged on the same origin, elsewhere with safelisted
 * headers only and without a body. Errors: `REDIRECT_CROSS_ORIGIN` when a body would have to be sent.
 */
export function redirected(request: HttpRequest, status: number, to: URL, hop: number): HttpRequest {
  const sameOrigin = new URL(request.url).origin === to.origin
  const toGet = status === 303 || ((status === 301 || status === 302) && request.method === 'POST')
  const method = request.method === 'HEAD' ? 'HEAD' : toGet ? 'GET' : request.method
  if (!sameOrigin && request.body !== undefined && !toGet) {
    throw new TrustError('REDIRECT_CROSS_ORIGIN', `${originOf(request.url)} redirects a request with a body to ${to.origin}`, {
      url: to.href,
      hop,
    })
  }
  const url = withoutFragment(to)
  if (!sameOrigin) return { method: method === 'HEAD' ? 'HEAD' : 'GET', url, headers: harmlessHeaders(request.headers) }
  return method === request.method && request.body !== undefined
    ? { ...request, url }
    : { method, url, headers: toGet ? omitBodyHeaders(request.headers) : request.headers }
}

/** Returns `URL_ADDRESS_FORBIDDEN`; without the hint for an origin that cannot be in `sendTo`. */
function privateTarget({ origin, protocol, hostname }: URL, from: string, problem: string, hop: number): TrustError {
  const isNameable = protocol === 'https:' || isLoopbackHost(hostname)
  return new TrustError('URL_ADDRESS_FORBIDDEN', `${originOf(from)} redirects to ${origin}, which ${problem}`, {
    url: from,
    hop,
    ...(isNameable && { hint: trustHint(`${origin}/`) }),
  })
}

function withoutFragment(url: URL): string {
  return url.hash ? url.href.slice(0, url.href.indexOf('#')) : url.href
}

function omitBodyHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('content-')))
}

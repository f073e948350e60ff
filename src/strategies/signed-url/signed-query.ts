/** Signatures without a URL: a query that is added to the URL of the file, or cookies of CloudFront. */
import type { HttpResponse } from '../../http/message.ts'
import { own, ownString } from '../../stac/document.ts'

/** Characters of a query (RFC 3986 §3.4). */
const QUERY = /^(?:[\w.~!$'()*+,;=:@/?&-]|%[\da-f]{2})+$/i

/** Returns a token as a query, without its question mark; undefined for text that is none. */
export function queryOf(token: string): string | undefined {
  const query = token.trim().replace(/^[?&]/, '')
  return query.length <= MAX_LENGTH && query.includes('=') && QUERY.test(query) ? query : undefined
}

/** Longer URLs are refused by most servers. */
const MAX_LENGTH = 8192

/** Returns the URL with that query; undefined when the URL has a parameter of it already, or is not https (http for loopback hosts). */
export function appended(address: string, query: string): string | undefined {
  const url = new URL(address)
  const names = new Set(new URLSearchParams(query).keys())
  if (!/^https?:$/.test(url.protocol) || [...url.searchParams.keys()].some((name) => names.has(name))) return undefined
  url.hash = ''
  return `${url.href.replace(/[?&]$/, '')}${url.search === '' ? '?' : '&'}${query}`
}

/**
 * Names of the cookies and of the parameters that mean the same (CloudFront, "Use signed cookies"): `Policy` for a custom policy,
 * `Expires` for a canned one.
 */
const NAMES = ['Policy', 'Expires', 'Signature', 'Key-Pair-Id', 'Hash-Algorithm'] as const

/** Returns the signature as a query: of the cookies that the response sets, else of its members; undefined when one is missing. */
export function cookiesOf({ headers }: Pick<HttpResponse, 'headers'>, answer: unknown, field: string | undefined): string | undefined {
  const set = new Map((headers.getSetCookie?.() ?? []).map((line) => pairOf(line.split(';', 1)[0] ?? '')))
  const members = field === undefined ? (own(answer, 'cookies') ?? answer) : own(answer, field)
  return complete((name) => set.get(name)) ?? complete((name) => ownString(members, name) ?? numberOf(own(members, name)))
}

/** Returns the header `Cookie` of a signature. */
export function cookieHeader(query: string): string {
  return [...new URLSearchParams(query)].map(([name, value]) => `CloudFront-${name}=${value}`).join('; ')
}

function complete(read: (name: string) => string | undefined): string | undefined {
  const query = new URLSearchParams()
  for (const name of NAMES) {
    const value = read(`CloudFront-${name}`)
    if (value === undefined) continue
    if (!/^[\w~-]{1,4096}$/.test(value)) return undefined
    query.set(name, value)
  }
  return query.has('Signature') && query.has('Key-Pair-Id') && (query.has('Policy') || query.has('Expires')) ? String(query) : undefined
}

function pairOf(pair: string): [string, string] {
  const [name = '', ...value] = pair.split('=')
  return [name.trim(), value.join('=').trim()]
}

/** `CloudFront-Expires` is often a number. */
function numberOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : undefined
}

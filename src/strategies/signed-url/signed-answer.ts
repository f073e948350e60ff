import type { CacheEntry } from '../../auth/session.ts'
import { refusedCall } from '../../auth/strategy.ts'
import { SelectionError, TrustError } from '../../errors.ts'
import { type HttpResponse, isRedirect, parsedJson } from '../../http/message.ts'
import { own, ownString } from '../../stac/document.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { appended, expiryOf } from './reuse.ts'

/** Reads the signed URL, or the signature alone, and its expiry from the response of a signing API. */

const MAX_ANSWER = 1_048_576

/** Members tried when neither credential nor catalog names the one that holds the URL, or the query. */
const USUAL = { url: ['signed_url', 'signedUrl', 'url', 'href'], query: ['token', 'sas_token', 'sasToken', 'sas', 'query'] } as const

/** What the response of a signing API holds. */
export type AnswerKind = 'url' | 'query' | 'cookies'

/** A signed URL; `query` where the response holds only the signature. In `cookies` the query is sent as cookies. */
export interface Signature {
  readonly address: string
  readonly query?: string
}

/** Options for reading the response. */
export interface AnswerRules {
  readonly credential: string
  readonly responseField: string | undefined
  readonly answer: AnswerKind
  /** The URL that a query or cookies are for. */
  readonly asked: string
  /** Returns the canonical URL, or undefined when the user's credential does not allow a signed URL there. */
  readonly addressOf: (text: string) => string | undefined
  readonly now: number
}

/**
 * Returns the signed URL, also when the response holds only its query. Errors: `AUTH_REJECTED`, `HTTP_<status>`, `RESPONSE_FIELD_MISSING`, `SIGNED_URL_FORBIDDEN`,
 * `QUERY_NAME_CONFLICT`, `SIGN_REDIRECT`, `RESPONSE_TOO_LARGE`. Errors contain only the origin of a URL from the response.
 */
export async function readSignedAnswer(response: HttpResponse, rules: AnswerRules): Promise<CacheEntry<Signature>> {
  const { status, url, headers } = response
  const { credential, addressOf, responseField, answer: kind, now } = rules
  const set = kind === 'cookies' && status < 400 ? cookiesOf(response, undefined, undefined) : undefined
  if (set !== undefined) {
    await response.discard()
    return signatureIn(set, undefined, rules, url)
  }
  if (isRedirect(status) && kind !== 'url') {
    await response.discard()
    throw new TrustError('SIGN_REDIRECT', `the signing API of "${credential}" redirects; its response should hold a signature`, {
      credential,
      url,
      status,
    })
  }
  if (isRedirect(status)) {
    await response.discard()
    const stated = headers.get('location') ?? ''
    const location = addressOf(stated)
    if (location !== undefined) return asSignature(expiryOf(location, undefined, now))
    const { what, hint } = uncovered(stated, rules)
    throw new TrustError('SIGN_REDIRECT', `the signing API of "${credential}" redirects to ${what}`, { credential, url, status, ...hint })
  }
  if (status < 200 || status > 299) {
    await response.discard()
    throw refusedCall('signing API', 'signing calls', response, credential)
  }
  const text = await response.text(MAX_ANSWER)
  const answer = parsedJson(text) ?? (/^text\/plain\b/i.test(headers.get('content-type') ?? '') ? text.trim() : undefined)
  if (kind === 'cookies') return signatureIn(cookiesOf(response, answer, responseField), answer, rules, url)
  const signed = textIn(answer, responseField, USUAL[kind])
  if (kind === 'query') return signatureIn(signed === undefined ? undefined : queryOf(signed), answer, rules, url)
  if (signed === undefined) throw missing('string', rules, url)
  const address = addressOf(signed)
  if (address === undefined) throw forbidden(signed, rules)
  return asSignature(expiryOf(address, answer, now))
}

/** Returns the URL that was asked for with that signature. Errors: `RESPONSE_FIELD_MISSING`, `SIGNED_URL_FORBIDDEN`, `QUERY_NAME_CONFLICT`. */
function signatureIn(query: string | undefined, answer: unknown, rules: AnswerRules, api: string): CacheEntry<Signature> {
  const { credential, answer: kind, asked, addressOf, now } = rules
  if (query === undefined) throw missing(kind === 'query' ? 'query' : 'CloudFront cookies', rules, api)
  const signed = appended(asked, query)
  if (signed === undefined) {
    const message = `the URL cannot have the signature from the signing API of "${credential}": it is not https, or has one of its parameters already`
    throw new SelectionError('QUERY_NAME_CONFLICT', message, { credential, url: asked })
  }
  const address = addressOf(signed)
  if (address === undefined) throw forbidden(signed, rules)
  const { value, ...life } = expiryOf(address, answer, now)
  return { value: { address: value, query }, ...life }
}

function asSignature({ value: address, ...life }: CacheEntry<string>): CacheEntry<Signature> {
  return { value: { address }, ...life }
}

function missing(what: string, { credential, responseField, answer }: AnswerRules, url: string): SelectionError {
  const usual = answer === 'cookies' ? '' : ` in ${USUAL[answer].join(', ')}`
  const where = responseField === undefined ? usual : ` in "${responseField}"`
  const message = `the response of the signing API of "${credential}" has no ${what}${where}`
  return new SelectionError('RESPONSE_FIELD_MISSING', message, { credential, url })
}

function forbidden(signed: string, rules: AnswerRules): SelectionError {
  const { credential } = rules
  const { what, origin, hint } = uncovered(signed, rules)
  const fields = { credential, url: origin, ...hint }
  return new SelectionError('SIGNED_URL_FORBIDDEN', `the signing API of "${credential}" returned ${what}`, fields)
}

/** Describes a URL that is not allowed, with a hint. Its path may be as secret as its query. */
function uncovered(address: string, { credential, addressOf }: AnswerRules) {
  const url = canParseUrl(address) && /^https?:/i.test(address) ? new URL(address) : undefined
  const what = `a URL${url ? ` on ${url.origin}` : ''} that signedUrlHosts does not include`
  if (url?.protocol !== 'https:') return { what, origin: url?.origin }
  const { origin, pathname } = url
  // The host is allowed, so something else is wrong with the URL.
  if (addressOf(origin + pathname) !== undefined) return { what, origin }
  return { what, origin, hint: { hint: `if you trust that host, add "${origin}/" to signedUrlHosts of "${credential}"` } }
}

/** Reads own members only: the exact name, or a path of names separated by dots. */
function textIn(answer: unknown, field: string | undefined, usual: readonly string[]): string | undefined {
  if (field === undefined) {
    if (typeof answer === 'string') return answer
    return usual.map((name) => ownString(answer, name)).find((link) => link !== undefined)
  }
  const exact = own(answer, field)
  const value = exact === undefined && field.includes('.') ? field.split('.').reduce<unknown>(own, answer) : exact
  return typeof value === 'string' ? value : undefined
}

/** Signatures without a URL: a query that is added to the URL of the file, or cookies of CloudFront. */

/** Characters of a query (RFC 3986 §3.4). */
const QUERY = /^(?:[\w.~!$'()*+,;=:@/?&-]|%[\da-f]{2})+$/i

/** Returns a token as a query, without its question mark; undefined for text that is none. */
function queryOf(token: string): string | undefined {
  const query = token.trim().replace(/^[?&]/, '')
  return query.length <= MAX_LENGTH && query.includes('=') && QUERY.test(query) ? query : undefined
}

/** Longer URLs are refused by most servers. */
const MAX_LENGTH = 8192

/**
 * Names of the cookies and of the parameters that mean the same (CloudFront, "Use signed cookies"): `Policy` for a custom policy,
 * `Expires` for a canned one.
 */
const NAMES = ['Policy', 'Expires', 'Signature', 'Key-Pair-Id', 'Hash-Algorithm'] as const

/** Returns the signature as a query: of the cookies that the response sets, else of its members; undefined when one is missing. */
function cookiesOf({ headers }: Pick<HttpResponse, 'headers'>, answer: unknown, field: string | undefined): string | undefined {
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

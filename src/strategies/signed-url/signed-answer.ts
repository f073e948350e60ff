/** Reads the signed URL, or the signature alone, and its expiry from the response of a signing API. */

import type { CacheEntry } from '../../auth/session.ts'
import { refusedCall } from '../../auth/strategy.ts'
import { SelectionError, TrustError } from '../../errors.ts'
import { type HttpResponse, isRedirect } from '../../http/message.ts'
import { isObject, own, ownString } from '../../stac/document.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { expiryOf } from './signed-policy.ts'
import { appended, cookiesOf, queryOf } from './signed-query.ts'

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
  const answer = parsed(text) ?? (/^text\/plain\b/i.test(headers.get('content-type') ?? '') ? text.trim() : undefined)
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

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) || typeof value === 'string' ? value : {}
  } catch {
    return undefined
  }
}

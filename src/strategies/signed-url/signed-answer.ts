/** Reads the signed URL and its expiry from the response of a signing API. */

import type { CacheEntry } from '../../auth/session.ts'
import { refusedCall } from '../../auth/strategy.ts'
import { SelectionError, TrustError } from '../../errors.ts'
import { type HttpResponse, isRedirect } from '../../http/message.ts'
import { isObject, own, ownString } from '../../stac/document.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { expiryOf } from './signed-policy.ts'

const MAX_ANSWER = 1_048_576

/** Members tried when the catalog does not name the one that holds the URL. */
const USUAL = ['signed_url', 'signedUrl', 'url', 'href']

/** Options for reading the response. */
export interface AnswerRules {
  readonly credential: string
  readonly responseField: string | undefined
  /** Returns the canonical URL, or undefined when the user's credential does not allow a signed URL there. */
  readonly addressOf: (text: string) => string | undefined
  readonly now: number
}

/**
 * Returns the signed URL. Errors: `AUTH_REJECTED`, `HTTP_<status>`, `RESPONSE_FIELD_MISSING`, `SIGNED_URL_FORBIDDEN`,
 * `SIGN_REDIRECT`, `RESPONSE_TOO_LARGE`. Errors contain only the origin of a URL from the response.
 */
export async function readSignedAnswer(response: HttpResponse, rules: AnswerRules): Promise<CacheEntry<string>> {
  const { status, url, headers } = response
  const { credential, addressOf, responseField, now } = rules
  if (isRedirect(status)) {
    await response.discard()
    const stated = headers.get('location') ?? ''
    const location = addressOf(stated)
    if (location !== undefined) return expiryOf(location, undefined, now)
    const { what, hint } = uncovered(stated, rules)
    throw new TrustError('SIGN_REDIRECT', `the signing API of "${credential}" redirects to ${what}`, { credential, url, status, ...hint })
  }
  if (status < 200 || status > 299) {
    await response.discard()
    throw refusedCall('signing API', 'signing calls', response, credential)
  }
  const text = await response.text(MAX_ANSWER)
  const answer = parsed(text) ?? (/^text\/plain\b/i.test(headers.get('content-type') ?? '') ? text.trim() : undefined)
  const signed = addressIn(answer, responseField)
  if (signed === undefined) {
    const where = responseField === undefined ? USUAL.join(', ') : `"${responseField}"`
    const message = `the response of the signing API of "${credential}" has no string in ${where}`
    throw new SelectionError('RESPONSE_FIELD_MISSING', message, { credential, url })
  }
  const address = addressOf(signed)
  if (address === undefined) throw forbidden(signed, rules)
  return expiryOf(address, answer, now)
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
function addressIn(answer: unknown, field: string | undefined): string | undefined {
  if (field === undefined) {
    if (typeof answer === 'string') return answer
    return USUAL.map((name) => ownString(answer, name)).find((value) => value !== undefined)
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

/** The request that a link asks for: STAC API, "Pagination", and the fields `method`, `headers` and `body` of links in STAC 1.1. */

import type { ErrorCode } from '../errors.ts'
import { mediaType } from '../http/headers.ts'
import { queryValues, withQueryParameter } from '../http/message.ts'
import { type AddressProblem, addressOf, isAddressProblem } from '../http/url.ts'
import { isObject, type JsonObject, own, ownObject, ownString } from '../stac/document.ts'
import { readRefs } from '../stac/target.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { type JobRequest, originOf, withoutFragment } from './job.ts'

/** Why a link is not followed. */
export interface LinkProblem {
  readonly code: ErrorCode
  /** What is wrong, after the name of the link. */
  readonly message: string
}

/** Maximum length of the URL and the body of a request. */
const LONGEST = 8192

/**
 * Returns the request of a link in the document at `base`, or why there is none. POST is sent to the origin of that document only.
 *
 * @param previous the request of the page with a `next` link; with `merge`, the link's headers and body are laid over its own
 */
export function requestOf(link: JsonObject, base: string, previous?: JobRequest): JobRequest | LinkProblem {
  if (isUnreadable(link)) return problem('SCHEME_INVALID', 'its auth:refs is not a list of scheme names, so it may not be public')
  const href = ownString(link, 'href') ?? ''
  if (href.length > LONGEST) return TOO_LONG
  const url = resolveLink(href, base)
  if (typeof url !== 'string') return problem(url.code, `its href ${url.message}`)
  const stated = own(link, 'method') ?? 'GET'
  const method = String(stated).toUpperCase()
  if (method !== 'GET' && method !== 'POST') return problem('LINK_REQUEST_FORBIDDEN', 'its method is neither GET nor POST')
  const earlier = own(link, 'merge') === true ? previous : undefined
  const given = Object.entries(ownObject(link, 'headers') ?? {})
  const forbidden = given.find(([name, value]) => !isAllowed(name.toLowerCase(), value))
  if (forbidden)
    return problem('LINK_REQUEST_FORBIDDEN', `documents may not set ${short(forbidden[0])} in its headers, or not to this value`)
  const headers = Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), String(value)]))
  if (method === 'GET') return { method, url, headers: { ...withoutContent(earlier?.headers), ...withoutContent(headers) } }
  if (originOf(url) !== originOf(base))
    return problem('LINK_REQUEST_FORBIDDEN', `it sends POST to ${originOf(url)}, which is not the origin of this document`)
  if (!/^(?:search|next)$/.test(ownString(link, 'rel') ?? ''))
    return problem('LINK_REQUEST_FORBIDDEN', 'only links "search" and "next" may send POST')
  const body = own(link, 'body') ?? {}
  if (!isObject(body)) return problem('LINK_REQUEST_FORBIDDEN', 'its body is not an object')
  const merged = JSON.stringify({ ...bodyOf(earlier), ...body })
  if (href.length + merged.length > LONGEST) return TOO_LONG
  return { method, url, headers: { 'content-type': 'application/json', ...earlier?.headers, ...headers }, body: merged }
}

/** Returns the request of a list with this page size, unless it states its own: in the query, or in the body of a POST. */
export function withPageSize(request: JobRequest, size: number): JobRequest {
  const { method, url } = request
  if (method === 'POST') return { ...request, body: JSON.stringify({ limit: size, ...bodyOf(request) }) }
  return queryValues(url, 'limit').length > 0 ? request : { ...request, url: withQueryParameter(url, 'limit', String(size)) }
}

function problem(code: ErrorCode, message: string): LinkProblem {
  return { code, message }
}

const TOO_LONG = problem('URL_INVALID', 'its href and body are longer than 8 kB')

function bodyOf(request: JobRequest | undefined): JsonObject {
  return request?.body === undefined ? {} : (JSON.parse(request.body) as JsonObject)
}

/** The headers that a document may set. They state a media type or language, or the position in a list (STAC API, "Item Search Examples"). */
const ALLOWED = ['accept', 'accept-language', 'content-type', 'search-after']

/** Returns false for a header that could carry a credential, or change where the request goes and how it is read. */
function isAllowed(name: string, value: unknown): boolean {
  if (!ALLOWED.includes(name) || typeof value !== 'string' || !/^[\x20-\x7e]*$/.test(value)) return false
  return name !== 'content-type' || /[/+]json$/.test(mediaType(value))
}

function short(name: string): string {
  return `"${name.slice(0, MOST_CHARACTERS)}"`
}

/** Maximum length of a name in a message. */
const MOST_CHARACTERS = 64

/** Returns the headers of a request without a body. */
function withoutContent(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const { 'content-type': _type, ...rest } = headers
  return rest
}

/** Returns true for a link that requires authentication without naming a valid scheme. It is not followed, because it may not be public. */
function isUnreadable(link: JsonObject): boolean {
  const { refs, malformedRefs } = readRefs(link, '')
  return malformedRefs !== undefined && refs.length === 0
}

/**
 * Returns the URL of a link without its fragment, or why it is not followed. The base is the URL of the linking document. Documents from
 * the network never lead to local files.
 */
function resolveLink(href: string, base: string): string | AddressProblem {
  const isFile = base.startsWith('file:')
  // Files refer to other files by relative references, and to the network by absolute URLs.
  const file = isFile && canParseUrl(href, base) ? new URL(href, base) : undefined
  if (file?.protocol === 'file:' && file.hostname === '') return withoutFragment(file)
  const url = addressOf(href, isFile ? ANYWHERE : { ...ANYWHERE, base })
  if (isAddressProblem(url)) return url
  return url.protocol === 's3:'
    ? { code: 'URL_SCHEME_FORBIDDEN', message: 'has the scheme "s3:", which a crawl does not read' }
    : withoutFragment(url)
}

/** Allows every origin here, because the transport checks the IP address that is dialled. */
const ANYWHERE = { secure: false, named: { has: () => true } } as const

/** The header fields that the gateway forwards in each direction; all others are dropped. */
import type { IncomingHttpHeaders } from 'node:http'
import type { HttpResponse } from '../../http/message.ts'

const REQUEST_FIELDS = [
  'accept',
  'accept-language',
  'range',
  'if-range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'user-agent',
]

/** Content codings that the gateway can decode when it has to read a body. */
const CODINGS = /^(?:gzip|x-gzip|deflate|br|identity)(?:\s*;\s*q=[\d.]+)?$/i

/** Returns the fields of a request that are sent. */
export function requestFields(headers: IncomingHttpHeaders): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const name of REQUEST_FIELDS) {
    const value = headers[name]
    if (typeof value === 'string') fields[name] = value
  }
  const codings = (headers['accept-encoding'] ?? '').toString().split(',')
  const known = codings.map((coding) => coding.trim()).filter((coding) => CODINGS.test(coding))
  fields['accept-encoding'] = known.length > 0 && headers.range === undefined ? known.join(', ') : 'identity'
  return fields
}

const RESPONSE_FIELDS = [
  'Content-Type',
  'Content-Language',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Length',
  'Content-Range',
  'Accept-Ranges',
  'ETag',
  'Last-Modified',
  'Age',
  'Expires',
  'Cache-Control',
  'Vary',
  'Retry-After',
]

/** Fields of every response: all servers share the origin of the gateway, so a page of one must not access URLs of another. */
export const OWN_FIELDS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': 'sandbox',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** The credential that was used for a response, and the origin that requested it. */
export interface ResponseUse {
  /** Id of the credential that was used; undefined for none. */
  readonly credential: string | undefined
  /** The allowed origin whose page sent the request; undefined for a program. */
  readonly origin: string | undefined
}

/** Returns the fields of a response that are forwarded to the program. */
export function responseFields({ headers }: HttpResponse, { credential, origin }: ResponseUse): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const name of RESPONSE_FIELDS) {
    const value = headers.get(name)
    if (value !== null) fields[name] = value
  }
  if (credential !== undefined) {
    fields['Cache-Control'] = 'private, no-store'
    delete fields.Age
    delete fields.Expires
  }
  const vary = fields.Vary === undefined ? {} : { Vary: `Origin, ${fields.Vary}` }
  return Object.assign(fields, OWN_FIELDS, corsFields(origin), origin !== undefined && vary)
}

/** Returns the fields that let pages of that origin read a response (Fetch standard, "CORS protocol"). */
export function corsFields(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return {}
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'Accept-Ranges, Content-Encoding, Content-Length, Content-Range, ETag, Retry-After, x-stac-auth-code',
    Vary: 'Origin',
  }
}

/** Returns the fields of the response to a preflight request. */
export function preflightFields(origin: string, headers: IncomingHttpHeaders): Record<string, string> {
  return {
    ...corsFields(origin),
    ...OWN_FIELDS,
    'Access-Control-Allow-Methods': 'GET, HEAD, POST',
    'Access-Control-Allow-Headers':
      'Accept, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Range',
    'Access-Control-Max-Age': '600',
    ...(headers['access-control-request-private-network'] === 'true' && { 'Access-Control-Allow-Private-Network': 'true' }),
  }
}

/** A range of one representation (RFC 9110 §14.4); `total` is undefined when the server does not know it. */
export interface ContentRange {
  readonly first: number
  readonly last: number
  readonly total: number | undefined
}

/** Parses `Content-Range` of a single range. */
export function contentRange(field: string | null): ContentRange | undefined {
  const [, first, last, total] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(field ?? '') ?? []
  if (first === undefined || last === undefined || Number(last) < Number(first)) return undefined
  return { first: Number(first), last: Number(last), total: total === '*' ? undefined : Number(total) }
}

/** Returns the bytes of `total` that a single `Range` selects; `'none'` for a range beyond the end, undefined for any other field. */
export function selectedRange(field: string | undefined, total: number): { first: number; last: number } | 'none' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(field?.trim() ?? '') ?? []
  if (from === '' && to === '') return undefined
  if (from === '') return Number(to) === 0 || total === 0 ? 'none' : { first: Math.max(0, total - Number(to)), last: total - 1 }
  if (to !== '' && Number(to) < Number(from)) return undefined
  if (Number(from) >= total) return 'none'
  return { first: Number(from), last: to === '' ? total - 1 : Math.min(Number(to), total - 1) }
}

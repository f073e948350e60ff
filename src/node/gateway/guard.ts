/** What passes the gateway: who may use it, which requests are well-formed, and which header fields go on in each direction. */

import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { TrustError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { readGatewayPath } from './gateway-url.ts'

/** Who may use the gateway. */
export interface GuardOptions {
  readonly capability: string
  /** True for an accepted value of `Host`. */
  isHost(host: string): boolean
  /** Origin of the one web page that may use the gateway. */
  readonly allowOrigin?: string | undefined
}

/** A refused request: the status, and for programs that know the capability the reason. */
export interface Refused {
  readonly status: number
  readonly error?: TrustError
}

/** An accepted request. */
export interface Accepted {
  /** The requested URL. */
  readonly url: string
  /** The allowed origin whose page sent the request; undefined for a program. */
  readonly origin?: string
  /** True for a CORS preflight request. */
  readonly isPreflight?: boolean
}

/** Maximum bytes of the request target. */
const LONGEST_TARGET = 16_384

const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/** Checks a request; a program without the capability gets no information. */
export function check(request: IncomingMessage, options: GuardOptions): Refused | Accepted {
  const { method = '', url: target = '', headers } = request
  if (target.length > LONGEST_TARGET) return { status: 414 }
  if (!target.startsWith('/')) return { status: 400 }
  const { capability, url } = readGatewayPath(target)
  if (!isSame(capability, options.capability)) return { status: 404 }
  if (request.headersDistinct.host?.length !== 1 || !options.isHost(headers.host ?? ''))
    return refused(403, 'the Host header does not name the gateway')
  const { origin, 'sec-fetch-site': site } = headers
  // Several `Origin` fields are joined by commas, so they never match.
  if (origin !== undefined && origin !== options.allowOrigin)
    return refused(403, 'requests of web pages are refused; --allow-origin URL allows those of one origin')
  if (origin === undefined && (site === 'cross-site' || site === 'same-site'))
    return refused(403, 'requests of web pages without an Origin header are refused')
  if (!METHODS.has(method)) return refused(405, `the method ${method} is not supported`)
  const isPreflight = method === 'OPTIONS'
  if (isPreflight && (origin === undefined || headers['access-control-request-method'] === undefined))
    return refused(405, 'the method OPTIONS is not supported')
  if (method !== 'POST' && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0))
    return refused(400, `a ${method} request cannot have a body`)
  if (url === undefined) return refused(400, 'the path does not name a URL: use BASE/https/host/path')
  return { url, ...(origin && { origin }), ...(isPreflight && { isPreflight }) }
}

function refused(status: number, why: string): Refused {
  return { status, error: new TrustError('REQUEST_REFUSED', `request refused: ${why}`) }
}

/** Compares in constant time; only the length is revealed. */
function isSame(given: string, capability: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(capability)]
  return one.length === other.length && timingSafeEqual(one, other)
}

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

/** Responses of a service: the data of a success, and the error that any other response becomes, redacted. */

import { type AuthError, isAuthError, ProtocolError, TrustError } from '../../errors.ts'
import { type HttpResponse, isRedirect, utf8 } from '../../http/message.ts'
import { retryHint } from '../../net/retry.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { HttpError, PermissionError, RateLimitError } from './errors.ts'
import { failureMessage } from './failure-message.ts'
import type { Operation } from './request.ts'
import { isMarkup, strictText } from './response-text.ts'
import { RETRYABLE } from './retries.ts'

/**
 * A successful response, as `ApiClient.send` and `request` return it.
 *
 * @example
 * const { status, headers, data } = await client.request('GET', '/reports/daily')
 * console.log(status, headers.get('etag'), data)
 */
export class ApiResponse<T = unknown> {
  /** Status of the response: 2xx, or 404 with `alreadyGone`. */
  readonly status: number
  /** Headers of the response; names in any case. */
  readonly headers: HttpResponse['headers']
  /** The decoded body: JSON, text, bytes or a stream, by `response` of the operation; `undefined` for an empty one. */
  readonly data: T
  /** Number of requests that were sent for it, challenges and retries included. */
  readonly attempts: number
  /** True when a repeated deletion found nothing, because an earlier attempt had deleted it. */
  readonly alreadyGone: boolean

  /** @internal */
  constructor(status: number, headers: HttpResponse['headers'], data: T, attempts: number, alreadyGone = false) {
    this.status = status
    this.headers = headers
    this.data = data
    this.attempts = attempts
    this.alreadyGone = alreadyGone
  }

  /** Identifier of the request for the support of the service, from its headers (`X-Trace-ID`, `X-Request-ID`). */
  get traceId(): string | undefined {
    return traceOf(this.headers)
  }
}

/**
 * Reads and writes XML, for which the library has no parser. An error that it throws becomes `RESPONSE_INVALID` (`parse`) or
 * `CONFIG_INVALID` (`stringify`).
 */
export interface Codec {
  /** Returns the value of a response with that media type. */
  parse(text: string, contentType: string): unknown
  /** Returns the text of a value for a request. */
  stringify?(value: unknown): string
}

/** A response whose body was read. */
export interface ReadResponse {
  readonly status: number
  readonly headers: HttpResponse['headers']
  readonly body: Uint8Array
  /** Origin and path of the request. */
  readonly url: string
  readonly method: string
  /** Removes secrets from a text. */
  scrub(text: string): string
}

/** How the data of a success is read. */
interface Decoding {
  readonly operation: Operation
  readonly codec: Codec | undefined
  readonly parseJson: (text: string) => unknown
}

const XML = /^(?:application|text)\/xml\b|\+xml\b/i

/** Number of characters of a body that errors quote, and that are searched for secrets, so that one that starts inside is found whole. */
const [SNIPPET, SEARCHED] = [200, 8192]

/**
 * Returns the data of a successful response; `undefined` for an empty one.
 *
 * Errors: `RESPONSE_INVALID` with the content type and the first 200 characters for invalid JSON, `MEDIA_TYPE_UNSUPPORTED` for XML without
 * a codec.
 */
export function dataOf(response: ReadResponse, { operation, codec, parseJson }: Decoding): unknown {
  const { body, headers, url, status, scrub } = response
  const { response: kind = 'json', secretAnswer } = operation
  if (kind === 'bytes') return body
  if (body.length === 0) return kind === 'text' ? '' : undefined
  const text = strictText(body, url, status)
  if (kind === 'text') return text
  const contentType = headers.get('content-type') ?? ''
  const isXml = XML.test(contentType)
  if (isXml && !codec) {
    const hint = 'set a codec for XML, or request JSON'
    const message = `${url}: the response is XML, but no codec for XML is set`
    throw Object.assign(new ProtocolError('MEDIA_TYPE_UNSUPPORTED', message, { url, status, hint }), { contentType })
  }
  try {
    return isXml ? codec?.parse(text, contentType) : parseJson(text)
  } catch {
    const why = isXml ? 'cannot be read by the codec' : `is not JSON (${contentType || 'no content type'})`
    // A page instead of a paid result may come after the work was done and billed.
    const retryable = !(operation.billed && isMarkup(text))
    const error = new ProtocolError('RESPONSE_INVALID', `${url}: the response ${why}`, { url, status, retryable })
    const snippet = secretAnswer ? '[secret]' : scrub(text.slice(0, SEARCHED)).slice(0, SNIPPET)
    throw Object.assign(error, { contentType, snippet })
  }
}

/** Number of characters of a body that `bodyText` keeps. */
const KEPT = 2048

const CLASSES: Readonly<Record<number, typeof HttpError>> = { 403: PermissionError, 429: RateLimitError, 529: RateLimitError }

/**
 * Returns the error of a response that is not a success: `HttpError` or one of its kinds, `TrustError` for a redirect to another origin.
 * Never throws, whatever the body is.
 *
 * @param hints advice by status
 * @param now epoch milliseconds
 */
export function statusError(response: ReadResponse, hints: Readonly<Record<number, string>>, now: number): AuthError {
  const { status, headers, url, method, scrub } = response
  const redirect = redirectRefusal(status, headers.get('location'), url)
  if (redirect) return redirect
  const text = scrub(utf8(response.body))
  const body = parsed(text)
  const { message: said, code, detail } = failureMessage(text, scrub)
  const traceId = traceOf(headers)
  const Class = CLASSES[status] ?? HttpError
  const hint = hints[status]
  return new Class(`${method} ${url}: the server answered ${status}${said ? `: ${said}` : ''}`, {
    ...{ url, status, retryable: RETRYABLE.has(status), body },
    ...(hint !== undefined && { hint }),
    ...(code !== undefined && { serviceCode: code }),
    ...(detail !== undefined && { detail }),
    ...(traceId !== undefined && { traceId: scrub(traceId) }),
    ...(text !== '' && { bodyText: text.slice(0, KEPT) }),
    headers: shownHeaders(headers, scrub),
    ...retryAfter(headers, now),
  })
}

function retryAfter(headers: HttpResponse['headers'], now: number): { readonly retryAfterMs?: number } {
  const retryAfterMs = retryHint(headers, now)
  return retryAfterMs === undefined ? {} : { retryAfterMs }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/**
 * Returns the error for a redirect: `REDIRECT_DOWNGRADE` out of https, `REDIRECT_CROSS_ORIGIN` to another origin; `undefined` for a
 * redirect to the same origin, and for any other response. Clients of an API never follow redirects, because the credential is for the base
 * URL.
 *
 * @param from the URL that answered
 */
function redirectRefusal(status: number, location: string | null, from: string): TrustError | undefined {
  if (!isRedirect(status) || location === null || !canParseUrl(location, from)) return undefined
  const [to, own] = [new URL(location, from), new URL(from)]
  if (to.origin === own.origin && to.protocol === own.protocol) return undefined
  const isDowngrade = own.protocol === 'https:' && to.protocol !== 'https:'
  const target = to.origin === 'null' ? to.protocol : to.origin
  const message = `${own.origin} redirects to ${target}; clients do not follow redirects`
  const hint = 'if the service has moved, set baseUrl to its new URL'
  const error = new TrustError(isDowngrade ? 'REDIRECT_DOWNGRADE' : 'REDIRECT_CROSS_ORIGIN', message, { url: from, status, hint })
  return Object.assign(error, { from: own.origin, to: target })
}

/** Returns the error of a response whose body ended too early. */
export function truncated(error: unknown, url: string, status: number): unknown {
  if (!isAuthError(error) || (error.code !== 'NETWORK_RESET' && error.code !== 'RESPONSE_TRUNCATED')) return error
  return new ProtocolError('RESPONSE_TRUNCATED', `${url}: the response ended too early`, { url, status, retryable: true })
}

/** Headers whose values are never secret. */
const HARMLESS = [
  'accept',
  'accept-encoding',
  'allow',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'etag',
  'last-modified',
  'range',
  'retry-after',
  'retry-after-ms',
  'server',
  'user-agent',
  'vary',
  'x-request-id',
  'x-trace-id',
]

/** Returns the harmless headers of a response, by name. */
function shownHeaders(headers: HttpResponse['headers'], scrub: (text: string) => string): Record<string, string> {
  return Object.fromEntries(
    HARMLESS.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, scrub(value)]]
    }),
  )
}

/** Returns all headers of a request; the value of one that is not harmless is `[secret]`. */
export function shownRequestHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, HARMLESS.includes(name) ? value : '[secret]']))
}

/** Returns the identifier by which the operators of a service find a request in their logs. */
export function traceOf(headers: HttpResponse['headers']): string | undefined {
  return headers.get('x-trace-id') ?? headers.get('x-request-id') ?? undefined
}

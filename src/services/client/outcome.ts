/** The outcome of an attempt: the data of a response, or the error that it becomes, redacted. */

import { type AuthError, isAuthError, NetworkError, ProtocolError, TimeoutError, TrustError } from '../../errors.ts'
import { type HttpRequest, isRedirect, queryValues } from '../../http/message.ts'
import { messageInJson } from '../../http/server-message.ts'
import { retryHint } from '../../net/retry.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import type { Attempts } from './attempts.ts'
import type { CallParts } from './call.ts'
import { type Collected, isUncollected, type Uncollected } from './collect-over.ts'
import {
  AuthenticationError,
  annotate,
  BadRequestError,
  ConflictError,
  HttpError,
  type HttpFields,
  NotFoundError,
  PayloadTooLargeError,
  PermissionError,
  QuotaExceededError,
  RateLimitError,
  ServerError,
  UnavailableError,
  UnsupportedMediaTypeError,
  UriTooLongError,
} from './errors.ts'
import type { Operation } from './request-builder.ts'
import { type Failure, verdictOn } from './retries.ts'

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

/** A success with its data, or a failure. */
export type Outcome = Success | Failure

interface Success {
  readonly answer: Collected
  readonly data: unknown
}

export function isFailure(outcome: Outcome): outcome is Failure {
  return 'error' in outcome
}

/** Evaluates the results of one call's attempts. */
export class Outcomes {
  readonly #parts: CallParts
  readonly #attempts: Attempts
  readonly #url: string

  constructor(parts: CallParts, attempts: Attempts, url: string) {
    this.#parts = parts
    this.#attempts = attempts
    this.#url = url
  }

  /** @param plain the request before it was authorized */
  of(result: Collected | Uncollected, plain: HttpRequest): Outcome {
    if (isUncollected(result)) return this.#silence(result)
    const { status } = result
    if (status >= 200 && status < 300) return this.#success(result, plain)
    return this.#refusal(result, plain)
  }

  /** Returns a `TIMEOUT_ATTEMPT` error. */
  attemptTimeout(timeout: number): TimeoutError {
    const message = `${this.#url}: no complete response within ${timeout} ms`
    return new TimeoutError('TIMEOUT_ATTEMPT', message, { url: this.#url, retryable: true })
  }

  /** Returns a function that removes the secrets of this request from a text. Everything that differs from the plain request is secret. */
  scrubber(plain: HttpRequest): (text: string) => string {
    const { settings, prepared, input } = this.#parts
    const redactor = settings.redactor()
    const { sent } = this.#attempts
    for (const [name, value] of Object.entries(sent?.headers ?? {})) if (value !== plain.headers[name]) redactor.addHeader(value)
    if (sent && sent.url !== plain.url) for (const value of addedValues(sent.url, plain.url)) redactor.add(value)
    const secrets = prepared.operation.secrets ?? []
    redactor.addMembers(input.body, secrets)
    redactor.addMembers(input.query, secrets)
    return redactor.scrub
  }

  #silence({ error, ...rest }: Uncollected): Failure {
    annotate(error, { sent: rest.sent })
    return { error, ...rest }
  }

  #success(answer: Collected, plain: HttpRequest): Outcome {
    const { prepared, settings } = this.#parts
    const scrub = (text: string) => this.scrubber(plain)(text)
    const { operation, responseKind: kind } = prepared
    try {
      const secret = operation.secretAnswer === true
      return { answer, data: decode(answer, { kind, codec: settings.codec, parseJson: settings.parseJson, url: this.#url, scrub, secret }) }
    } catch (error) {
      if (!isAuthError(error)) throw error
      return { error, status: answer.status, headers: answer.headers, sent: true, begun: true }
    }
  }

  #refusal(answer: Collected, plain: HttpRequest): Failure {
    const { status, headers } = answer
    const { settings } = this.#parts
    const { clock } = settings.limits
    const failed = { status, headers, sent: true, begun: true }
    const refusal = redirectRefusal(status, headers.get('location'), this.#url)
    if (refusal) return { ...failed, error: refusal }
    const hint = settings.hints[status]
    const retryAfterMs = retryHint(headers, clock.now())
    const retryable = verdictOn({ ...failed, error: NO_ERROR }, 'idem') !== 'never'
    const error = httpFailure({
      ...failed,
      text: answer.text(),
      url: this.#url,
      method: plain.method,
      retryable,
      retryAfterMs,
      hint,
      scrub: this.scrubber(plain),
    })
    return { ...failed, error }
  }
}

const NO_ERROR = new NetworkError('NETWORK_FAILED', '') as AuthError

interface Decoding {
  readonly kind: NonNullable<Operation['response']>
  readonly codec: Codec | undefined
  readonly parseJson: (text: string) => unknown
  readonly url: string
  readonly scrub: (text: string) => string
  /** True if errors must not quote the response. */
  readonly secret: boolean
}

const XML = /^(?:application|text)\/xml\b|\+xml\b/i

const SNIPPET = 200

/** Number of characters that are searched for secrets, so that a secret that starts inside the snippet is found whole. */
const READ = 8192

/**
 * Returns the data of a successful response; `undefined` for an empty one.
 *
 * Errors: `RESPONSE_INVALID` with the content type and the first 200 characters for invalid JSON, `MEDIA_TYPE_UNSUPPORTED` for XML without
 * a codec.
 */
function decode(answer: Collected, decoding: Decoding): unknown {
  if (decoding.kind === 'bytes') return answer.body
  if (answer.body.length === 0) return decoding.kind === 'text' ? '' : undefined
  const text = answer.text()
  if (decoding.kind === 'text') return text
  const contentType = answer.headers.get('content-type') ?? ''
  if (XML.test(contentType)) return fromXml(text, contentType, answer.status, decoding)
  try {
    return decoding.parseJson(text)
  } catch {
    throw unreadable(`is not JSON (${contentType || 'no content type'})`, text, contentType, answer.status, decoding)
  }
}

function fromXml(text: string, contentType: string, status: number, decoding: Decoding): unknown {
  const { codec, url } = decoding
  if (!codec) {
    const hint = 'set a codec for XML, or request JSON'
    const message = `${url}: the response is XML, but no codec for XML is set`
    throw Object.assign(new ProtocolError('MEDIA_TYPE_UNSUPPORTED', message, { url, status, hint }), { contentType })
  }
  try {
    return codec.parse(text, contentType)
  } catch {
    throw unreadable('cannot be read by the codec', text, contentType, status, decoding)
  }
}

function unreadable(why: string, text: string, contentType: string, status: number, { url, scrub, secret }: Decoding): ProtocolError {
  const error = new ProtocolError('RESPONSE_INVALID', `${url}: the response ${why}`, { url, status, retryable: true })
  return Object.assign(error, { contentType, snippet: secret ? '[secret]' : scrub(text.slice(0, READ)).slice(0, SNIPPET) })
}

/** Returns the values of query parameters that the plain URL does not have. */
function addedValues(url: string, plain: string): readonly string[] {
  const names = new Set(new URL(url).searchParams.keys())
  return [...names].flatMap((name) => queryValues(url, name).filter((value) => !queryValues(plain, name).includes(value)))
}

/** Number of characters of a body that `bodyText` keeps. */
const KEPT = 2048

/** A response whose status is not a success; `scrub` removes secrets from a text. */
interface Failed {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly text: string
  /** Origin and path. */
  readonly url: string
  readonly method: string
  readonly retryAfterMs?: number
  readonly retryable: boolean
  readonly hint?: string
  readonly scrub: (text: string) => string
}

type HttpErrorClass = new (message: string, fields: HttpFields) => HttpError

/**
 * Builds the error of the class for a status: its own class, `ServerError` for other 5xx, else `HttpError`. Never throws, whatever the body
 * is.
 */
function httpFailure(failed: Failed): HttpError {
  const { status, headers, url, method, retryAfterMs, retryable, hint, scrub } = failed
  const text = scrub(failed.text)
  const body = parsed(text)
  const { message, code, detail } = messageInJson(body)
  const traceId = traceOf(headers)
  const said = message ? shortened(message) : body === undefined && isPlainLine(text) ? text.trim() : undefined
  const fields: HttpFields = {
    url,
    status,
    retryable,
    hint,
    serviceCode: code,
    detail,
    traceId: traceId && scrub(traceId),
    retryAfterMs,
    responseHeaders: shownHeaders(headers, scrub),
    body,
    bodyText: text.slice(0, KEPT) || undefined,
  }
  const Class = CLASSES[status] ?? (status >= 500 && status < 600 && status !== 529 ? ServerError : HttpError)
  return new Class(`${method} ${url}: the server answered ${status}${said === undefined ? '' : `, ${said}`}`, fields)
}

const CLASSES: Readonly<Record<number, HttpErrorClass>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  413: PayloadTooLargeError,
  414: UriTooLongError,
  415: UnsupportedMediaTypeError,
  429: RateLimitError,
  456: QuotaExceededError,
  503: UnavailableError,
  504: UnavailableError,
  529: RateLimitError,
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Returns true for one short line of text, which is shown as a message, unlike a page of HTML. */
function isPlainLine(text: string): boolean {
  const line = text.trim()
  return line.length > 0 && line.length <= 200 && !/[<\n\0]/.test(line)
}

/**
 * Returns the error for a redirect: `REDIRECT_DOWNGRADE` out of https, `REDIRECT_CROSS_ORIGIN` to another origin; `undefined` for a
 * redirect to the same origin, and for any other response. Clients of an API never follow redirects, because the credential is for the base
 * URL.
 *
 * @param from the address that answered
 */
function redirectRefusal(status: number, location: string | null, from: string): TrustError | undefined {
  if (!isRedirect(status) || location === null || !canParseUrl(location, from)) return undefined
  const [to, own] = [new URL(location, from), new URL(from)]
  if (to.origin === own.origin && to.protocol === own.protocol) return undefined
  const downgrade = own.protocol === 'https:' && to.protocol !== 'https:'
  const code = downgrade ? 'REDIRECT_DOWNGRADE' : 'REDIRECT_CROSS_ORIGIN'
  const place = to.origin === 'null' ? to.protocol : to.origin
  const error = new TrustError(code, `${own.origin} redirects to ${place}; clients do not follow redirects`, {
    url: from,
    status,
    hint: `if the service has moved, set baseUrl to its new URL`,
  })
  return Object.assign(error, { from: own.origin, to: place })
}

const LONGEST = 500

/** Shortens the line that is shown. */
function shortened(line: string): string {
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line
}

/** Headers whose values are never secret. */
const HARMLESS = [
  'accept',
  'accept-encoding',
  'allow',
  'cache-control',
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
function shownHeaders(headers: { get(name: string): string | null }, scrub: (text: string) => string): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const name of HARMLESS) {
    const value = headers.get(name)
    if (value !== null) shown[name] = scrub(value)
  }
  return shown
}

/** Returns all headers of a request; the value of one that is not harmless is `[secret]`. */
export function shownRequestHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, HARMLESS.includes(name) ? value : '[secret]']))
}

/** Returns the identifier by which the operators of a service find a request in their logs. */
export function traceOf(headers: { get(name: string): string | null }): string | undefined {
  return headers.get('x-trace-id') ?? headers.get('x-request-id') ?? undefined
}

/** The error of an answer that is no success. */
import {
  AuthenticationError,
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
import { serverMessage } from './server-message.ts'
import { shownHeaders } from './shown-headers.ts'
import { traceOf } from './trace.ts'

/** Characters of a body that are kept. */
const KEPT = 2048

/** What an answer that is no success consists of; `scrub` takes secrets out of text. */
export interface Failed {
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

/** The class for a status: its own one, that of all 5xx, or `HttpError`. Building it never throws, whatever the body is. */
export function httpFailure(failed: Failed): HttpError {
  const { status, headers, url, method, retryAfterMs, retryable, hint, scrub } = failed
  const text = scrub(failed.text)
  const body = parsed(text)
  const { message, code, detail } = serverMessage(body)
  const traceId = traceOf(headers)
  const said = message ?? (body === undefined && isPlainLine(text) ? text.trim() : undefined)
  const fields: HttpFields = {
    url,
    status,
    retryable,
    ...(hint !== undefined && { hint }),
    ...(code !== undefined && { serviceCode: code }),
    ...(detail !== undefined && { detail }),
    ...(traceId !== undefined && { traceId: scrub(traceId) }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    responseHeaders: shownHeaders(headers, scrub),
    ...(body !== undefined && { body }),
    ...(text !== '' && { bodyText: text.slice(0, KEPT) }),
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

/** One short line of text is a message; a page of HTML is none. */
function isPlainLine(text: string): boolean {
  const line = text.trim()
  return line.length > 0 && line.length <= 200 && !/[<\n\0]/.test(line)
}

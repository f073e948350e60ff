/** Converts foreign network errors. Only their `code` is read: messages change, and may quote the request. */

import {
  type AuthError,
  abortedBy,
  ConfigurationError,
  type ErrorCode,
  IntegrityError,
  isAuthError,
  NetworkError,
  TimeoutError,
} from '../errors.ts'
import { originOf } from './url.ts'

/**
 * Returns the error of this library for an error of a network stack. Own errors are returned unchanged; a foreign one is never attached.
 *
 * @param url the URL that was requested; only its origin is named
 */
export function networkError(error: unknown, url: string): AuthError {
  return isAuthError(error) ? error : explained(REASONS[reasonOf(foreignCode(error))], url)
}

/** Returns the error for the end of an exchange: by the caller, a timeout or the network. */
export function failure(error: unknown, signal: AbortSignal | undefined, url: string): AuthError {
  return signal?.aborted ? abortedBy(signal) : networkError(error, url)
}

/** How far an exchange came that failed without a response. */
export interface ExchangeProgress {
  /** At least one byte of the request was handed to a connected socket. */
  readonly sent: boolean
  /** The connection was used before: the server may have just closed it as idle. */
  readonly reused: boolean
}

/** By error; no property, because errors leave the library. */
const PROGRESS = new WeakMap<AuthError, ExchangeProgress>()

/** Attaches the progress of the exchange to its error and returns the error. */
export function withProgress(error: AuthError, progress: ExchangeProgress): AuthError {
  PROGRESS.set(error, progress)
  return error
}

/** Returns what {@link withProgress} attached; undefined for transports that do not report it. */
export function progressOf(error: AuthError): ExchangeProgress | undefined {
  return PROGRESS.get(error)
}

/** Returns `TIMEOUT_TOTAL`. */
export function exchangeTimeout(url: string, timeout: number): TimeoutError {
  return new TimeoutError('TIMEOUT_TOTAL', `${originOf(url)}: the exchange took longer than ${timeout} ms`, { url, retryable: true })
}

/** Returns `REQUEST_INVALID`: the platform refuses to create the request. */
export function invalidRequest(url: string): AuthError {
  return explained(REASONS.request, url)
}

/** True when the error says which network failure it was; errors of browsers never do. */
export function isKnownFailure(error: unknown): boolean {
  return isAuthError(error) || reasonOf(foreignCode(error)) !== 'unknown'
}

/** Returns `RESPONSE_TOO_LARGE`: the decoded response is longer than its reader accepts. */
export function tooLarge(url: string, what: string): NetworkError {
  return new NetworkError('RESPONSE_TOO_LARGE', `${originOf(url)}: ${what}`, { url })
}

function explained({ code, says, retryable = false, hint }: Reason, url: string): AuthError {
  const fields = { url, retryable, ...(hint && { hint }) }
  const message = `${originOf(url)}: ${says}`
  if (code === 'REQUEST_INVALID') return new ConfigurationError(code, message, fields)
  if (code === 'FILE_ACCESS') return new IntegrityError(code, message, fields)
  return code.startsWith('TIMEOUT_') ? new TimeoutError(code, message, fields) : new NetworkError(code, message, fields)
}

interface Reason {
  readonly code: ErrorCode
  readonly says: string
  readonly retryable?: boolean
  readonly hint?: string
}

type ReasonName = keyof typeof REASONS

const TRUST_HINT = 'certificate checks cannot be turned off; for your own authority set SSL_CERT_FILE to its file'

const DESCRIPTORS_HINT = 'raise the limit, for example with ulimit -n 1024'

const HTTP2_HINT = 'ask its operator to allow HTTP/1.1, or send through a gateway that speaks HTTP/1.1 here and HTTP/2 there, such as Caddy'

const REASONS = {
  unknown: { code: 'NETWORK_FAILED', says: 'the network failed' },
  dns: { code: 'NETWORK_DNS', says: 'the host name was not found' },
  dnsBusy: { code: 'NETWORK_DNS', says: 'the name server did not answer', retryable: true },
  refused: { code: 'NETWORK_REFUSED', says: 'the connection was refused', retryable: true },
  reset: { code: 'NETWORK_RESET', says: 'the connection was closed before the answer was complete', retryable: true },
  unreachable: { code: 'NETWORK_UNREACHABLE', says: 'there is no route to the host', retryable: true },
  descriptors: { code: 'FILE_ACCESS', says: 'too many open files or connections', retryable: true, hint: DESCRIPTORS_HINT },
  connectTimeout: { code: 'TIMEOUT_CONNECT', says: 'no connection within the time allowed', retryable: true },
  headersTimeout: { code: 'TIMEOUT_HEADERS', says: 'no answer within the time allowed', retryable: true },
  bodyTimeout: { code: 'TIMEOUT_BODY', says: 'the answer stalled', retryable: true },
  truncated: { code: 'RESPONSE_TRUNCATED', says: 'the answer ended too early', retryable: true },
  malformed: { code: 'RESPONSE_INVALID', says: 'the answer is not valid HTTP' },
  coding: { code: 'RESPONSE_INVALID', says: 'the answer is not in the content coding it declares' },
  http2: { code: 'NETWORK_HTTP2', says: 'the server does not accept HTTP/1.1, it speaks HTTP/2 only', hint: HTTP2_HINT },
  headersTooLarge: { code: 'RESPONSE_TOO_LARGE', says: 'the headers of the answer exceed 16 KiB' },
  untrusted: { code: 'TLS_UNTRUSTED', says: 'its certificate is not signed by a trusted authority', hint: TRUST_HINT },
  expired: { code: 'TLS_EXPIRED', says: 'its certificate is not valid at this time' },
  hostname: { code: 'TLS_HOSTNAME', says: 'its certificate is for another host name' },
  handshake: { code: 'TLS_HANDSHAKE', says: 'no encrypted connection was possible' },
  request: { code: 'REQUEST_INVALID', says: 'the URL, method or a header of this request is not valid' },
} as const satisfies Record<string, Reason>

/** Stands for the code of an error at the first frame of HTTP/2. */
const HTTP2_FRAME = 'HTTP2_FRAME'

/** A frame SETTINGS or GOAWAY of stream 0 (RFC 9113 §4.1), which a server with HTTP/2 sends first. */
const FIRST_FRAME = /^\0\0[\s\S][\x04\x07][\s\S]\0{4}/

const CODES: Readonly<Record<string, ReasonName>> = {
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  EAI_AGAIN: 'dnsBusy',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ERR_STREAM_PREMATURE_CLOSE: 'reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EMFILE: 'descriptors',
  ENFILE: 'descriptors',
  ETIMEDOUT: 'connectTimeout',
  UND_ERR_CONNECT_TIMEOUT: 'connectTimeout',
  UND_ERR_HEADERS_TIMEOUT: 'headersTimeout',
  UND_ERR_BODY_TIMEOUT: 'bodyTimeout',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'truncated',
  HPE_INVALID_EOF_STATE: 'truncated',
  Z_BUF_ERROR: 'truncated',
  UND_ERR_HEADERS_OVERFLOW: 'headersTooLarge',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'hostname',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  EPROTO: 'handshake',
  // Only http/1.1 is offered (RFC 7301 §3.2).
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: 'http2',
  [HTTP2_FRAME]: 'http2',
  UND_ERR_INVALID_ARG: 'request',
  UND_ERR_NOT_SUPPORTED: 'request',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'request',
  ERR_INVALID_URL: 'request',
}

const FAMILIES: readonly (readonly [RegExp, ReasonName])[] = [
  [/^EAI_/, 'dns'],
  [/^HPE_/, 'malformed'],
  [/^Z_|^ERR_(?:_ERROR_FORMAT|BROTLI|PADDING|CL_SPACE)|^ERR__/, 'coding'],
  [/^(?:UNABLE_TO_|CERT_|CRL_|INVALID_CA|PATH_LENGTH)/, 'untrusted'],
  [/^ERR_(?:SSL|TLS)_/, 'handshake'],
]

function reasonOf(code: string): ReasonName {
  return (Object.hasOwn(CODES, code) && CODES[code]) || (FAMILIES.find(([pattern]) => pattern.test(code))?.[1] ?? 'unknown')
}

/** Returns the code of the error, of its cause (fetch), or of the first of several (one per address); some parser errors have none. */
function foreignCode(error: unknown): string {
  const { name, code, message, cause, errors, data } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  // Parsers keep what they could not read.
  if (typeof data === 'string' && FIRST_FRAME.test(data)) return HTTP2_FRAME
  if (typeof code === 'string') return code
  // The undici in Node drops the codes of its parser, but keeps the reasons in the message.
  if (name === 'HTTPParserError') return String(message).endsWith('(Invalid EOF state)') ? 'HPE_INVALID_EOF_STATE' : 'HPE_UNKNOWN'
  if (Array.isArray(errors) && errors.length) return foreignCode(errors[0])
  return cause === undefined ? '' : foreignCode(cause)
}

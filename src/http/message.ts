/**
 * Requests and responses as plain data: they can be compared, replayed, printed and tested without a server. Bodies of responses are
 * streams, and are never read beyond a limit.
 */

import { tooLarge } from './network-error.ts'
import type { ServerMessage } from './server-message.ts'

/** A body that can be sent more than once. The array is one that `fetch` takes: from TypeScript 5.7 on its type names its buffer, before it cannot. */
export type ReplayableBody = string | ReturnType<Uint8ArrayConstructor['of']>

/** An HTTP request. `url` is an absolute WHATWG href without fragment; header names are lower case. */
export interface HttpRequest {
  /** In upper case. */
  readonly method: string
  /** An absolute URL without fragment. */
  readonly url: string
  /** The headers; names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body; absent for none. */
  readonly body?: ReplayableBody
}

/** An HTTP response; the body is read at most once. */
export interface HttpResponse {
  /** HTTP status. */
  readonly status: number
  /** The URL that the response came from. */
  readonly url: string
  /** The headers; `get` is case-insensitive and joins repeated ones with a comma. */
  readonly headers: { get(name: string): string | null; getSetCookie?(): string[] }
  /** Returns the decoded body. Errors: `RESPONSE_TOO_LARGE` for more than `limit` bytes. */
  bytes(limit: number): Promise<Uint8Array>
  /** Returns the body as UTF-8 text. Errors: `RESPONSE_TOO_LARGE` for more than `limit` decoded bytes. */
  text(limit: number): Promise<string>
  /**
   * Returns the decoded body in chunks; call it instead of `bytes` and `text`. Stopping before the end closes the connection.
   *
   * @param asSent true leaves it in its content coding
   */
  chunks?(asSent?: boolean): AsyncIterable<Uint8Array>
  /**
   * Returns what an error response says, for people: without the secrets of its request, escaped, at most 300 characters. Call it instead
   * of `bytes` and `text`; it never rejects.
   */
  serverMessage?(): Promise<ServerMessage>
  /** Returns the request of this response, with its secrets: only to remove them from texts. A method, so that no inspection shows it. */
  sent?(): HttpRequest
  /** Discards the rest of the body so that the connection can be reused. */
  discard(): Promise<void>
  /** Returns a standard `Response`; call it once, instead of the other methods. */
  toResponse(): Response
}

/** A certificate and its key, PEM. */
export interface ClientCertificate {
  /** The certificate chain, PEM. */
  readonly cert: string
  /** The private key, PEM. */
  readonly key: string
}

/** Options of a transport besides the request. */
export interface SendOptions {
  /** Aborts the exchange (`ABORTED`). */
  readonly signal?: AbortSignal
  /** True when the user named this origin, so that it may have a loopback or private address. */
  readonly allowPrivateNetwork?: boolean
  /** Timeout of the whole exchange with its body in milliseconds; absent for resources, whose body may be long. */
  readonly timeout?: number
  /** Milliseconds from the end of the request to the headers; default: that of the transport. */
  readonly headersTimeout?: number
  /** Milliseconds between two chunks of the body; default: that of the transport. */
  readonly bodyTimeout?: number
  /** The client certificate of the connection (RFC 8705 §2), PEM; connections are not shared between certificates. */
  readonly clientCertificate?: ClientCertificate
  /**
   * A body that is sent as it arrives, instead of that of the request; for a transport with `streams` only. Sent once, in chunked encoding
   * unless the headers contain `content-length`.
   */
  readonly stream?: AsyncIterable<Uint8Array>
  /** True: a platform that hides the URL of redirects (browsers) may follow them itself; for resources only. */
  readonly followHidden?: boolean
  /** Set by the engine, for logs: the credential in use, and whether the request is for the resource or an endpoint of the credential. */
  readonly use?: CredentialUse
}

/** The credential that a request is for. */
export interface CredentialUse {
  /** Id of the credential. */
  readonly credential: string
  /** Type of the credential. */
  readonly type: string
  /** `resource`: the file itself; `endpoint`: a token endpoint or signing API. */
  readonly to: 'resource' | 'endpoint'
}

/** Sends one request, without following redirects. */
export type Send = (request: HttpRequest, options?: SendOptions) => Promise<HttpResponse>

/** One connection to one origin, for authorizations that are bound to their connection. */
export interface Connection {
  /** Sends over this connection; a closed one is not reopened (`NETWORK_RESET`). */
  readonly send: Send
  /**
   * Returns secret bytes that only the two ends of the connection can compute (RFC 8446 §7.5); undefined below TLS 1.3.
   *
   * @param length in bytes
   */
  keyingMaterial(length: number, label: string, context: Uint8Array): Uint8Array | undefined
  /** Closes the connection after the responses in progress. */
  close(): void
}

/** Connects to the origin of a URL. Errors: as for sending. */
export type Connect = (url: string, options?: SendOptions) => Promise<Connection>

/** A `Send` that may also support reserved connections, and bodies that are sent as they arrive (`SendOptions.stream`). */
export type Transport = Send & { readonly connect?: Connect; readonly streams?: true }

/** The members of the platform's `WebSocket` (WHATWG WebSockets §3.1) that are used. */
export interface MessageSocket {
  binaryType: 'arraybuffer' | 'blob'
  /** Bytes that are still to be sent. */
  readonly bufferedAmount: number
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(code?: number): void
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: MessageSocketEvent) => void): void
}

/** The event of a listener: `data` of a message, `code` of a close (RFC 6455 §7.4). */
interface MessageSocketEvent {
  readonly data?: unknown
  readonly code?: number
}

/** Returns a copy of the request with that header; the name is lower case. */
export function withHeader(request: HttpRequest, name: string, value: string): HttpRequest {
  const { method, url, headers, body } = request
  const copy = Object.assign({}, headers, { [name]: value })
  return body === undefined ? { method, url, headers: copy } : { method, url, headers: copy, body }
}

/** Returns a copy of the request for another URL. */
export function withUrl(request: HttpRequest, url: string): HttpRequest {
  return { ...request, url }
}

/** Appends one query parameter, percent-encoded; the rest of the URL stays unchanged, byte for byte. */
export function withQueryParameter(url: string, name: string, value: string): string {
  const separator = url.includes('?') ? (/[?&]$/.test(url) ? '' : '&') : '?'
  return `${url}${separator}${percentEncoded(name)}=${percentEncoded(value)}`
}

/** Returns the values of the query parameters of that (decoded) name. */
export function queryValues(url: string, name: string): readonly string[] {
  const start = url.indexOf('?')
  return start < 0 ? [] : new URLSearchParams(url.slice(start + 1)).getAll(name)
}

/** True when the query of the URL has a parameter of that (decoded) name. */
export function hasQueryParameter(url: string, name: string): boolean {
  return queryValues(url, name).length > 0
}

/** Encodes text in UTF-8: every byte but letters, digits and `-._~` becomes `%XX` (RFC 3986 §2.3). */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/**
 * Returns all bytes of a decoded body. They are copied as they arrive: many small chunks would take many times their size.
 *
 * Errors: `RESPONSE_TOO_LARGE` as soon as there are more than `limit`; the source is closed then.
 */
export async function readBody(chunks: AsyncIterable<Uint8Array>, limit: number, url: string): Promise<Uint8Array> {
  let bytes: Uint8Array | undefined
  let length = 0
  for await (const chunk of chunks) {
    const end = length + chunk.length
    if (end > limit) throw tooLarge(url, `the response exceeds the limit of ${limit} bytes`)
    if (bytes && end > bytes.length) bytes = resized(bytes, Math.min(2 * end, limit))
    if (bytes) bytes.set(chunk, length)
    else bytes = chunk
    length = end
  }
  return bytes?.subarray(0, length) ?? new Uint8Array()
}

function resized(bytes: Uint8Array, length: number): Uint8Array {
  const larger = new Uint8Array(length)
  larger.set(bytes)
  return larger
}

/** Decodes UTF-8; invalid bytes become U+FFFD, a byte order mark is removed. */
export function utf8(bytes: Uint8Array): string {
  return DECODER.decode(bytes)
}

const DECODER = /* @__PURE__ */ new TextDecoder()

/** Parses JSON; undefined for other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const STATUSES = new Set([301, 302, 303, 307, 308])

/** True for a status that redirects to another URL. */
export function isRedirect(status: number): boolean {
  return STATUSES.has(status)
}

/** True for a status after which the same request may succeed (RFC 9110 §15, RFC 6585 §4, RFC 8470 §5.2). */
export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501 && status !== 505)
}

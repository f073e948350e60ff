/** Requests and responses as plain data: they can be compared, replayed, printed and tested without a server. */
import type { Collect } from './body.ts'

/** A body that can be sent more than once. */
export type ReplayableBody = string | Uint8Array

/** An HTTP request. `url` is an absolute WHATWG href without fragment; header names are lower case. */
export interface HttpRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: ReplayableBody
}

/** An HTTP answer; the body is read at most once. */
export interface HttpResponse {
  readonly status: number
  /** The URL that answered. */
  readonly url: string
  readonly headers: { get(name: string): string | null; getSetCookie?(): string[] }
  /** The decoded body; at most `limit` bytes, else `RESPONSE_TOO_LARGE`. */
  bytes(limit: number): Promise<Uint8Array>
  /** The body as UTF-8 text; at most `limit` decoded bytes, else `RESPONSE_TOO_LARGE`. */
  text(limit: number): Promise<string>
  /**
   * The decoded body piece by piece, instead of the readers; whoever stops before its end gives the connection up.
   *
   * @param asSent true leaves it in its content coding
   */
  chunks?(asSent?: boolean): AsyncIterable<Uint8Array>
  /** Throws the rest of the body away so that the connection can be used again. */
  discard(): Promise<void>
  /** As a standard `Response`; call it once, instead of the readers. */
  toResponse(): Response
}

/** A certificate and its key, PEM. */
export interface ClientCertificate {
  readonly cert: string
  readonly key: string
}

/** What a transport needs to know besides the request. */
export interface SendOptions {
  readonly signal?: AbortSignal
  /** The user named this very origin, so a loopback or private address is what they meant. */
  readonly allowPrivateNetwork?: boolean
  /** Milliseconds for the whole exchange, body included; none for resources, whose body may be long. */
  readonly timeout?: number
  /** What the client shows on an encrypted connection (RFC 8705 §2), PEM; a connection of its own is made for it. */
  readonly clientCertificate?: ClientCertificate
  /** Share the connections of collected exchanges: for calls of an API, whose responses are short. */
  readonly pooled?: boolean
  /** Where the platform hides the URL of a redirect (browsers), it may follow by itself; for resources only. */
  readonly followHidden?: boolean
  /** Set by the engine, for logs: the credential in use, and whether the request goes to the resource or to an endpoint of the credential. */
  readonly use?: CredentialUse
}

/** The credential that a request is for. */
export interface CredentialUse {
  /** Id of the credential. */
  readonly credential: string
  readonly type: string
  readonly to: 'resource' | 'endpoint'
}

/** Sends one request and follows nothing. */
export type Send = (request: HttpRequest, options?: SendOptions) => Promise<HttpResponse>

/** One connection to one origin, for authorizations that belong to the connection which carries them. */
export interface Connection {
  /** Sends over this very connection; when it is gone it is not opened again (`NETWORK_RESET`). */
  readonly send: Send
  /**
   * Secret bytes that only the two ends of the connection can compute (RFC 8446 §7.5); undefined below TLS 1.3.
   *
   * @param length in bytes
   */
  keyingMaterial(length: number, label: string, context: Uint8Array): Uint8Array | undefined
  /** Closes it as soon as what is under way has been read. */
  close(): void
}

/** Connects to the origin of a URL. Errors: as for sending. */
export type Connect = (url: string, options?: SendOptions) => Promise<Connection>

/** A `Send` that may also be able to hold a connection, and to send in parts. */
export type Transport = Send & { readonly connect?: Connect; readonly collect?: Collect }

/** A copy with that header set (lower-case name). */
export function withHeader(request: HttpRequest, name: string, value: string): HttpRequest {
  const { method, url, headers, body } = request
  const copy = Object.assign({}, headers, { [name]: value })
  return body === undefined ? { method, url, headers: copy } : { method, url, headers: copy, body }
}

/** A copy for another URL. */
export function withUrl(request: HttpRequest, url: string): HttpRequest {
  return { ...request, url }
}

/** Appends one query parameter, percent-encoded; every byte that is there already stays as it is. */
export function withQueryParameter(url: string, name: string, value: string): string {
  const separator = url.includes('?') ? (/[?&]$/.test(url) ? '' : '&') : '?'
  return `${url}${separator}${percentEncoded(name)}=${percentEncoded(value)}`
}

/** The values of the query parameters of that (decoded) name. */
export function queryValues(url: string, name: string): readonly string[] {
  const start = url.indexOf('?')
  return start < 0 ? [] : new URLSearchParams(url.slice(start + 1)).getAll(name)
}

/** True when the query of the URL has a parameter of that (decoded) name. */
export function hasQueryParameter(url: string, name: string): boolean {
  return queryValues(url, name).length > 0
}

/** Text in UTF-8 with every byte but letters, digits and `-._~` as `%XX` (RFC 3986 §2.3). */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** A connection for messages both ways, as much of a platform's `WebSocket` (WHATWG WebSockets §3.1) as is needed. */
export interface MessageSocket {
  binaryType: 'arraybuffer' | 'blob'
  /** Bytes that are still to be sent. */
  readonly bufferedAmount: number
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(code?: number): void
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: MessageSocketEvent) => void): void
}

/** What its listeners are told: `data` of a message, `code` of a close (RFC 6455 §7.4). */
interface MessageSocketEvent {
  readonly data?: unknown
  readonly code?: number
}

/** Sending in parts: no address is parsed, no stream is made, and the caller learns how far the request came. */
import type { AuthError } from '../errors.ts'
import type { HttpResponse, ReplayableBody } from './message.ts'

/** A request whose address is in parts already. Header names are lower case. */
export interface PartedRequest {
  readonly method: string
  /** `https://host[:port]`, as WHATWG URLs write it. */
  readonly origin: string
  /** Path and query, percent-encoded. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** An iterable is sent as it comes, in chunks unless `content-length` is among the headers. */
  readonly body?: ReplayableBody | AsyncIterable<Uint8Array>
}

export interface CollectOptions {
  /** The user named this very origin, so a loopback or private address is what they meant. */
  readonly granted?: boolean
  /** Bytes of a decoded successful answer; more is `RESPONSE_TOO_LARGE`. */
  readonly limit: number
  /** Bytes of any other answer; what is beyond them is left out. */
  readonly failureLimit: number
  /** Milliseconds from the end of the request until the headers are there, and between two pieces of the body. */
  readonly headersTimeout?: number
  readonly bodyTimeout?: number
}

/** A whole answer. */
export interface Collected {
  readonly status: number
  readonly headers: HttpResponse['headers']
  readonly body: Uint8Array
  /** The body as UTF-8; a byte order mark is left out. */
  text(): string
}

/** Why there is no answer. */
export interface Uncollected {
  readonly error: AuthError
  /** True when at least one byte of the request was handed to a connected socket. */
  readonly sent: boolean
  /** True when the answer had begun. */
  readonly begun: boolean
  /** True when the connection had served before and was closed before it answered this time. */
  readonly stale: boolean
}

/** Gives the request up with that reason, which is what its receiver hears; nothing happens when it is over. */
export type Cancel = (reason: AuthError) => void

/** Sends a request and collects its answer. Never throws; `done` is called once. An answer that is no success may be cut short. */
export type Collect = (request: PartedRequest, options: CollectOptions, done: (result: Collected | Uncollected) => void) => Cancel

/** True when there is no answer. */
export function isUncollected(result: Collected | Uncollected): result is Uncollected {
  return 'error' in result
}

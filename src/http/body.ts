/** Bodies of responses: collected by the transport or read from a stream, never beyond a limit. */
import { type AuthError, ProtocolError } from '../errors.ts'
import type { HttpResponse, ReplayableBody } from './message.ts'
import { tooLarge } from './network-error.ts'

/** A request whose URL is in parts already. Header names are lower case. */
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
  readonly allowPrivateNetwork?: boolean
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

/**
 * All bytes of a decoded body.
 *
 * Errors: `RESPONSE_TOO_LARGE` as soon as there are more than `limit`; the source is closed then.
 */
export async function readBody(chunks: AsyncIterable<Uint8Array>, limit: number, url: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > limit) throw tooLarge(url, `the response exceeds the limit of ${limit} bytes`)
    keepChunk(parts, chunk, (buffer, size) => new Uint8Array(buffer, 0, size))
  }
  const [first] = parts
  return parts.length === 1 && first ? first : concatenated(parts, length)
}

/** Bytes as UTF-8 text; what is not UTF-8 becomes U+FFFD, a byte order mark is left out. */
export function utf8(bytes: Uint8Array): string {
  return DECODER.decode(bytes)
}

const DECODER = new TextDecoder()

function concatenated(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

/** Bytes from which on a chunk is worth what it costs besides. */
const SMALL = 1024

/** Bytes that small chunks share. */
const BLOCK = 16_384

/** The blocks made here. Each belongs to the last chunk of one list, so what is behind its end is free. */
const BLOCKS = new WeakSet<ArrayBufferLike>()

/**
 * Puts a chunk behind the others. Small ones in a row are copied into one block: a body that comes byte by byte would else cost
 * many times its size.
 *
 * @param view the first so many bytes of a buffer
 */
export function keepChunk<T extends Uint8Array>(chunks: T[], chunk: T, view: (buffer: ArrayBufferLike, length: number) => T): void {
  const last = chunks.at(-1)
  if (last && (BLOCKS.has(last.buffer) ? last.length + chunk.length <= BLOCK : last.length < SMALL) && chunk.length < SMALL) {
    const block = BLOCKS.has(last.buffer) ? last.buffer : blockOf(last)
    new Uint8Array(block).set(chunk, last.length)
    chunks[chunks.length - 1] = view(block, last.length + chunk.length)
    return
  }
  // A block that is hardly used is not worth keeping whole.
  if (last && BLOCKS.has(last.buffer) && last.length < BLOCK / 2) chunks[chunks.length - 1] = view(copyOf(last, last.length), last.length)
  chunks.push(chunk)
}

function blockOf(chunk: Uint8Array): ArrayBuffer {
  const block = copyOf(chunk, BLOCK)
  BLOCKS.add(block)
  return block
}

function copyOf(chunk: Uint8Array, size: number): ArrayBuffer {
  const bytes = new Uint8Array(size)
  bytes.set(chunk)
  return bytes.buffer
}

/** Refuses every status but 2xx. Errors: `HTTP_<status>`. */
export function requireOk({ ok, status, url }: Response, address: string): void {
  if (!ok) throw new ProtocolError(`HTTP_${status}`, `${hostOf(url, address)} answered ${status}`, { url: address, status })
}

/** Returns the body as JSON. Errors: `RESPONSE_INVALID`, which never quotes the body. */
export async function jsonOf(response: Response, address: string): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    throw new ProtocolError('RESPONSE_INVALID', `the response of ${hostOf(response.url, address)} is not JSON`, { url: address })
  }
}

/** URLs that libraries give may be relative to a document. */
function hostOf(url: string, address: string): string {
  return URL.canParse(url) ? new URL(url).host : address
}

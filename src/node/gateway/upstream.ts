/**
 * The side of the servers: requests go through the engine, with few retries, because the program is waiting, and a body that is interrupted
 * is continued.
 */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Auth } from '../../auth/auth.ts'
import { type AuthError, isAuthError, ProtocolError, SelectionError } from '../../errors.ts'
import type { HttpResponse, ReplayableBody } from '../../http/message.ts'
import { Retries, type RetryPolicy, retryHint } from '../../net/retry.ts'
import { requireSameVersion, versionIn } from '../download/response.ts'
import type { Route, Routes } from './routes.ts'

/** At most about ten seconds in all: programs have timeouts of their own, and some retry as well. */
const GATEWAY_RETRIES: RetryPolicy = {
  retries: 3,
  unresolved: 1,
  backoff: { first: 300, longest: 2000, fixed: 0.5, random: 0.5 },
  retryAfter: { longest: 5000, spread: 0.1 },
}

/** Statuses after which the same request may succeed soon. */
const TRANSIENT = new Set([429, 502, 503, 504])

/** A request of a program. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: ReplayableBody
  readonly signal: AbortSignal
}

/** A response, and the id of the credential that was used for it. */
export interface UpstreamResponse {
  readonly response: HttpResponse
  readonly credential: string | undefined
}

/** Sends requests for URLs that documents or credentials allow. */
export class Upstream {
  readonly #auth: Pick<Auth, 'send'>
  readonly #routes: Routes

  constructor(auth: Pick<Auth, 'send'>, routes: Routes) {
    this.#auth = auth
    this.#routes = routes
  }

  /**
   * Returns the response after redirects and retries, whatever its status.
   *
   * Errors: `NO_CREDENTIAL` and those of selection, when nothing was sent; those of the engine.
   */
  async send(request: UpstreamRequest): Promise<UpstreamResponse> {
    const { url, method, signal } = request
    const route = method === 'POST' ? await this.#routes.search(url) : await this.#routes.route(url)
    const retries = new Retries(GATEWAY_RETRIES, Math.random)
    for (;;) {
      const result = await this.#attempt(request, route).catch((error: unknown) => {
        if (isAuthError(error) && error.retryable && !signal.aborted) return error
        throw error
      })
      if (isAuthError(result)) {
        const delay = retries.next(result.code === 'NETWORK_DNS' ? { left: 1000 } : {})
        if (typeof delay !== 'number') throw result
        // An expired token is refreshed by the next attempt.
        await sleep(result.code === 'AUTH_REJECTED' && retries.count === 1 ? 0 : delay, undefined, { signal })
        continue
      }
      const { status, headers } = result.response
      if (!TRANSIENT.has(status)) return result
      const delay = retries.next({ status, hint: retryHint(headers, Date.now()) })
      if (typeof delay !== 'number') return result
      await result.response.discard()
      await sleep(delay, undefined, { signal })
    }
  }

  async #attempt(request: UpstreamRequest, route: Route): Promise<UpstreamResponse> {
    try {
      return await this.#sendBy(request, route)
    } catch (error) {
      // Nothing was sent: the references above the URL are not meant for it, but `sendTo` of another credential may be.
      if (!route.target || route.isExact || !(error instanceof SelectionError)) throw error
      const other = await this.#routes.byUrl(request.url).catch(() => undefined)
      if (!other) throw error
      return await this.#sendBy(request, other)
    }
  }

  async #sendBy({ method, url, headers, body, signal }: UpstreamRequest, { target }: Route): Promise<UpstreamResponse> {
    let credential: string | undefined
    const onUse = (id: string) => {
      credential = id
    }
    const response =
      target && method !== 'POST'
        ? await this.#auth.send(target, { method, headers, signal, onUse })
        : await this.#auth.send({ method, url, headers, ...(body && { body }) }, { signal, onUse })
    return { response, credential }
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

/** Writes chunks to a program that may read slowly or leave. */
export class BodyWriter {
  /** Bytes of the body written so far. */
  bytes = 0
  readonly #response: ServerResponse
  /** Called with the first bytes of the body. */
  onBegin: ((head: Uint8Array) => void) | undefined
  #wake: () => void = () => {}

  constructor(response: ServerResponse) {
    this.#response = response
    const wake = () => this.#wake()
    response.on('drain', wake)
    response.on('close', wake)
  }

  /**
   * Writes all chunks, no faster than they are read. Returns false when the program has disconnected.
   *
   * Errors: `RESPONSE_INVALID` before a chunk with which the body would be longer than announced: the program would read the rest as the
   * next response.
   */
  async write(chunks: AsyncIterable<Uint8Array>, announced = Number.POSITIVE_INFINITY): Promise<boolean> {
    const response = this.#response
    for await (const chunk of chunks) {
      if (response.destroyed) return false
      if (this.bytes + chunk.length > announced)
        throw new ProtocolError('RESPONSE_INVALID', 'the response is longer than the server announced')
      if (this.bytes === 0) this.onBegin?.(chunk)
      this.bytes += chunk.length
      freeBuffers(chunk.length)
      if (response.write(chunk)) continue
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        if (response.destroyed || !response.writableNeedDrain) resolve()
      })
    }
    return !response.destroyed
  }
}

/** Number of bytes, of all responses together, after which their buffers are freed. */
const BETWEEN_COLLECTIONS = 16 * 2 ** 20

let unfreed = 0

let collect: (() => void) | undefined

/**
 * Frees the buffers of forwarded chunks. They are outside the heap of V8, which would collect them only at 32 MiB of young objects, and
 * at 64 MiB of old ones.
 */
function freeBuffers(bytes: number): void {
  unfreed += bytes
  if (unfreed < BETWEEN_COLLECTIONS) return
  unfreed = 0
  collect ??= minorCollection()
  collect()
}

/** Returns a function that collects young objects, in about a millisecond; it does nothing if the engine does not support that. */
function minorCollection(): () => void {
  try {
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void
    setFlagsFromString('--no-expose-gc')
    return () => gc({ type: 'minor' })
  } catch {
    return () => {}
  }
}

/** The fields of a response that must be unchanged to resume its body. */
interface Representation extends ContentRange {
  /** For `If-Range`. */
  readonly validator: string
  /** `Last-Modified`, if it is a strong validator. */
  readonly modified?: string
}

/**
 * Forwards a body. After an interruption, also by an expired token, the rest is requested and appended if the server proves that it belongs
 * to the same representation (RFC 9110 §13.1.5); otherwise the connection to the program is closed, so that the response is too short.
 *
 * Errors: those of the engine, after which the body is incomplete; `RESPONSE_INVALID`, `RESPONSE_TRUNCATED` for a body that is longer or
 * shorter than announced.
 */
export async function relay(response: HttpResponse, request: UpstreamRequest, upstream: Upstream, writer: BodyWriter): Promise<void> {
  const part = request.method === 'GET' ? representationOf(response) : undefined
  const announced = part ? part.last - part.first + 1 : announcedLength(response)
  const retries = new Retries(GATEWAY_RETRIES, Math.random)
  let source: HttpResponse = response
  let before = -1
  for (;;) {
    try {
      const isThere = source.chunks ? await writer.write(source.chunks(true), announced) : true
      if (isThere && announced !== undefined && writer.bytes < announced) throw tooShort(source)
      return
    } catch (error) {
      if (!isAuthError(error) || FINAL.has(error.code) || request.signal.aborted || !part) throw error
      if (writer.bytes === announced) return
      if (writer.bytes > before) retries.count = 0
      before = writer.bytes
      const delay = retries.next({})
      if (typeof delay !== 'number') throw error
      await sleep(delay, undefined, { signal: request.signal })
      source = await continuation(part, request, upstream, writer.bytes)
    }
  }
}

/** Codes after which the rest is not requested, because another request would fail in the same way. */
const FINAL = new Set(['ABORTED', 'RESPONSE_INVALID'])

function announcedLength({ headers }: HttpResponse): number | undefined {
  const length = headers.get('content-length')
  return length !== null && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

function tooShort({ url, status }: HttpResponse): AuthError {
  return new ProtocolError('RESPONSE_TRUNCATED', 'the response is shorter than the server announced', { url, status, retryable: true })
}

/** Returns the range of a response that can be continued: without content coding, with a strong validator and a known end. */
function representationOf(response: HttpResponse): Representation | undefined {
  const { status, headers } = response
  const { validator, modified } = versionIn(headers)
  const coding = headers.get('content-encoding') ?? 'identity'
  if (validator === undefined || coding !== 'identity' || (status !== 200 && status !== 206)) return undefined
  const version = { validator, ...(modified !== undefined && { modified }) }
  const length = announcedLength(response)
  if (status === 206) {
    const range = contentRange(headers.get('content-range'))
    const isWhole = range && (length === undefined || length === range.last - range.first + 1)
    return isWhole ? { ...range, ...version } : undefined
  }
  return length ? { first: 0, last: length - 1, total: length, ...version } : undefined
}

/**
 * Requests the rest. Errors: `RANGE_INVALID` for another range or representation, or an unspecified one, because some servers ignore
 * `If-Range`.
 */
async function continuation(part: Representation, request: UpstreamRequest, upstream: Upstream, sent: number): Promise<HttpResponse> {
  const first = part.first + sent
  const headers = {
    ...Object.fromEntries(Object.entries(request.headers).filter(([name]) => !name.startsWith('if-'))),
    range: `bytes=${first}-${part.last}`,
    'if-range': part.validator,
    // Ranges refer to the encoded bytes (RFC 9110 §14.2), and the first part was not encoded.
    'accept-encoding': 'identity',
  }
  const { response } = await upstream.send({ ...request, headers })
  const range = response.status === 206 ? contentRange(response.headers.get('content-range')) : undefined
  const isSame =
    range !== undefined &&
    range.first === first &&
    range.last === part.last &&
    (part.total === undefined || range.total === undefined || range.total === part.total) &&
    isVersion(response, part) &&
    (response.headers.get('content-encoding') ?? 'identity') === 'identity'
  if (isSame) return response
  await response.discard()
  throw new ProtocolError('RANGE_INVALID', 'the interrupted response cannot be continued: the server sent another one', {
    url: request.url,
    status: response.status,
  })
}

function isVersion({ headers, url }: HttpResponse, part: Representation): boolean {
  try {
    requireSameVersion(headers, part, url)
    return true
  } catch {
    return false
  }
}

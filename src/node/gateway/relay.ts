/** Passes the body of a response on as it arrives, and continues it after an interruption. */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAuthError, ProtocolError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { Retries } from '../../net/retry.ts'
import { type ContentRange, contentRange } from './fields.ts'
import { GATEWAY_RETRIES, type Upstream, type UpstreamRequest } from './upstream.ts'

/** Writes chunks to a program that may read slowly or leave. */
export class Reader {
  /** Bytes of the body written so far. */
  bytes = 0
  readonly #response: ServerResponse
  #wake: () => void = () => {}

  constructor(response: ServerResponse) {
    this.#response = response
    const wake = () => this.#wake()
    response.on('drain', wake)
    response.on('close', wake)
  }

  /** Writes all chunks, no faster than they are read. Returns false when the program has left. */
  async write(chunks: AsyncIterable<Uint8Array>): Promise<boolean> {
    const response = this.#response
    for await (const chunk of chunks) {
      if (response.destroyed) return false
      this.bytes += chunk.length
      if (response.write(chunk)) continue
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        if (response.destroyed || !response.writableNeedDrain) resolve()
      })
    }
    return !response.destroyed
  }
}

/** What must stay the same for a body to be continued. */
interface Representation extends ContentRange {
  readonly validator: string
}

/**
 * Passes a body on. After an interruption, also by a token that has expired, the rest is requested and appended if the server proves that it
 * belongs to the same representation (RFC 9110 §13.1.5); otherwise the connection to the program is cut, so that it sees a short response.
 *
 * Errors: those of the engine, after which the body is incomplete.
 */
export async function relay(response: HttpResponse, request: UpstreamRequest, upstream: Upstream, reader: Reader): Promise<void> {
  const part = request.method === 'GET' ? representationOf(response) : undefined
  const retries = new Retries(GATEWAY_RETRIES, Math.random)
  let source: HttpResponse = response
  let before = -1
  for (;;) {
    try {
      if (source.chunks) await reader.write(source.chunks(true))
      return
    } catch (error) {
      if (!isAuthError(error) || error.code === 'ABORTED' || request.signal.aborted || !part) throw error
      if (reader.bytes > before) retries.count = 0
      before = reader.bytes
      const delay = retries.next({})
      if (typeof delay !== 'number') throw error
      await sleep(delay, undefined, { signal: request.signal })
      source = await continuation(part, request, upstream, reader.bytes)
    }
  }
}

/** Returns the range of a response that can be continued: without content coding, with a strong validator and a known end. */
function representationOf({ status, headers }: HttpResponse): Representation | undefined {
  const validator = strongValidator(headers)
  const coding = headers.get('content-encoding') ?? 'identity'
  if (validator === undefined || coding !== 'identity' || (status !== 200 && status !== 206)) return undefined
  if (status === 206) {
    const range = contentRange(headers.get('content-range'))
    return range && { ...range, validator }
  }
  const length = headers.get('content-length')
  if (length === null || !/^\d{1,15}$/.test(length) || length === '0') return undefined
  return { first: 0, last: Number(length) - 1, total: Number(length), validator }
}

/** A weak entity tag does not promise equal bytes (RFC 9110 §8.8.1). */
function strongValidator(headers: HttpResponse['headers']): string | undefined {
  const tag = headers.get('etag')
  if (tag !== null) return tag.startsWith('"') ? tag : undefined
  return headers.get('last-modified') ?? undefined
}

/** Requests the rest. Errors: `RANGE_INVALID` for another representation or range. */
async function continuation(part: Representation, request: UpstreamRequest, upstream: Upstream, sent: number): Promise<HttpResponse> {
  const first = part.first + sent
  const headers = {
    ...Object.fromEntries(Object.entries(request.headers).filter(([name]) => !name.startsWith('if-'))),
    range: `bytes=${first}-${part.last}`,
    'if-range': part.validator,
  }
  const { response } = await upstream.send({ ...request, headers })
  const range = response.status === 206 ? contentRange(response.headers.get('content-range')) : undefined
  const isSame =
    range !== undefined &&
    range.first === first &&
    range.last === part.last &&
    (part.total === undefined || range.total === undefined || range.total === part.total) &&
    (response.headers.get('etag') === null || strongValidator(response.headers) === part.validator || !part.validator.startsWith('"')) &&
    (response.headers.get('content-encoding') ?? 'identity') === 'identity'
  if (isSame) return response
  await response.discard()
  throw new ProtocolError('RANGE_INVALID', 'the interrupted response cannot be continued: the server sent another one', {
    url: request.url,
    status: response.status,
  })
}

import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { type AuthError, ProtocolError } from '../../errors.ts'
import {
  type Cancel,
  type Collected,
  type CollectOptions,
  type HttpRequest,
  type HttpResponse,
  keepChunk,
  type PartedRequest,
  readBody,
  type SendOptions,
  type Uncollected,
  utf8,
} from '../../http/message.ts'
import { failure, networkError, originOf, tooLarge } from '../../http/network-error.ts'
import type { ServerMessage } from '../../http/server-message.ts'
import { codingsOf, decodeBody } from './decode-body.ts'

/** Limits in bytes and time for draining an unwanted body; beyond them the connection is closed instead. */
const DISCARD = { bytes: 65_536, milliseconds: 1000 }

/** A response of undici as {@link HttpResponse}. Errors of its body are errors of the library. */
export class UndiciResponse implements HttpResponse {
  readonly status: number
  readonly url: string
  readonly headers: HeaderFields
  readonly #request: HttpRequest
  readonly #statusText: string
  readonly #body: UndiciArrival
  readonly #codings: readonly string[]
  readonly #signal: AbortSignal | undefined
  #isTaken = false

  constructor(
    request: HttpRequest,
    { status, statusText, fields }: ArrivalHead,
    body: UndiciArrival,
    codings: readonly string[],
    signal: AbortSignal | undefined,
  ) {
    this.status = status
    this.url = request.url
    this.headers = new HeaderFields(fields)
    this.#request = request
    this.#statusText = statusText
    this.#body = body
    this.#codings = codings
    this.#signal = signal
  }

  async bytes(limit: number): Promise<Uint8Array> {
    this.#take()
    try {
      const whole = this.#codings.length ? undefined : this.#body.whole(limit)
      return whole ?? (await readBody(this.#decoded(), limit, this.url))
    } catch (error) {
      throw this.#failure(error)
    }
  }

  async text(limit: number): Promise<string> {
    return utf8(await this.bytes(limit))
  }

  async *chunks(asSent = false): AsyncGenerator<Uint8Array, void> {
    this.#take()
    try {
      yield* asSent ? this.#body : this.#decoded()
    } catch (error) {
      throw this.#failure(error)
    }
  }

  sent(): HttpRequest {
    return this.#request
  }

  async serverMessage(): Promise<ServerMessage> {
    const { messageOfResponse } = await import('../base/error-response.ts')
    // A server that sends nothing must not delay its error.
    const timer = setTimeout(() => this.#body.destroy(), DISCARD.milliseconds)
    return messageOfResponse(this, this.#request).finally(() => clearTimeout(timer))
  }

  async discard(): Promise<void> {
    const timer = setTimeout(() => this.#body.destroy(), DISCARD.milliseconds)
    let length = 0
    try {
      for await (const chunk of this.#body) {
        length += chunk.length
        if (length > DISCARD.bytes) break
      }
    } catch {
      // The body was not requested.
    } finally {
      clearTimeout(timer)
    }
  }

  toResponse(): Response {
    this.#take()
    const { status, url } = this
    if (status > 599) {
      this.#body.destroy()
      throw new ProtocolError('RESPONSE_INVALID', `${originOf(url)}: the response has the status ${status}`, { url, status })
    }
    const headers = this.headers.toHeaders()
    if (this.#codings.length) for (const name of ['content-encoding', 'content-length']) headers.delete(name)
    const statusText = /^[\t\x20-\x7e\x80-\xff]*$/.test(this.#statusText) ? this.#statusText : ''
    const response = new Response(this.#stream(), { status, statusText, headers })
    return Object.defineProperty(response, 'url', { value: url })
  }

  /** A second reader would get an empty body, as if the file were empty. Errors: `TypeError`, as of a standard `Response`. */
  #take(): void {
    if (this.#isTaken) throw new TypeError('the body of this response has already been read')
    this.#isTaken = true
  }

  /** Returns the decoded body. It is pulled, so that a slow reader slows the server down. */
  #stream(): ReadableStream<Uint8Array> | null {
    if (this.#request.method === 'HEAD' || NULL_BODY.has(this.status)) {
      void this.discard()
      return null
    }
    const chunks = this.#decoded()[Symbol.asyncIterator]()
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = await chunks.next().catch((error) => {
          throw this.#failure(error)
        })
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => {
        this.#body.destroy()
        await chunks.return?.()
      },
    })
  }

  #decoded(): AsyncIterable<Uint8Array> {
    return this.#codings.length ? decodeBody(this.#body, this.#codings, this.url) : this.#body
  }

  #failure(error: unknown): AuthError {
    return failure(error, this.#signal, this.url)
  }
}

/** Statuses without a body (Fetch standard, "null body status"). */
const NULL_BODY = new Set([204, 205, 304])

/** Status line and header fields of a response. */
interface ArrivalHead {
  readonly status: number
  readonly statusText: string
  readonly fields: Dispatcher.ResponseData['headers']
}

/** Maximum number of buffered bytes before reading is paused. */
const WAITING = 262_144

/**
 * A response in progress: the head as a promise, then the body, which is pulled, so that a slow reader slows the server down. The body of
 * undici is a Node stream, which costs more than the rest of the exchange of a small document.
 */
export class UndiciArrival implements Dispatcher.DispatchHandler, AsyncIterable<Uint8Array> {
  readonly #over: () => void
  #answered: (head: ArrivalHead) => void = () => {}
  #failed: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #waiting: Uint8Array[] = []
  #size = 0
  /** Remaining bytes, where the server stated the length. */
  #missing: number | undefined
  #isOver = false
  #error: unknown
  #news: Promise<void> | undefined
  #wake: () => void = () => {}

  /** @param over called when no more data will arrive */
  constructor(over: () => void) {
    this.#over = over
  }

  /** Returns the head; called once, when the request is dispatched. Rejects with the error that ended the exchange. */
  head(): Promise<ArrivalHead> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(this.#error)
      this.#answered = resolve
      this.#failed = reject
    })
  }

  /** Aborts the exchange, also before a connection exists; unread data is discarded. */
  destroy(reason?: unknown): void {
    if (this.#isOver) return
    this.#waiting = []
    this.#end(reason ?? new Error('the rest of the response is not needed'))
    this.#controller?.abort(this.#error as Error)
  }

  /** Returns the whole body when it has arrived in one chunk within the limit, as small bodies mostly do; otherwise undefined. */
  whole(limit: number): Uint8Array | undefined {
    if (!this.#isOver || this.#error !== undefined || this.#waiting.length !== 1 || this.#size > limit) return undefined
    return this.#waiting.pop()
  }

  /** Yields the chunks of the body, once. Stopping early closes the connection. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, void> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.destroy()
        return { done: true, value: undefined }
      },
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(this.#error as Error)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, fields: ArrivalHead['fields'], statusText = ''): void {
    if (status < 200) return
    const length = Number(fields['content-length'])
    this.#missing = length > 0 ? length : undefined
    this.#answered({ status, statusText, fields })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#isOver) return
    keepChunk(this.#waiting, chunk, (buffer, size) => new Uint8Array(buffer, 0, size))
    this.#size += chunk.length
    if (this.#missing !== undefined) this.#missing -= chunk.length
    if (this.#size > WAITING) controller.pause()
    this.#tell()
  }

  onResponseEnd(): void {
    this.#end(undefined)
  }

  /**
   * undici reports an error when the server closes its connection while the last bytes are paused. A body is complete with its last byte
   * (RFC 9112 §6.2).
   */
  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#isOver) this.#end(this.#missing === 0 ? undefined : error)
  }

  async #next(): Promise<IteratorResult<Uint8Array, void>> {
    for (;;) {
      const chunk = this.#waiting.shift()
      if (chunk) return { done: false, value: this.#taken(chunk) }
      if (this.#error !== undefined) throw this.#error
      if (this.#isOver) return { done: true, value: undefined }
      await this.#more()
    }
  }

  #taken(chunk: Uint8Array): Uint8Array {
    const wasFull = this.#size > WAITING
    this.#size -= chunk.length
    if (wasFull && this.#size <= WAITING) this.#controller?.resume()
    return chunk
  }

  #end(error: unknown): void {
    this.#isOver = true
    this.#error = error
    this.#over()
    if (error !== undefined) this.#failed(error)
    this.#tell()
  }

  #more(): Promise<void> {
    this.#news ??= new Promise((resolve) => {
      this.#wake = resolve
    })
    return this.#news
  }

  #tell(): void {
    this.#news = undefined
    this.#wake()
  }
}

type Done = (result: Collected | Uncollected) => void

/**
 * Sends a request through that dispatcher and collects the response without an intermediate stream.
 *
 * Errors: those of sending; `RESPONSE_TRUNCATED` for a body that ends before its declared length or its last chunk.
 */
export function undiciCollect(dispatcher: Dispatcher, request: PartedRequest, options: CollectOptions, done: Done): Cancel {
  const collector = new Collector(request, options, done)
  const { origin, path, method, headers, body = null } = request
  try {
    // undici sends any iterable of bytes; its types declare streams only.
    dispatcher.dispatch(
      { origin, path, method: method as 'GET', headers, body: body as Uint8Array | null, ...timeoutsOf(options) },
      collector,
    )
  } catch (error) {
    queueMicrotask(() => collector.fail(networkError(error, origin)))
  }
  return (reason) => collector.cancel(reason)
}

/** Returns the timeouts that are set, in the form of undici. */
export function timeoutsOf({ headersTimeout, bodyTimeout }: SendOptions): Pick<SendOptions, 'headersTimeout' | 'bodyTimeout'> {
  return { ...(headersTimeout !== undefined && { headersTimeout }), ...(bodyTimeout !== undefined && { bodyTimeout }) }
}

class Collector implements Dispatcher.DispatchHandler {
  readonly #origin: string
  readonly #isHead: boolean
  readonly #options: CollectOptions
  #done: Done | undefined
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #fields: HeaderFields | undefined
  #coded: string | undefined
  #parts: Buffer[] = []
  #length = 0
  /** Marks the body as complete, or complete as far as it is wanted; it may still have to be decoded. */
  #isWhole = false
  #limit = 0

  constructor({ origin, method }: PartedRequest, options: CollectOptions, done: Done) {
    this.#origin = origin
    this.#isHead = method === 'HEAD'
    this.#options = options
    this.#done = done
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#done) this.#controller = controller
    else controller.abort(new Error('aborted'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2],
  ): void {
    if (status < 200) return
    const { limit, failureLimit } = this.#options
    this.#status = status
    this.#fields = new HeaderFields(headers)
    this.#limit = status < 300 ? limit : failureLimit
    this.#coded = this.#isHead ? undefined : headers['content-encoding']?.toString()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#done || this.#isWhole) return
    this.#length += chunk.length
    keepChunk(this.#parts, chunk, (buffer, size) => Buffer.from(buffer, 0, size))
    if (this.#length <= this.#limit) return
    if (this.#status < 300) {
      this.cancel(tooLarge(this.#origin, `the response exceeds the limit of ${this.#limit} bytes`))
    } else {
      this.#complete()
      this.#controller?.abort(new Error('enough'))
    }
  }

  onResponseEnd(): void {
    this.#complete()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#status >= 300) this.#complete()
    else this.fail(this.#status === 0 ? networkError(error, this.#origin) : this.#bodyError(error), isStale(error))
  }

  cancel(reason: AuthError): void {
    if (!this.#done) return
    this.fail(reason)
    this.#controller?.abort(reason)
  }

  fail(error: AuthError, stale = false): void {
    const sent = this.#controller !== undefined
    const begun = this.#status !== 0
    this.#end({ error, sent, begun, stale: stale && sent && !begun })
  }

  #complete(): void {
    if (this.#isWhole) return
    this.#isWhole = true
    const [first] = this.#parts
    const body = this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts)
    if (this.#coded === undefined) {
      this.#answer(body)
    } else {
      this.#decoded(body, this.#coded).then(
        (plain) => this.#answer(plain),
        (error: unknown) => this.#undecoded(error),
      )
    }
  }

  async #decoded(body: Buffer, coded: string): Promise<Buffer> {
    const codings = codingsOf(coded, this.#origin)
    if (codings.length === 0) return body
    const bytes = await readBody(decodeBody(Readable.from([body]), codings, this.#origin), this.#limit, this.#origin)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** An unsuccessful status suffices without its body. */
  #undecoded(error: unknown): void {
    if (this.#status >= 300) this.#answer(Buffer.alloc(0))
    else this.fail(this.#bodyError(error))
  }

  #answer(body: Buffer): void {
    const fields = this.#fields
    if (fields) this.#end(new CollectedBuffer(this.#status, fields, body))
  }

  /** A truncated body is one error, however the connection ended. */
  #bodyError(error: unknown): AuthError {
    const known = networkError(error, this.#origin)
    if (known.code !== 'NETWORK_RESET' && known.code !== 'RESPONSE_TRUNCATED') return known
    return new ProtocolError('RESPONSE_TRUNCATED', `${originOf(this.#origin)}: the response ended too early`, {
      url: this.#origin,
      status: this.#status,
      retryable: true,
    })
  }

  #end(result: Collected | Uncollected): void {
    const done = this.#done
    this.#done = undefined
    this.#parts = []
    done?.(result)
  }
}

class CollectedBuffer implements Collected {
  readonly status: number
  readonly headers: HeaderFields
  readonly body: Buffer

  constructor(status: number, headers: HeaderFields, body: Buffer) {
    this.status = status
    this.headers = headers
    this.body = body
  }

  text(): string {
    const text = this.body.toString('utf8')
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }
}

/** True when the connection was used before: the server may have just closed it as idle. */
function isStale(error: Error): boolean {
  const { socket } = error as { socket?: { bytesRead?: number } }
  return (socket?.bytesRead ?? 0) > 0
}

/** Returns header fields by name; fields with the same name are joined with commas. */
class HeaderFields {
  readonly #fields: Dispatcher.ResponseData['headers']

  constructor(fields: Dispatcher.ResponseData['headers']) {
    this.#fields = fields
  }

  get(name: string): string | null {
    const value = this.#own(name.toLowerCase())
    return Array.isArray(value) ? value.join(', ') : (value ?? null)
  }

  getSetCookie(): string[] {
    const value = this.#own('set-cookie')
    return value === undefined ? [] : [value].flat()
  }

  toHeaders(): Headers {
    const headers = new Headers()
    for (const [name, value] of Object.entries(this.#fields)) {
      for (const line of [value ?? []].flat()) headers.append(name, line)
    }
    return headers
  }

  /** Shows the fields where a response is printed; cookies may be sessions. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return { ...this.#fields, ...(Object.hasOwn(this.#fields, 'set-cookie') && { 'set-cookie': '[secret]' }) }
  }

  #own(name: string): string | string[] | undefined {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined
  }
}

import { setImmediate } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { ProtocolError } from '../../errors.ts'
import { type HttpRequest, type HttpResponse, readBody, utf8 } from '../../http/message.ts'
import { type ExchangeProgress, failure, originOf } from '../../http/network-error.ts'
import type { ServerMessage } from '../../http/server-message.ts'
import { codingsOf, decodeBody } from './decode-body.ts'

/** Limits in bytes and time for draining an unwanted body; beyond them the connection is closed instead. */
const DISCARD = { bytes: 65_536, milliseconds: 1000 }

/** Bytes that are kept for a slow reader before the server is slowed down. */
const WAITING = 262_144

/** A response of undici as {@link HttpResponse}. Errors of its body are errors of the library. */
export class UndiciResponse implements HttpResponse {
  readonly status: number
  readonly url: string
  readonly headers: HeaderFields
  readonly #request: HttpRequest
  readonly #statusText: string
  readonly #body: ArrivingBody
  readonly #signal: AbortSignal | undefined
  #isTaken = false

  constructor(request: HttpRequest, { status, statusText, fields, body }: Arrived, signal: AbortSignal | undefined) {
    this.status = status
    this.url = request.url
    this.headers = new HeaderFields(fields)
    this.#request = request
    this.#statusText = statusText
    this.#body = body
    this.#signal = signal
  }

  async bytes(limit: number): Promise<Uint8Array> {
    return readBody(this.chunks(), limit, this.url)
  }

  async text(limit: number): Promise<string> {
    return utf8(await this.bytes(limit))
  }

  chunks(asSent = false): AsyncGenerator<Uint8Array, void> {
    this.#take()
    return this.#read(asSent)
  }

  sent(): HttpRequest {
    return this.#request
  }

  async serverMessage(): Promise<ServerMessage> {
    const { messageOfResponse } = await import('../base/answer-failure.ts')
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
    if (this.#codings().length) for (const name of ['content-encoding', 'content-length']) headers.delete(name)
    const statusText = /^[\t\x20-\x7e\x80-\xff]*$/.test(this.#statusText) ? this.#statusText : ''
    const response = new Response(this.#stream(), { status, statusText, headers })
    return Object.defineProperty(response, 'url', { value: url })
  }

  /** A second reader would get an empty body, as if the file were empty. Errors: `TypeError`, as of a standard `Response`. */
  #take(): void {
    if (this.#isTaken) throw new TypeError('the body of this response has already been read')
    this.#isTaken = true
  }

  async *#read(asSent: boolean): AsyncGenerator<Uint8Array, void> {
    try {
      const codings = asSent ? [] : this.#codings()
      yield* codings.length ? decodeBody(this.#body, codings, this.url) : this.#body
    } catch (error) {
      this.#body.destroy()
      throw failure(error, this.#signal, this.url)
    }
    // undici frees the connection one turn later: a request that directly follows shall use it.
    await setImmediate()
  }

  /** Returns the decoded body. It is pulled, so that a slow reader slows the server down. */
  #stream(): ReadableStream<Uint8Array> | null {
    if (this.#request.method === 'HEAD' || NULL_BODY.has(this.status)) {
      void this.discard()
      return null
    }
    const chunks = this.#read(false)
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => {
        this.#body.destroy()
        await chunks.return()
      },
    })
  }

  /** Returns the content codings to remove; a part of a coded body cannot be decoded. Errors: as for {@link codingsOf}. */
  #codings(): readonly string[] {
    const coded = this.#request.method !== 'HEAD' && this.status !== 206 ? this.headers.get('content-encoding') : null
    return coded === null ? [] : codingsOf(coded, this.url)
  }
}

/** Statuses without a body (Fetch standard, "null body status"). */
const NULL_BODY = new Set([204, 205, 304])

/** Status line, header fields and body of a response. */
interface Arrived {
  readonly status: number
  readonly statusText: string
  readonly fields: Dispatcher.ResponseData['headers']
  readonly body: ArrivingBody
}

/** The bytes of a body that have arrived and are not yet read. What came before an error is read before the error is thrown. */
class ArrivingBody implements AsyncIterable<Uint8Array> {
  readonly #resume: () => void
  readonly #cancel: () => void
  #chunks: Uint8Array[] = []
  #waiting = 0
  #end: { readonly error: unknown } | undefined
  #arrived: () => void = () => {}

  /**
   * @param resume lets the server send more
   * @param cancel ends the exchange: nobody reads the rest
   */
  constructor(resume: () => void, cancel: () => void) {
    this.#resume = resume
    this.#cancel = cancel
  }

  /** Returns false when the server should pause. */
  push(chunk: Uint8Array): boolean {
    this.#chunks.push(chunk)
    this.#waiting += chunk.length
    this.#arrived()
    return this.#waiting < WAITING
  }

  end(error?: unknown): void {
    this.#end ??= { error }
    this.#arrived()
  }

  /** Ends the body without what has not been read. */
  drop(error: unknown): void {
    this.#chunks = []
    this.end(error)
  }

  /** Ends the exchange, unless it has ended. */
  destroy(): void {
    if (!this.#end) this.#cancel()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk) {
          this.#waiting -= chunk.length
          yield chunk
        } else if (this.#end) {
          if (this.#end.error !== undefined) throw this.#end.error
          return
        } else {
          const more = new Promise<void>((resolve) => {
            this.#arrived = resolve
          })
          this.#resume()
          await more
        }
      }
    } finally {
      this.destroy()
    }
  }
}

/** One exchange: undici calls the handler as the response arrives; its body is a stream, so that a slow reader slows the server down. */
export class UndiciExchange implements Dispatcher.DispatchHandler {
  /** The response; rejects with the error that ended the exchange before. */
  readonly response: Promise<Arrived>
  readonly #over: () => void
  #answered: (response: Arrived) => void = () => {}
  #failed: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #body: ArrivingBody | undefined
  /** Remaining bytes, where the server stated the length. */
  #missing: number | undefined
  #isOver = false
  #reason: unknown

  /** @param over called when no more data will arrive */
  constructor(over: () => void) {
    this.#over = over
    this.response = new Promise((resolve, reject) => {
      this.#answered = resolve
      this.#failed = reject
    })
    // It may fail before anybody waits for it.
    this.response.catch(() => {})
  }

  /** Ends the exchange, also before a connection exists; unread data is discarded. */
  abort(reason: unknown): void {
    if (this.#isOver) return
    this.#end(reason)
    this.#body?.drop(reason)
    this.#controller?.abort(reason as Error)
  }

  /** How far it went. */
  get progress(): ExchangeProgress {
    const { socket } = (this.#reason ?? {}) as { readonly socket?: { readonly bytesRead?: number } }
    const sent = this.#controller !== undefined
    return { sent, reused: sent && (socket?.bytesRead ?? 0) > 0 }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(this.#reason as Error)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, fields: Arrived['fields'], statusText = ''): void {
    if (status < 200) return
    const length = Number(fields['content-length'])
    this.#missing = length > 0 ? length : undefined
    const body = new ArrivingBody(
      () => controller.resume(),
      () => this.abort(new Error('the rest of the response is not needed')),
    )
    this.#body = body
    this.#answered({ status, statusText, fields, body })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#missing !== undefined) this.#missing -= chunk.length
    if (this.#body?.push(chunk) === false) controller.pause()
  }

  onResponseEnd(): void {
    this.#end(undefined)
    this.#body?.end()
  }

  /**
   * undici reports an error when the server closes its connection while the last bytes are paused. A body is complete with its last byte
   * (RFC 9112 §6.2).
   */
  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return
    if (this.#missing === 0) {
      this.onResponseEnd()
    } else {
      this.#end(error)
      this.#body?.end(error)
    }
  }

  #end(reason: unknown): void {
    this.#isOver = true
    this.#reason = reason
    this.#over()
    this.#failed(reason)
  }
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

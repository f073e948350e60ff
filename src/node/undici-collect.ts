import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { type AuthError, ProtocolError } from '../errors.ts'
import type { Cancel, Collected, CollectOptions, PartedRequest, Uncollected } from '../http/collect.ts'
import { keepChunk } from '../http/keep-chunk.ts'
import { networkError, originOf, tooLarge } from '../http/network-error.ts'
import { readBody } from '../http/read-body.ts'
import { codingsOf, decodeBody } from './decode-body.ts'
import { HeaderFields } from './header-fields.ts'

type Done = (result: Collected | Uncollected) => void

/**
 * Sends a request through that dispatcher and collects the answer without a stream in between.
 *
 * Errors: as of sending; `RESPONSE_TRUNCATED` for an answer whose body ends before its declared length or its last chunk.
 */
export function undiciCollect(dispatcher: Dispatcher, request: PartedRequest, options: CollectOptions, done: Done): Cancel {
  const collector = new Collector(request, options, done)
  const { origin, path, method, headers, body = null } = request
  const { headersTimeout, bodyTimeout } = options
  const timeouts = { ...(headersTimeout !== undefined && { headersTimeout }), ...(bodyTimeout !== undefined && { bodyTimeout }) }
  try {
    // undici sends any iterable of bytes; its types know streams only.
    dispatcher.dispatch({ origin, path, method: method as 'GET', headers, body: body as Uint8Array | null, ...timeouts }, collector)
  } catch (error) {
    queueMicrotask(() => collector.fail(networkError(error, origin)))
  }
  return (reason) => collector.cancel(reason)
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
  /** The body is whole, or as much of it as is wanted; it may still be decoded. */
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
    else controller.abort(new Error('given up'))
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
      this.cancel(tooLarge(this.#origin, `the answer exceeds ${this.#limit} bytes`))
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

  /** A status that is no success says enough without its body. */
  #undecoded(error: unknown): void {
    if (this.#status >= 300) this.#answer(Buffer.alloc(0))
    else this.fail(this.#bodyError(error))
  }

  #answer(body: Buffer): void {
    const fields = this.#fields
    if (fields) this.#end(new CollectedBuffer(this.#status, fields, body))
  }

  /** A body that breaks off is one error, however the connection came to its end. */
  #bodyError(error: unknown): AuthError {
    const known = networkError(error, this.#origin)
    if (known.code !== 'NETWORK_RESET' && known.code !== 'RESPONSE_TRUNCATED') return known
    return new ProtocolError('RESPONSE_TRUNCATED', `${originOf(this.#origin)}: the answer ended too early`, {
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

/** The connection had brought answers before: an idle one that its server closed just now. */
function isStale(error: Error): boolean {
  const { socket } = error as { socket?: { bytesRead?: number } }
  return (socket?.bytesRead ?? 0) > 0
}

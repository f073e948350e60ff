/** The attempts of one call: each is authorized, sent and collected. */

import type { Service } from '../../auth/auth.ts'
import type { AuthError } from '../../errors.ts'
import { type HttpRequest, type HttpResponse, type Transport, utf8 } from '../../http/message.ts'
import { tooLarge } from '../../http/network-error.ts'
import { type Interruption, unlessAborted } from '../../net/cancellation.ts'
import type { Channel } from '../../platform/platform.ts'
import { type Cancel, type Collect, type Collected, isUncollected, type Uncollected } from './collect-over.ts'
import { foreign, ValidationError } from './errors.ts'
import type { EventName } from './events.ts'
import type { RequestBuilder, StreamBody } from './request-builder.ts'
import type { ServiceLimit } from './retries.ts'

/** Everything that is loaded and selected to send requests to a service. */
export interface Link {
  readonly collect: Collect
  /** Sends requests whose responses are streams. */
  readonly send: Transport
  /** Absent for requests without a credential. */
  readonly service: Service | undefined
  /** True if the user named the origin, so that it may be a loopback or private address. */
  readonly allowPrivateNetwork: boolean
  /** True if the transport sends a stream without reading it to its end first. */
  readonly streams: boolean
  /** Returns the limits with that name. */
  limits(name: string): ServiceLimit
  readonly channels: ReadonlyMap<EventName, Channel>
}

/** Options of `Attempts`. */
interface AttemptSettings {
  readonly link: Link
  /** `collect` of the link, or one that leaves the body of a successful response to its reader. */
  readonly collect: Collect
  /** Name of the operation, for errors. */
  readonly operation: string
  readonly limit: number
  readonly headersTimeout: number
  readonly bodyTimeout: number
  /** False: a request is not repeated with refreshed tokens after a 401. */
  readonly refresh: boolean
  readonly interruption: Interruption
}

/** Maximum size in bytes of a response whose status is not a success. */
const FAILURE_LIMIT = 65_536

/** Makes the attempts of one call, one after the other, and counts the requests that it hands to the transport. */
export class Attempts {
  /** Requests handed to the transport. */
  count = 0
  /** The last request as it was sent; its headers and URL contain secrets. */
  sent: HttpRequest | undefined
  readonly #builder: RequestBuilder
  readonly #settings: AttemptSettings
  #last: Collected | Uncollected | undefined
  #cancel: Cancel | undefined
  /** Ends the wait while no request is being sent. */
  #ending: AbortController | undefined

  constructor(builder: RequestBuilder, settings: AttemptSettings) {
    this.#builder = builder
    this.#settings = settings
  }

  /** Cancels the attempt with that reason, or the body of a response that is left to its reader. */
  cancel(reason: AuthError): void {
    this.#cancel?.(reason)
    this.#ending?.abort(reason)
  }

  /** Returns the result of a function of the caller, unless the attempt ends first. Errors: the reason for that end. */
  async unlessEnded<T>(make: () => T | Promise<T>): Promise<T> {
    const signal = this.#signal()
    try {
      return await unlessAborted(Promise.resolve(make()), signal)
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    }
  }

  /** Makes one attempt. Errors: those of the credential; a network failure is a result. */
  async make(plain: HttpRequest): Promise<Collected | Uncollected> {
    const { link, refresh } = this.#settings
    if (!link.service) return this.#collect(plain)
    const authorized = link.service.peek(plain)
    if (!authorized) return this.#run(link.service, plain)
    const result = await this.#collect(authorized)
    if (isUncollected(result) || result.status !== 401 || !refresh || this.#builder.stream) return result
    return this.#run(link.service, plain, { request: authorized, response: new CollectedResponse(result, authorized.url) })
  }

  /** Runs the whole flow of the scheme; `refused` is its first request with its response, if that was sent already. */
  async #run(
    service: Service,
    plain: HttpRequest,
    refused?: { readonly request: HttpRequest; readonly response: HttpResponse },
  ): Promise<Collected | Uncollected> {
    const signal = this.#signal()
    try {
      const sending = service.send(plain, (request) => this.#sendStep(request, signal), { signal, ...(refused && { refused }) })
      return await unlessAborted(
        sending.then((response) => this.#collected(response)),
        signal,
      )
    } catch (error) {
      const reason: unknown = signal.aborted ? signal.reason : error
      if (this.#last && isUncollected(this.#last) && this.#last.error === reason) return this.#last
      if (!signal.aborted || this.#settings.interruption.reason) throw reason
      // Every request so far had a response, which was a challenge.
      return { error: reason as AuthError, sent: false, begun: false, stale: false }
    }
  }

  /** Returns a signal that aborts with the call or with this attempt. */
  #signal(): AbortSignal {
    this.#ending = new AbortController()
    return AbortSignal.any([this.#settings.interruption.signal, this.#ending.signal])
  }

  #collected(response: HttpResponse): Collected | Promise<Collected> {
    if (response instanceof CollectedResponse) return response.collected
    return CollectedResponse.read(response, response.status < 300 ? this.#settings.limit : FAILURE_LIMIT)
  }

  async #sendStep(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    // A credential that arrives after the end sends nothing.
    if (signal.aborted) throw signal.reason
    if (this.#isUsedUp()) throw usedUp()
    const result = await this.#collect(request)
    if (isUncollected(result)) throw result.error
    return new CollectedResponse(result, request.url)
  }

  /** Returns true if the body is a stream that an earlier request consumed: it would be empty in the next one. */
  #isUsedUp(): boolean {
    const { stream, replayable } = this.#builder
    return stream !== undefined && !replayable && this.#last !== undefined && !(isUncollected(this.#last) && !this.#last.sent)
  }

  #collect(request: HttpRequest): Promise<Collected | Uncollected> {
    const { link, collect, limit, headersTimeout, bodyTimeout, interruption, operation } = this.#settings
    const { allowPrivateNetwork } = link
    const stream = this.#builder.stream && made(this.#builder.stream, operation)
    this.count++
    this.sent = request
    return new Promise((resolve) => {
      let over = false
      const done = (result: Collected | Uncollected) => {
        over = true
        this.#last = result
        interruption.tell(undefined)
        resolve(result)
      }
      const options = { allowPrivateNetwork, limit, failureLimit: FAILURE_LIMIT, headersTimeout, bodyTimeout, ...(stream && { stream }) }
      const cancel = collect(request, options, done)
      this.#cancel = cancel
      if (!over) interruption.tell(cancel)
    })
  }
}

function usedUp(): ValidationError {
  const message = 'the request must be sent again, but its body is a stream that was already consumed'
  const hint = 'pass content as bytes, or as a function that returns a new stream'
  return new ValidationError('REQUEST_INVALID', message, { field: 'content', hint })
}

/** A collected response as an `HttpResponse`, for callers that read the body themselves. */
class CollectedResponse implements HttpResponse {
  readonly collected: Collected
  readonly status: number
  readonly url: string
  readonly headers: HttpResponse['headers']

  constructor(collected: Collected, url: string) {
    this.collected = collected
    this.status = collected.status
    this.url = url
    this.headers = collected.headers
  }

  /** Reads a response to its end. */
  static async read(response: HttpResponse, limit: number): Promise<Collected> {
    const body = await response.bytes(limit)
    return { status: response.status, headers: response.headers, body, text: () => utf8(body) }
  }

  async bytes(limit: number): Promise<Uint8Array> {
    const { body } = this.collected
    if (body.length > limit) throw tooLarge(this.url, `the response exceeds ${limit} bytes`)
    return body
  }

  async text(limit: number): Promise<string> {
    return utf8(await this.bytes(limit))
  }

  async discard(): Promise<void> {}

  toResponse(): Response {
    const { status, body } = this.collected
    const isEmpty = status === 204 || status === 205 || status === 304
    return new Response(isEmpty ? null : (body as BodyInit), { status })
  }
}

/** Returns the chunks of a new stream. Errors, also of its chunks: `CONFIG_INVALID` if a stream of the caller fails. */
function made(stream: NonNullable<RequestBuilder['stream']>, operation: string): AsyncIterable<Uint8Array> {
  try {
    return reported(chunksOf(stream()), operation)
  } catch (error) {
    throw foreign(error, operation)
  }
}

/** Keeps what a stream of the caller throws apart from a failure of the network, which would be retried. */
async function* reported(chunks: AsyncIterable<Uint8Array>, operation: string): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } catch (error) {
    throw foreign(error, operation)
  }
}

/** Returns the chunks of a stream; not every platform can iterate over a `ReadableStream`. */
export function chunksOf(stream: StreamBody): AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in stream ? stream : read(stream)
}

async function* read(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

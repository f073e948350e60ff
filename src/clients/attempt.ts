/** One attempt: authorized, sent, collected. */
import type { AuthError } from '../errors.ts'
import { type Cancel, type Collect, type Collected, isUncollected, type PartedRequest, type Uncollected } from '../http/collect.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { chunksOf } from './chunks-of.ts'
import { CollectedResponse } from './collected-response.ts'
import type { Draft } from './draft.ts'
import type { Interruption } from './interruption.ts'
import type { Link } from './link.ts'

/** What attempts are made with. */
export interface AttemptSettings {
  readonly link: Link
  /** That of the link, or one that leaves the body of a success to its reader. */
  readonly collect: Collect
  readonly origin: string
  readonly limit: number
  readonly headersTimeout: number
  readonly bodyTimeout: number
  /** False: a refusal is never answered with a renewed credential. */
  readonly renew: boolean
  readonly interruption: Interruption
}

/** Bytes of an answer that is no success. */
const FAILURE_LIMIT = 65_536

/** Makes the attempts of one call, one after the other, and counts what it hands to the transport. */
export class Attempts {
  /** Requests handed to the transport. */
  count = 0
  /** The last request as it went out; its headers and address hold secrets. */
  sent: HttpRequest | undefined
  readonly #draft: Draft
  readonly #settings: AttemptSettings
  #last: Collected | Uncollected | undefined
  #cancel: Cancel | undefined

  constructor(draft: Draft, settings: AttemptSettings) {
    this.#draft = draft
    this.#settings = settings
  }

  /** Gives the last request up, with that reason; also the body of an answer that is left to its reader. */
  cancel(reason: AuthError): void {
    this.#cancel?.(reason)
  }

  /** Errors: those of the credential; a failure of the network is a result. */
  async make(plain: HttpRequest): Promise<Collected | Uncollected> {
    const { link, renew } = this.#settings
    if (!link.service) return this.#collect(plain)
    const authorized = link.service.peek(plain)
    if (!authorized) return this.#run(plain)
    const result = await this.#collect(authorized)
    if (isUncollected(result) || result.status !== 401 || !renew || this.#draft.stream) return result
    return this.#run(plain, { request: authorized, response: new CollectedResponse(result, authorized.url) })
  }

  /** The whole flow of the scheme; `refused` is what came of its first request already. */
  async #run(plain: HttpRequest, refused?: { request: HttpRequest; response: HttpResponse }): Promise<Collected | Uncollected> {
    const { link, interruption, limit } = this.#settings
    const { signal } = interruption
    try {
      const sending = link.service?.send(plain, (request) => this.#sendLeg(request), { signal, ...(refused && { refused }) })
      const response = sending && (await unlessAborted(sending, signal))
      if (response instanceof CollectedResponse) return response.collected
      if (response) return await CollectedResponse.read(response, response.status < 300 ? limit : FAILURE_LIMIT)
    } catch (error) {
      if (this.#last && isUncollected(this.#last) && this.#last.error === error) return this.#last
      throw interruption.reason ?? error
    }
    return this.#collect(plain)
  }

  async #sendLeg(request: HttpRequest): Promise<HttpResponse> {
    const result = await this.#collect(request)
    if (isUncollected(result)) throw result.error
    return new CollectedResponse(result, request.url)
  }

  #collect(request: HttpRequest): Promise<Collected | Uncollected> {
    const { link, collect, origin, limit, headersTimeout, bodyTimeout, interruption } = this.#settings
    const { granted } = link
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
      const options = { granted, limit, failureLimit: FAILURE_LIMIT, headersTimeout, bodyTimeout }
      const cancel = collect(parted(request, origin, this.#draft), options, done)
      this.#cancel = cancel
      if (!over) interruption.tell(cancel)
    })
  }
}

/** A credential may take its time: whoever gives up need not wait for it. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

function parted(request: HttpRequest, origin: string, draft: Draft): PartedRequest {
  const { method, url, headers, body } = request
  const path = url.slice(origin.length)
  if (draft.stream) return { method, origin, path, headers, body: chunksOf(draft.stream()) }
  return body === undefined ? { method, origin, path, headers } : { method, origin, path, headers, body }
}

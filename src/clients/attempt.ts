/** One attempt: authorized, sent, collected. */
import type { Service } from '../auth/auth.ts'
import type { AuthError } from '../errors.ts'
import { type Cancel, type Collect, type Collected, isUncollected, type Uncollected } from '../http/collect.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { unlessAborted } from '../net/cancellation.ts'
import type { Interruption } from '../net/deadline.ts'
import { CollectedResponse } from './collected-response.ts'
import type { Draft } from './draft.ts'
import { ValidationError } from './errors.ts'
import type { Link } from './link.ts'
import { parted } from './parted.ts'

/** What attempts are made with. */
export interface AttemptSettings {
  readonly link: Link
  /** That of the link, or one that leaves the body of a success to its reader. */
  readonly collect: Collect
  readonly origin: string
  /** Name, for errors. */
  readonly operation: string
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
  /** Ends what is waited for while no request is out. */
  #ending: AbortController | undefined

  constructor(draft: Draft, settings: AttemptSettings) {
    this.#draft = draft
    this.#settings = settings
  }

  /** Gives the attempt up, with that reason; also the body of an answer that is left to its reader. */
  cancel(reason: AuthError): void {
    this.#cancel?.(reason)
    this.#ending?.abort(reason)
  }

  /** What a function of the caller gives, for as long as the attempt goes on. Errors: the reason of its end. */
  async unlessEnded<T>(make: () => T | Promise<T>): Promise<T> {
    const signal = this.#signal()
    try {
      return await unlessAborted(Promise.resolve(make()), signal)
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    }
  }

  /** Errors: those of the credential; a failure of the network is a result. */
  async make(plain: HttpRequest): Promise<Collected | Uncollected> {
    const { link, renew } = this.#settings
    if (!link.service) return this.#collect(plain)
    const authorized = link.service.peek(plain)
    if (!authorized) return this.#run(link.service, plain)
    const result = await this.#collect(authorized)
    if (isUncollected(result) || result.status !== 401 || !renew || this.#draft.stream) return result
    return this.#run(link.service, plain, { request: authorized, response: new CollectedResponse(result, authorized.url) })
  }

  /** The whole flow of the scheme; `refused` is what came of its first request already. */
  async #run(
    service: Service,
    plain: HttpRequest,
    refused?: { readonly request: HttpRequest; readonly response: HttpResponse },
  ): Promise<Collected | Uncollected> {
    const signal = this.#signal()
    try {
      const sending = service.send(plain, (request) => this.#sendLeg(request, signal), { signal, ...(refused && { refused }) })
      return await unlessAborted(
        sending.then((response) => this.#collected(response)),
        signal,
      )
    } catch (error) {
      const reason: unknown = signal.aborted ? signal.reason : error
      if (this.#last && isUncollected(this.#last) && this.#last.error === reason) return this.#last
      if (!signal.aborted || this.#settings.interruption.reason) throw reason
      // Every request so far was answered, by a challenge.
      return { error: reason as AuthError, sent: false, begun: false, stale: false }
    }
  }

  /** Aborts with the call or with this attempt. */
  #signal(): AbortSignal {
    this.#ending = new AbortController()
    return AbortSignal.any([this.#settings.interruption.signal, this.#ending.signal])
  }

  #collected(response: HttpResponse): Collected | Promise<Collected> {
    if (response instanceof CollectedResponse) return response.collected
    return CollectedResponse.read(response, response.status < 300 ? this.#settings.limit : FAILURE_LIMIT)
  }

  async #sendLeg(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    // A credential that came too late sends nothing.
    if (signal.aborted) throw signal.reason
    if (this.#isUsedUp()) throw usedUp()
    const result = await this.#collect(request)
    if (isUncollected(result)) throw result.error
    return new CollectedResponse(result, request.url)
  }

  /** A stream that was read for a request before would be empty in the next one. */
  #isUsedUp(): boolean {
    const { stream, replayable } = this.#draft
    return stream !== undefined && !replayable && this.#last !== undefined && !(isUncollected(this.#last) && !this.#last.sent)
  }

  #collect(request: HttpRequest): Promise<Collected | Uncollected> {
    const { link, collect, origin, limit, headersTimeout, bodyTimeout, interruption, operation } = this.#settings
    const { granted } = link
    const sending = parted(request, origin, this.#draft, operation)
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
      const cancel = collect(sending, options, done)
      this.#cancel = cancel
      if (!over) interruption.tell(cancel)
    })
  }
}

function usedUp(): ValidationError {
  const message = 'the server wants the request again, but its body is a stream that was sent already'
  const hint = 'give content as bytes, or as a function that makes the stream anew'
  return new ValidationError('REQUEST_INVALID', message, { field: 'content', hint })
}

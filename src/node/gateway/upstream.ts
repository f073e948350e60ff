/** Sends the requests of the gateway through the engine, with few retries: the program is waiting. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Auth } from '../../auth/auth.ts'
import { isAuthError, SelectionError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { Retries, type RetryPolicy, retryHint } from '../../net/retry.ts'
import type { Route, Routes } from './routes.ts'

/** At most about ten seconds in all: programs have timeouts of their own, and some retry as well. */
export const GATEWAY_RETRIES: RetryPolicy = {
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
  readonly body?: Uint8Array
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

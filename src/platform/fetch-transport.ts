import { NetworkError, ProtocolError, TrustError, UnsupportedError } from '../errors.ts'
import { readBody, utf8 } from '../http/body.ts'
import type { HttpRequest, HttpResponse, Send, SendOptions } from '../http/message.ts'
import { type ExchangeEnd, exchangeEnd, failure, invalidRequest, isKnownFailure, originOf } from '../http/network-error.ts'
import { isPublicHost } from '../http/public-address.ts'
import { throwIfAborted } from '../net/cancellation.ts'

/**
 * Sends requests with the platform's `fetch`: no cookies, no referrer, no redirect on its own.
 *
 * Browsers hide where a redirect leads. With `followHidden` a GET or HEAD whose only material is in `authorization`, which browsers drop at
 * another origin, is sent once more and followed by the browser; every other one is refused.
 *
 * Errors: `CORS_OR_NETWORK` and what {@link networkError} knows, `TIMEOUT_TOTAL`, `URL_ADDRESS_FORBIDDEN` (by the literal host only),
 * `REDIRECT_CROSS_ORIGIN`, `UNSUPPORTED_IN_BROWSER` for headers that a browser leaves out, `AbortedError`.
 */
export function fetchTransport(fetch: typeof globalThis.fetch = (...args) => globalThis.fetch(...args)): Send {
  return (request, options = {}) => exchange(fetch, request, options)
}

type Fetch = typeof globalThis.fetch

async function exchange(fetch: Fetch, request: HttpRequest, options: SendOptions): Promise<HttpResponse> {
  throwIfAborted(options.signal)
  const end = exchangeEnd(options, request.url)
  try {
    if (!options.allowPrivateNetwork) checkHost(request.url)
    if (options.clientCertificate) throw certificateUnshown(request.url)
    const response = await fetch(standardRequest(request, 'manual', end.signal))
    if (response.type !== 'opaqueredirect') return new FetchResponse(response, request.url, end)
    checkFollowing(request, options)
    return new FetchResponse(await fetch(standardRequest(request, 'follow', end.signal)), request.url, end)
  } catch (error) {
    end.clear()
    throw end.signal?.aborted || isKnownFailure(error) ? failure(error, end.signal, request.url) : corsOrNetwork(request.url)
  }
}

function certificateUnshown(url: string): UnsupportedError {
  const message = `${originOf(url)} wants a certificate, which no page can show; nothing was sent`
  return new UnsupportedError('UNSUPPORTED_IN_BROWSER', message, { url })
}

function checkHost(url: string): void {
  if (!URL.canParse(url)) throw invalidRequest(url)
  const { hostname } = new URL(url)
  if (isPublicHost(hostname)) return
  throw new TrustError('URL_ADDRESS_FORBIDDEN', `"${hostname}" is a loopback or private address that you did not name; nothing was sent`, {
    url,
    hint: 'if it is yours, write its origin into sendTo',
  })
}

/** Headers that only ask for a form of the answer; it does no harm when a browser chooses that form itself. */
const UNIMPORTANT = new Set(['accept-encoding', 'user-agent'])

/** Browsers leave forbidden headers out without a word, so they are read back. */
function standardRequest({ method, url, headers, body }: HttpRequest, redirect: RequestRedirect, signal?: AbortSignal): Request {
  const options = { redirect, credentials: 'omit', referrerPolicy: 'no-referrer' } as const
  const request = made(url, {
    ...options,
    method,
    headers,
    ...(body !== undefined && { body: body as BodyInit }),
    ...(signal && { signal }),
  })
  const dropped = Object.keys(headers).find((name) => !request.headers.has(name) && !UNIMPORTANT.has(name))
  if (dropped === undefined) return request
  throw new UnsupportedError(
    'UNSUPPORTED_IN_BROWSER',
    `browsers do not let a page send the header "${dropped}"; nothing was sent to ${originOf(url)}`,
    { url },
  )
}

/** What the constructor throws may quote a header. */
function made(url: string, init: RequestInit): Request {
  try {
    return new Request(url, init)
  } catch {
    throw invalidRequest(url)
  }
}

/** Headers that may go to another origin, and the one that browsers take away there. */
const FOLLOWABLE = new Set(['accept', 'accept-language', 'range', 'if-range', 'user-agent', 'accept-encoding', 'authorization'])

function checkFollowing({ method, url, headers }: HttpRequest, { followHidden = false }: SendOptions): void {
  const isSafe = (method === 'GET' || method === 'HEAD') && Object.keys(headers).every((name) => FOLLOWABLE.has(name))
  if (followHidden && isSafe) return
  throw new TrustError('REDIRECT_CROSS_ORIGIN', `${originOf(url)} redirects, and browsers hide where to; the redirect was not followed`, {
    url,
    hint: 'use the final address, or a program outside the browser',
  })
}

function corsOrNetwork(url: string): NetworkError {
  return new NetworkError(
    'CORS_OR_NETWORK',
    `${originOf(url)}: no answer; browsers do not say whether the network failed or the server lacks CORS`,
    {
      url,
      retryable: true,
      hint: 'the server must allow this page in Access-Control-Allow-Origin and the headers used in Access-Control-Allow-Headers',
    },
  )
}

/** A `Response` of the platform as an {@link HttpResponse}. */
class FetchResponse implements HttpResponse {
  readonly status: number
  readonly url: string
  readonly headers: Headers
  readonly #response: Response
  readonly #end: ExchangeEnd

  constructor(response: Response, url: string, end: ExchangeEnd) {
    this.status = response.status
    this.url = response.url || url
    this.headers = response.headers
    this.#response = response
    this.#end = end
  }

  async bytes(limit: number): Promise<Uint8Array> {
    return readBody(this.#chunks(), limit, this.url)
  }

  async text(limit: number): Promise<string> {
    return utf8(await this.bytes(limit))
  }

  async discard(): Promise<void> {
    this.#end.clear()
    await this.#response.body?.cancel().catch(() => {})
  }

  toResponse(): Response {
    this.#end.clear()
    return this.#response
  }

  /** By reader: not every browser iterates over streams. */
  async *#chunks(): AsyncGenerator<Uint8Array, void> {
    const reader = this.#response.body?.getReader()
    if (!reader) return
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
    } catch (error) {
      throw isKnownFailure(error) || this.#end.signal?.aborted ? failure(error, this.#end.signal, this.url) : cutShort(this.url)
    } finally {
      this.#end.clear()
      await reader.cancel().catch(() => {})
    }
  }
}

function cutShort(url: string): ProtocolError {
  return new ProtocolError('RESPONSE_TRUNCATED', `${originOf(url)}: the answer ended too early`, { url, retryable: true })
}

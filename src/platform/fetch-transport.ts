import { type AuthError, NetworkError, ProtocolError, TrustError, UnsupportedError } from '../errors.ts'
import { type HttpRequest, type HttpResponse, readBody, type Send, type SendOptions, utf8 } from '../http/message.ts'
import { exchangeTimeout, failure, invalidRequest, isKnownFailure, networkError } from '../http/network-error.ts'
import { isPublicHost, originOf, trustHint } from '../http/url.ts'
import { type ExchangeEnd, exchangeEnd, throwIfAborted } from '../net/cancellation.ts'
import { canParseUrl } from '../text/can-parse-url.ts'

/**
 * Sends requests with the platform's `fetch`, without cookies, referrer and automatic redirects.
 *
 * Browsers hide the target of a redirect. With `followHidden`, a GET or HEAD whose only secret is in `authorization`, which browsers drop
 * at another origin, is sent again and the browser follows the redirect; all other redirects are refused.
 *
 * Errors: `CORS_OR_NETWORK` and the codes of {@link networkError}, `TIMEOUT_TOTAL`, `URL_ADDRESS_FORBIDDEN` (for IP literals only),
 * `REDIRECT_CROSS_ORIGIN`, `UNSUPPORTED_IN_BROWSER` for headers that browsers do not send, `AbortedError`.
 *
 * @param runtime `page` for browsers; `server` for runtimes without CORS, which have no cookies and no referrer either
 */
export function fetchTransport(
  fetch: typeof globalThis.fetch = (...args) => globalThis.fetch(...args),
  runtime: 'page' | 'server' = 'page',
): Send {
  const fetching =
    runtime === 'page' ? IN_PAGES : { fetch: {}, authorized: {}, failed: (error: unknown, url: string) => networkError(error, url) }
  return (request, options = {}) => exchange(fetch, request, options, fetching)
}

type Fetch = typeof globalThis.fetch

/** How a runtime fetches. */
interface Fetching {
  /** Options of every request. */
  readonly fetch: RequestInit
  /** Options of requests with a credential. */
  readonly authorized: RequestInit
  /** Returns the error of a request without a response. */
  failed(error: unknown, url: string): AuthError
}

const IN_PAGES: Fetching = {
  fetch: { credentials: 'omit', referrerPolicy: 'no-referrer' },
  // The cache of a browser knows URLs only: it would show one user's answer to the next one, and a public answer after a login.
  authorized: { cache: 'no-store' },
  failed: (_error, url) => corsOrNetwork(url),
}

async function exchange(fetch: Fetch, request: HttpRequest, options: SendOptions, fetching: Fetching): Promise<HttpResponse> {
  throwIfAborted(options.signal)
  const end = exchangeEnd(options, (timeout) => exchangeTimeout(request.url, timeout))
  try {
    if (!options.allowPrivateNetwork) checkHost(request.url)
    if (options.clientCertificate) throw certificateUnshown(request.url)
    const init = { ...fetching.fetch, ...(options.use && fetching.authorized) }
    const response = await fetch(standardRequest(request, { ...init, redirect: 'manual' }, end.signal))
    if (response.type !== 'opaqueredirect') return new FetchResponse(response, request.url, end)
    checkFollowing(request, options)
    return new FetchResponse(await fetch(standardRequest(request, { ...init, redirect: 'follow' }, end.signal)), request.url, end)
  } catch (error) {
    end.clear()
    throw end.signal?.aborted || isKnownFailure(error) ? failure(error, end.signal, request.url) : fetching.failed(error, request.url)
  }
}

function certificateUnshown(url: string): UnsupportedError {
  const message = `the request to ${originOf(url)} was not sent: it requires a client certificate, which web pages cannot present`
  return new UnsupportedError('UNSUPPORTED_IN_BROWSER', message, { url })
}

function checkHost(url: string): void {
  if (!canParseUrl(url)) throw invalidRequest(url)
  const { hostname } = new URL(url)
  if (isPublicHost(hostname)) return
  throw new TrustError(
    'URL_ADDRESS_FORBIDDEN',
    `the request was not sent: "${hostname}" is a loopback or private address that you did not name`,
    {
      url,
      hint: trustHint(`${new URL(url).origin}/`),
    },
  )
}

/** Headers that only affect the form of the response; the browser may replace them. */
const UNIMPORTANT = new Set(['accept-encoding', 'user-agent'])

/** Returns a `Request`. Browsers omit forbidden headers silently, so the headers are read back. */
function standardRequest({ method, url, headers, body }: HttpRequest, options: RequestInit, signal?: AbortSignal): Request {
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
    `the request to ${originOf(url)} was not sent: browsers do not let a page set the header "${dropped}"`,
    { url },
  )
}

/** Calls the constructor of `Request`; its errors may quote a header, so they are replaced. */
function made(url: string, init: RequestInit): Request {
  try {
    return new Request(url, init)
  } catch {
    throw invalidRequest(url)
  }
}

/** Headers that may be sent to another origin, and `authorization`, which browsers drop there. */
const FOLLOWABLE = new Set(['accept', 'accept-language', 'range', 'if-range', 'user-agent', 'accept-encoding', 'authorization'])

function checkFollowing({ method, url, headers }: HttpRequest, { followHidden = false }: SendOptions): void {
  const isSafe = (method === 'GET' || method === 'HEAD') && Object.keys(headers).every((name) => FOLLOWABLE.has(name))
  if (followHidden && isSafe) return
  throw new TrustError('REDIRECT_CROSS_ORIGIN', `the redirect of ${originOf(url)} was not followed: browsers hide its target`, {
    url,
    hint: 'request the final URL directly, or use a program outside the browser',
  })
}

function corsOrNetwork(url: string): NetworkError {
  return new NetworkError(
    'CORS_OR_NETWORK',
    `the request to ${originOf(url)} failed: browsers do not report whether the network failed or the server lacks CORS headers`,
    {
      url,
      retryable: true,
      hint: 'the server must allow this page in Access-Control-Allow-Origin and the request headers in Access-Control-Allow-Headers',
    },
  )
}

/** Wraps a `Response` of the platform as {@link HttpResponse}. */
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

  /** Reads with a reader, because some browsers do not support async iteration of streams. */
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
  return new ProtocolError('RESPONSE_TRUNCATED', `the response of ${originOf(url)} is incomplete: it ended too early`, {
    url,
    retryable: true,
  })
}

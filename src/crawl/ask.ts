/** Requests one job, with retries, a timeout and the signal of the crawl. */

import { AbortedError, type AuthError, IntegrityError, NetworkError } from '../errors.ts'
import { mediaType } from '../http/headers.ts'
import { type HttpRequest, type HttpResponse, isRetryableStatus, readBody, type SendOptions } from '../http/message.ts'
import { exchangeTimeout, failure } from '../http/network-error.ts'
import { sleep, withTimeout } from '../net/cancellation.ts'
import type { Clock } from '../net/clock.ts'
import type { OriginLimiter } from '../net/limiter.ts'
import { Retries, retryAfterOf, retryAfterProblem, retryHint, withRetryAfter } from '../net/retry.ts'
import { DOCUMENT_LIMITS } from '../stac/document.ts'
import { type Job, type Outcome, originOf } from './job.ts'
import { CRAWL_RETRIES, type CrawlManners } from './settings.ts'

/** The part of a response that a crawl uses; every `HttpResponse` is one. */
export type CrawlResponse = Pick<HttpResponse, 'status' | 'url' | 'headers' | 'bytes' | 'discard'>

/**
 * Sends one request and returns the response. A `Send` of the library is one, but it does not follow redirects; `auth.send` does, and selects
 * the credential anew at every hop.
 */
export type CrawlSend = (request: HttpRequest, options: SendOptions) => Promise<CrawlResponse>

/** The body of a response, or `undefined` for an unchanged document. */
export interface Answer {
  readonly url: string
  /** Undefined for 304. */
  readonly bytes?: Uint8Array
  /** Media type of the response. */
  readonly type?: string
  /** Validators for the next conditional request (RFC 9110 §8.8). */
  readonly validators?: Pick<Outcome, 'etag' | 'modified'>
}

/** The settings and shared state of requests. */
export interface Asking extends Pick<CrawlManners, 'retries' | 'maxRetryAfter' | 'maxBytes' | 'userAgent'> {
  readonly send: CrawlSend
  readonly limiter: OriginLimiter
  /** Maximum duration of one exchange in milliseconds. */
  readonly timeout: number
  readonly clock: Clock
  readonly random: () => number
  readonly signal?: AbortSignal
}

const ACCEPT = 'application/geo+json, application/json;q=0.9, */*;q=0.1'

/**
 * Requests a job. Retries 408, 425, 429, most 5xx and network errors, at most four times: after `Retry-After`, which holds the whole origin,
 * or after exponential backoff with jitter.
 *
 * Errors: `HTTP_<status>`, `RATE_LIMITED`, `RESPONSE_TOO_LARGE`, `TIMEOUT_*`, `NETWORK_*`, `ABORTED`, those of `send`.
 *
 * @param earlier its outcome in the previous run, for a conditional request
 */
export async function ask(job: Job, asking: Asking, earlier?: Outcome): Promise<Answer> {
  const { retries = Infinity, maxRetryAfter = Infinity, clock, random, limiter, signal } = asking
  const origin = originOf(job.url)
  const longest = Math.min(maxRetryAfter, CRAWL_RETRIES.retryAfter.longest)
  const policy = { ...CRAWL_RETRIES, retries: Math.min(retries, CRAWL_RETRIES.retries), retryAfter: { longest } }
  const attempts = new Retries(policy, random)
  for (;;) {
    try {
      await limiter.enter(origin, signal)
      try {
        const answer = await once(job, asking, earlier)
        limiter.succeeded(origin)
        return answer
      } finally {
        limiter.leave(origin)
      }
    } catch (error) {
      if (signal?.aborted) throw new AbortedError(signal.reason)
      const failed = failure(error, undefined, job.url)
      const wait = retryAfterOf(failed)
      const isTooLong = (wait ?? 0) > longest
      const delay = failed.retryable && !isTooLong ? attempts.next({ hint: wait, status: failed.status }) : 'retries'
      if (typeof delay === 'string')
        throw isTooLong || failed.code === 'HTTP_429'
          ? rateLimited(job.url, isTooLong ? retryAfterProblem(wait ?? 0, longest) : STILL_429)
          : failed
      if (wait !== undefined || failed.status === 429 || failed.status === 503) limiter.refused(origin, wait ?? 0)
      if (wait === undefined) await sleep(delay, clock, signal)
    }
  }
}

async function once(job: Job, asking: Asking, earlier: Outcome | undefined): Promise<Answer> {
  const { timeout } = asking
  const { signal, clear } = withTimeout(asking.signal, timeout, () => exchangeTimeout(job.url, timeout))
  try {
    const response = await asking.send(requestOf(job, asking, earlier), { signal })
    return await answerOf(response, job, asking, earlier !== undefined)
  } catch (error) {
    throw failure(error, signal, job.url)
  } finally {
    clear()
  }
}

async function answerOf(response: CrawlResponse, job: Job, { clock, maxBytes }: Asking, isKnown: boolean): Promise<Answer> {
  const { status, headers } = response
  if (status === 304 && isKnown) {
    await response.discard()
    return { url: response.url }
  }
  if (status < 200 || status > 299) throw await refused(response, job, clock.now())
  // A condition on a POST would make the server answer 412 (RFC 9110 §13.1.2).
  const [etag, modified] = job.method === 'POST' ? [null, null] : [headers.get('etag'), headers.get('last-modified')]
  const bytes = await response.bytes(maxBytes ?? DOCUMENT_LIMITS.other)
  const type = mediaType(headers.get('content-type'))
  return {
    url: response.url || job.url,
    bytes,
    type,
    validators: { ...(etag !== null && { etag }), ...(modified !== null && { modified }) },
  }
}

function requestOf({ url, method, headers, body }: Job, { userAgent }: CrawlManners, earlier: Outcome | undefined): HttpRequest {
  const all: Record<string, string> = { accept: ACCEPT, ...headers }
  if (userAgent !== undefined) all['user-agent'] = userAgent
  if (earlier?.etag !== undefined) all['if-none-match'] = earlier.etag
  if (earlier?.modified !== undefined) all['if-modified-since'] = earlier.modified
  return body === undefined ? { method, url, headers: all } : { method, url, headers: all, body }
}

/** Returns the error of a response that cannot be read as a document, with what was sent and what came back. */
export function unreadable(error: AuthError, { url, method, page }: Job, { url: answered, type }: Answer): AuthError {
  if (url.startsWith('file:') || !/^DOC_NOT_/.test(error.code)) return error
  const came = type ? ` with the media type ${type}` : ' without a media type'
  const message = `${withoutQuery(url)}: ${serverOf(answered, url)} answered ${requestText(method, page)}${came}, and ${error.message}`
  return new IntegrityError(error.code, message, { url: answered, ...(error.hint !== undefined && { hint: error.hint }) })
}

function requestText(method: Job['method'], page: Job['page']): string {
  return page && page.number > 1 ? `${method} for page ${page.number}` : method
}

/** Returns the error of an unsuccessful status, with its `Retry-After`. */
async function refused(response: CrawlResponse, { url, method, page }: Job, now: number): Promise<AuthError> {
  const { status, headers, url: answered } = response
  await response.discard().catch(() => undefined)
  const message = `${withoutQuery(url)}: ${serverOf(answered, url)} answered ${status} to ${requestText(method, page)}`
  const error = new NetworkError(`HTTP_${status}`, message, { url: answered || url, status, retryable: isRetryableStatus(status) })
  return withRetryAfter(error, status === 429 || status >= 500 ? retryHint(headers, now) : undefined)
}

const STILL_429 = 'the server still answers 429 after the last retry'

function rateLimited(url: string, why: string): NetworkError {
  return new NetworkError('RATE_LIMITED', `${withoutQuery(url)}: ${why}`, { url })
}

/** Names the server that answered, which may differ from the host of the URL after a redirect. */
function serverOf(answered: string, url: string): string {
  return answered === '' || originOf(answered) === originOf(url) ? 'the server' : originOf(answered)
}

/** Removes the query, which may contain keys and signatures. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '')
}

/**
 * Returns a {@link CrawlSend} that uses a `fetch`, such as `auth.fetch`. Redirects are followed; each hop selects its credentials anew.
 *
 * @example for await (const visit of crawl({ start, send: sendWith(fetch) })) console.log(visit)
 */
export function sendWith(fetch: (url: string, init: RequestInit) => Promise<Response>): CrawlSend {
  return async ({ url, method, headers, body }, { signal }) => {
    const response = await fetch(url, {
      method,
      headers: { ...headers },
      ...(body !== undefined && { body: body as BodyInit }),
      ...(signal && { signal }),
    })
    return {
      status: response.status,
      url: response.url || url,
      headers: response.headers,
      bytes: async (limit) =>
        response.body ? readBody(response.body as unknown as AsyncIterable<Uint8Array>, limit, url) : new Uint8Array(),
      discard: async () => {
        await response.body?.cancel().catch(() => undefined)
      },
    }
  }
}

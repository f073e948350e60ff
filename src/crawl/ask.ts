/** One job, asked as often as it takes. */
import { AbortedError, type AuthError, NetworkError } from '../errors.ts'
import { readBody } from '../http/body.ts'
import type { HttpRequest, HttpResponse, SendOptions } from '../http/message.ts'
import { failure } from '../http/network-error.ts'
import { isRetryableStatus } from '../http/passing-status.ts'
import { retryHint } from '../http/retry-after.ts'
import { sleep } from '../net/cancellation.ts'
import type { Clock } from '../net/clock.ts'
import { backoffBefore, retryAfterOf, retryAfterProblem, withRetryAfter } from '../net/retry.ts'
import { DOCUMENT_LIMITS } from '../stac/json.ts'
import type { Gate } from './gate.ts'
import { type Job, type Outcome, originOf } from './job.ts'
import type { LentSignals } from './lent-signals.ts'
import { CRAWL_RETRIES, type CrawlManners } from './settings.ts'

/** What a crawl needs of an answer; every `HttpResponse` is one. */
export type CrawlResponse = Pick<HttpResponse, 'status' | 'url' | 'headers' | 'bytes' | 'discard'>

/**
 * Sends one request and gives the answer to it. A `Send` of the library is one, but it follows no redirect; `auth.send` does, with a
 * fresh choice of credential at every hop. When the answer is read, its signal goes to another request: stop listening then.
 */
export type CrawlSend = (request: HttpRequest, options: SendOptions) => Promise<CrawlResponse>

/** The body of an answer, or that nothing has changed. */
export interface Answer {
  readonly url: string
  /** Undefined for 304. */
  readonly bytes?: Uint8Array
  /** What to ask with the next time (RFC 9110 §8.8). */
  readonly validators?: Pick<Outcome, 'etag' | 'modified'>
}

/** What the asking is done with. */
export interface Asking extends Pick<CrawlManners, 'retries' | 'longestWait' | 'maxBytes' | 'userAgent'> {
  readonly send: CrawlSend
  readonly gate: Gate
  readonly signals: LentSignals
  readonly clock: Clock
  readonly random: () => number
  readonly signal?: AbortSignal
}

const ACCEPT = 'application/geo+json, application/json;q=0.9, */*;q=0.1'

/**
 * Asks for a job. What may succeed later (408, 425, 429, most 5xx, the network) is asked again, at most four times: after `Retry-After`, for
 * which the whole origin rests, or after pauses that double and vary.
 *
 * Errors: `HTTP_<status>`, `RATE_LIMITED`, `RESPONSE_TOO_LARGE`, `TIMEOUT_*`, `NETWORK_*`, `ABORTED`, those of `send`.
 *
 * @param earlier what came of it in a run before: then only what has changed is sent
 */
export async function ask(job: Job, asking: Asking, earlier?: Outcome): Promise<Answer> {
  const { retries = Infinity, longestWait = Infinity, clock, random, gate, signal } = asking
  const origin = originOf(job.url)
  for (let again = 0; ; again++) {
    try {
      const entered = gate.enter(origin, signal)
      if (entered) await entered
      try {
        const answer = await once(job, asking, earlier)
        gate.succeeded(origin)
        return answer
      } finally {
        gate.leave(origin)
      }
    } catch (error) {
      if (signal?.aborted) throw new AbortedError(signal.reason)
      const failed = failure(error, undefined, job.url)
      const wait = retryAfterOf(failed)
      const longest = Math.min(longestWait * 1000, CRAWL_RETRIES.retryAfter.longest)
      const isTooLong = (wait ?? 0) > longest
      if (isTooLong || !failed.retryable || again >= Math.min(retries, CRAWL_RETRIES.retries))
        throw isTooLong || failed.code === 'HTTP_429'
          ? rateLimited(job.url, isTooLong ? retryAfterProblem(wait ?? 0, longest) : STILL_429)
          : failed
      if (wait !== undefined || failed.status === 429 || failed.status === 503) gate.refused(origin, wait ?? 0)
      if (wait === undefined) await sleep(backoffBefore(CRAWL_RETRIES.backoff, again + 1, random()), clock, signal)
    }
  }
}

async function once(job: Job, asking: Asking, earlier: Outcome | undefined): Promise<Answer> {
  const lent = asking.signals.lend(job.url)
  const { signal } = lent
  try {
    const response = await asking.send(requestOf(job, asking, earlier), { signal })
    const answer = await answerOf(response, job, asking, earlier !== undefined)
    lent.giveBack()
    return answer
  } catch (error) {
    lent.forget()
    throw failure(error, signal, job.url)
  }
}

async function answerOf(response: CrawlResponse, job: Job, { clock, maxBytes }: Asking, isKnown: boolean): Promise<Answer> {
  const { status, headers } = response
  if (status === 304 && isKnown) {
    await response.discard()
    return { url: response.url }
  }
  if (status < 200 || status > 299) throw await refused(response, job.url, clock.now())
  const [etag, modified] = [headers.get('etag'), headers.get('last-modified')]
  const bytes = await response.bytes(maxBytes ?? DOCUMENT_LIMITS.other)
  return { url: response.url || job.url, bytes, validators: { ...(etag !== null && { etag }), ...(modified !== null && { modified }) } }
}

function requestOf({ url, method, headers, body }: Job, { userAgent }: CrawlManners, earlier: Outcome | undefined): HttpRequest {
  const all: Record<string, string> = { accept: ACCEPT, ...headers }
  if (userAgent !== undefined) all['user-agent'] = userAgent
  if (earlier?.etag !== undefined) all['if-none-match'] = earlier.etag
  if (earlier?.modified !== undefined) all['if-modified-since'] = earlier.modified
  return body === undefined ? { method, url, headers: all } : { method, url, headers: all, body }
}

/** The error of a status that is no success, with the rest that was asked for. */
async function refused(response: CrawlResponse, url: string, now: number): Promise<AuthError> {
  const { status, headers, url: answered } = response
  await response.discard().catch(() => undefined)
  const message = `${withoutQuery(url)}: ${serverOf(answered, url)} answered ${status}`
  const error = new NetworkError(`HTTP_${status}`, message, { url: answered || url, status, retryable: isRetryableStatus(status) })
  return withRetryAfter(error, status === 429 || status >= 500 ? retryHint(headers, now) : undefined)
}

const STILL_429 = 'the server still answers 429 after the last retry'

function rateLimited(url: string, why: string): NetworkError {
  return new NetworkError('RATE_LIMITED', `${withoutQuery(url)}: ${why}`, { url })
}

/** A redirect may lead to a server that the URL does not name. */
function serverOf(answered: string, url: string): string {
  return answered === '' || originOf(answered) === originOf(url) ? 'the server' : originOf(answered)
}

/** Queries carry keys and signatures. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '')
}

/**
 * A `fetch`, such as `auth.fetch`, as what a crawl sends with. Redirects are followed, each hop with what was granted to its own
 * address.
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

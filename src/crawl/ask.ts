/** One job, asked as often as it takes. */
import { AbortedError, type AuthError, isAuthError, NetworkError } from '../errors.ts'
import { failure } from '../http/deadline.ts'
import type { HttpRequest, HttpResponse, SendOptions } from '../http/message.ts'
import { isPassingStatus } from '../http/passing-status.ts'
import { retryHint } from '../http/retry-after.ts'
import { DOCUMENT_LIMITS } from '../stac/limits.ts'
import type { Gate } from './gate.ts'
import { type Job, type Outcome, originOf } from './job.ts'
import type { LentSignals } from './lent-signals.ts'
import { type CrawlClock, type CrawlManners, DEFAULTS } from './settings.ts'

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
  readonly clock: CrawlClock
  readonly random: () => number
  readonly signal?: AbortSignal
}

const ACCEPT = 'application/geo+json, application/json;q=0.9, */*;q=0.1'
const BACK_OFF = { first: 500, longest: 30_000 }

/**
 * Asks for a job. What may succeed later (408, 425, 429, most 5xx, the network) is asked again, at most four times: after `Retry-After`, for
 * which the whole origin rests, or after pauses that double and vary.
 *
 * Errors: `HTTP_<status>`, `RATE_LIMITED`, `RESPONSE_TOO_LARGE`, `TIMEOUT_*`, `NETWORK_*`, `ABORTED`, those of `send`.
 *
 * @param earlier what came of it in a run before: then only what has changed is sent
 */
export async function ask(job: Job, asking: Asking, earlier?: Outcome): Promise<Answer> {
  const { retries = DEFAULTS.retries, clock, random, gate, signal } = asking
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
      const { told, wait } = judged(error, job.url, asking)
      if (!told.retryable || again >= Math.min(retries, DEFAULTS.retries)) throw told.code === 'HTTP_429' ? rateLimited(job.url) : told
      if (told.status === 429 || told.status === 503 || wait !== undefined) gate.refused(origin, wait ?? 0)
      if (wait === undefined) await clock.sleep(Math.min(BACK_OFF.longest, BACK_OFF.first * 2 ** again) * (0.5 + random() / 2), signal)
    }
  }
}

async function once(job: Job, asking: Asking, earlier: Outcome | undefined): Promise<Answer> {
  const lent = asking.signals.lend(job.url)
  const { signal } = lent
  try {
    const response = await asking.send(requestOf(job, asking, earlier), { signal })
    const answer = response.status === 304 && earlier ? await unchanged(response) : await answerOf(response, job, asking)
    lent.giveBack()
    return answer
  } catch (error) {
    lent.forget()
    throw error instanceof Refusal ? error : failure(error, signal, job.url)
  }
}

async function answerOf(response: CrawlResponse, job: Job, { clock, maxBytes }: Asking): Promise<Answer> {
  const { status, headers } = response
  if (status < 200 || status > 299) throw await refused(response, clock.now())
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

async function unchanged(response: CrawlResponse): Promise<Answer> {
  await response.discard()
  return { url: response.url }
}

/** A status that is no success, and the rest that was asked for, in milliseconds. */
class Refusal extends Error {
  readonly status: number
  readonly rest: number | undefined
  /** The URL that answered. */
  readonly url: string
  constructor({ status, url }: CrawlResponse, rest: number | undefined) {
    super()
    this.status = status
    this.rest = rest
    this.url = url
  }
}

async function refused(response: CrawlResponse, now: number): Promise<Refusal> {
  const { status, headers } = response
  const rest = status === 429 || status >= 500 ? retryHint(headers, now) : undefined
  await response.discard().catch(() => undefined)
  return new Refusal(response, rest)
}

/** The error of a failed attempt, and the milliseconds that its server wants to rest. */
function judged(error: unknown, url: string, { longestWait = DEFAULTS.wait }: CrawlManners): { told: AuthError; wait?: number } {
  if (!(error instanceof Refusal)) return { told: isAuthError(error) ? error : failure(error, undefined, url) }
  const { status, rest, url: answered } = error
  if (rest !== undefined && rest > Math.min(longestWait, DEFAULTS.wait) * 1000) return { told: rateLimited(url) }
  const retryable = isPassingStatus(status)
  const told = new NetworkError(`HTTP_${status}`, `${withoutQuery(url)}: ${serverOf(answered, url)} answered ${status}`, {
    url: answered || url,
    status,
    retryable,
  })
  return rest === undefined ? { told } : { told, wait: rest }
}

function rateLimited(url: string): NetworkError {
  return new NetworkError('RATE_LIMITED', `${withoutQuery(url)}: the server wants to be left alone for longer than a crawl waits`, {
    url,
  })
}

/** A redirect may lead to a server that the URL does not name. */
function serverOf(answered: string, url: string): string {
  return answered === '' || originOf(answered) === originOf(url) ? 'the server' : originOf(answered)
}

/** Queries carry keys and signatures. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '')
}

/** Crawls a catalog or an API, and yields its documents or stores them. */

import { AbortedError, type AuthError, isAuthError } from '../errors.ts'
import type { Clock } from '../net/clock.ts'
import { OriginLimiter } from '../net/limiter.ts'
import type { StacDocument } from '../stac/document.ts'
import { parseDocument } from '../stac/parse-document.ts'
import { type Answer, type Asking, ask, type CrawlSend, unreadable } from './ask.ts'
import { expand, isMine } from './expand.ts'
import { type Frontier, MemoryFrontier } from './frontier.ts'
import {
  type EarlyStop,
  failed,
  hashOf,
  type Job,
  NOTHING,
  type Outcome,
  originOf,
  parentsAt,
  type Scope,
  type SkippedLink,
  skipped,
  startAt,
  type Visit,
  type VisitResult,
} from './job.ts'
import type { RobotsOfOrigins } from './robots.ts'
import { type CrawlLimits, type CrawlManners, DEFAULTS } from './settings.ts'

/** Options of `crawl`. */
export interface CrawlOptions extends CrawlLimits, CrawlManners {
  /** URLs of a Catalog, a Collection, an API, or a list of documents. */
  readonly start: readonly string[]
  /** See {@link CrawlSend}: `auth.send`, or any `Send`; `sendWith(fetch)` converts a `fetch`. */
  readonly send: CrawlSend
  /** Default: in memory. */
  readonly frontier?: Frontier
  /** Ends the crawl with `ABORTED`. */
  readonly signal?: AbortSignal
  /** Returns the outcome of a job that this crawl has done already: it is not requested again. */
  readonly recall?: (key: string) => Outcome | undefined
  /** Returns the outcome of a job in the previous crawl: only changed documents are read. */
  readonly earlier?: (key: string) => Outcome | undefined
  /** The time, for tests; default: that of the platform. */
  readonly clock?: Clock
  /** Random number from 0 to 1, for backoff. */
  readonly random?: () => number
}

/**
 * Yields every document once, level by level, in the order of arrival. A document that could not be read is a visit with an `error`, a link
 * that was not followed is in `outcome.left`. A job counts as done when the next visit is requested.
 *
 * Errors: `ABORTED`.
 *
 * @example
 * for await (const visit of crawl({ start: ['https://catalog.example/catalog.json'], send: auth.send })) {
 *   if (visit.kind === 'visit') console.log(visit.job.url, visit.error?.code ?? visit.document)
 * }
 */
export async function* crawl(options: CrawlOptions): AsyncGenerator<Visit | EarlyStop, void> {
  if (!Array.isArray(options.start) || typeof options.send !== 'function')
    throw new TypeError('crawl needs { start: [url], send: auth.send }')
  const crawler = new Crawler(options)
  try {
    await crawler.start()
    for (let visit = await crawler.next(); visit; visit = await crawler.next()) {
      yield visit
      await crawler.finish(visit)
    }
    const stop = crawler.rest()
    if (stop) yield stop
  } finally {
    crawler.stop()
  }
}

class Crawler {
  readonly #options: CrawlOptions
  readonly #frontier: Frontier
  readonly #limiter: OriginLimiter
  /** Maximum number of jobs at a time. */
  readonly #most: number
  readonly #asking: Asking
  readonly #end = new AbortController()
  #robots: Promise<RobotsOfOrigins> | undefined
  readonly #loops = new PageLoops()
  /** Caches `scopesAbove` by the key of the nearest scope. */
  readonly #scopeHashes = new Map<string | undefined, number>()
  readonly #ready: Visit[] = []
  #running = 0
  /** Number of documents that were read or are being read. */
  #documents = 0
  #inPage = false
  #isAwake = false
  #rouse: () => void = () => {}
  /** An error that does not belong to a visit. */
  #broken: unknown

  constructor(options: CrawlOptions) {
    const { clock = Date, random = Math.random, frontier = new MemoryFrontier(), signal } = options
    this.#options = options
    this.#frontier = frontier
    const { concurrency, perHost = concurrency ?? DEFAULTS.perHost, rate } = options
    this.#most = Math.min(Math.max(1, concurrency ?? MOST_RUNNING), MOST_RUNNING)
    this.#limiter = new OriginLimiter({ concurrency: perHost, ...(rate !== undefined && { rate }) }, clock, () => this.#wake())
    signal?.addEventListener('abort', this.#abort, { once: true })
    if (signal?.aborted) this.#abort()
    const { send, retries, maxRetryAfter, maxBytes, userAgent, timeout = DEFAULTS.timeout } = options
    const manners = { retries, maxRetryAfter, maxBytes, userAgent, timeout }
    this.#asking = { send, limiter: this.#limiter, clock, random, signal: this.#end.signal, ...manners }
  }

  readonly #abort = () => {
    this.#end.abort(this.#options.signal?.reason)
    this.#wake()
  }

  /** Wakes the loop when there may be a visit to yield or a job to start. */
  #wake(): void {
    this.#isAwake = true
    this.#rouse()
  }

  stop(): void {
    this.#options.signal?.removeEventListener('abort', this.#abort)
    this.#end.abort()
  }

  async start(): Promise<void> {
    await this.#frontier.add(this.#options.start.map((url) => startAt(url)))
  }

  /** Returns the next visit; undefined at the end. */
  async next(): Promise<Visit | undefined> {
    for (;;) {
      this.#isAwake = false
      if (this.#options.signal?.aborted) throw new AbortedError(this.#options.signal.reason)
      if (this.#broken !== undefined) throw this.#broken
      await this.#begin()
      const visit = this.#ready.shift()
      if (visit || this.#running === 0) return visit
      if (this.#isAwake) continue
      await new Promise<void>((resolve) => {
        this.#rouse = resolve
      })
    }
  }

  async finish({ job, outcome }: Visit): Promise<void> {
    await this.#frontier.finish(job, outcome)
  }

  rest(): EarlyStop | undefined {
    return this.#frontier.waiting > 0 ? { kind: 'stop', left: this.#limit() } : undefined
  }

  /** Starts as many jobs as the origins allow; waits only when the frontier has none. */
  async #begin(): Promise<void> {
    while (this.#hasRoom() && this.#running < this.#most && this.#ready.length < MOST_READY) {
      const job = await this.#frontier.take(this.#isOpen)
      if (!job) return
      if (!job.page) this.#documents++
      this.#inPage = job.page !== undefined && this.#options.maxDocuments !== undefined
      this.#running++
      void this.#perform(job)
    }
  }

  async #perform(job: Job): Promise<void> {
    try {
      this.#ready.push(await this.#visit(job))
    } catch (error) {
      this.#broken = error
    }
    this.#running--
    this.#inPage = false
    this.#wake()
  }

  #hasRoom(): boolean {
    return this.#documents < (this.#options.maxDocuments ?? DEFAULTS.documents)
  }

  /** With a limit on documents, pages are requested one at a time, because their number of documents is unknown. */
  readonly #isOpen = (job: Job): boolean => {
    if (this.#options.maxDocuments !== undefined && (this.#inPage || (job.page && this.#running + this.#ready.length > 0))) return false
    return this.#limiter.hasRoom(originOf(job.url))
  }

  async #visit(job: Job): Promise<Visit> {
    const mine = isMine(job.key, this.#options.shard)
    const known = this.#options.recall?.(job.key)
    const scopes = await this.#frontier.scopes(job.scope)
    const found = known ? this.#recalled(job, known, 'here') : await this.#asked(job, scopes)
    const outcome = this.#loops.broken(job, found.outcome)
    return { kind: 'visit', job, mine, ...parentsAt(outcome.url, scopes), ...found, outcome }
  }

  async #asked(job: Job, scopes: readonly Scope[]): Promise<VisitResult> {
    try {
      if (this.#options.robots && !(await this.#allowed(job.url)))
        return { outcome: { ...NOTHING, url: job.url, left: [skipped(job.url, 'CRAWL_LIMIT', 'robots.txt disallows it', ROBOTS)] } }
      const above = this.#above(job, scopes)
      const before = this.#options.earlier?.(job.key)
      // The schemes of parent documents affect the result, so their hash is part of it.
      const earlier = before?.above === above ? before : undefined
      const answer = await ask(job, this.#asking, earlier)
      if (!answer.bytes && earlier) return this.#recalled(job, { ...earlier, url: answer.url }, 'unchanged')
      return this.#read(job, answer, above)
    } catch (error) {
      return failed(job, isRefusal(error) ? await this.#explained(error, job, scopes) : error)
    }
  }

  /** Loaded with the first document that requires authentication. */
  async #explained(error: AuthError, job: Job, scopes: readonly Scope[]): Promise<AuthError> {
    const { accessError } = await import('./access.ts')
    return accessError(error, job, scopes)
  }

  /** Loaded on first use. */
  async #allowed(url: string): Promise<boolean> {
    this.#robots ??= import('./robots.ts').then(({ RobotsOfOrigins: Robots }) => new Robots(this.#asking))
    return (await this.#robots).allow(url)
  }

  #above({ scope }: Job, scopes: readonly Scope[]): number | undefined {
    if (scopes.length === 0) return undefined
    const known = this.#scopeHashes.get(scope) ?? hashOf(JSON.stringify(scopes))
    this.#scopeHashes.set(scope, known)
    return known
  }

  #recalled(job: Job, outcome: Outcome, recalled: 'here' | 'unchanged'): VisitResult {
    if (job.page) this.#documents += outcome.documents
    return { outcome, recalled }
  }

  #read(job: Job, answer: Answer, above: number | undefined): VisitResult {
    const { url, bytes = new Uint8Array(), validators } = answer
    const document = parsed(job, answer, bytes)
    const { documents, jobs, scopes, left } = expand(job, document, url, this.#options)
    const room = (this.#options.maxDocuments ?? DEFAULTS.documents) - this.#documents
    const counted = job.page ? Math.min(documents, room) : documents
    if (job.page) this.#documents += counted
    const all = counted < documents ? [...left, this.#limit(documents - counted, url)] : left
    const outcome: Outcome = { url, documents: counted, jobs, scopes, left: all, ...validators, ...(above !== undefined && { above }) }
    return { outcome, document, bytes }
  }

  #limit(count = this.#frontier.waiting, url = this.#options.start[0] ?? ''): SkippedLink {
    const { maxDocuments } = this.#options
    const message = `the limit of ${maxDocuments ?? DEFAULTS.documents} documents is reached; at least ${count} were not read`
    return skipped(url, 'CRAWL_LIMIT', message, { limit: 'documents', asked: maxDocuments !== undefined, count })
  }
}

/** Errors: those of `parseDocument`, with what the server was asked and answered. */
function parsed(job: Job, answer: Answer, bytes: Uint8Array): StacDocument {
  try {
    return parseDocument(bytes, { url: answer.url })
  } catch (error) {
    throw isAuthError(error) ? unreadable(error, job, answer) : error
  }
}

const ROBOTS = { limit: 'robots', asked: true } as const

/** Returns true for a 401 or 403 response to a request without a credential, or whose credential is unknown here. */
function isRefusal(error: unknown): error is AuthError {
  return isAuthError(error) && (error.code === 'HTTP_401' || error.code === 'HTTP_403')
}

/** Maximum number of jobs that are in flight or wait for a retry. */
const MOST_RUNNING = 1000

/** Maximum number of documents that are read ahead of a slow consumer. */
const MOST_READY = 32

/** Detects lists whose next page is an earlier page. The frontier drops duplicate requests, so such a list would end silently. */
class PageLoops {
  /** Page numbers of pages with a next page, by key. */
  readonly #numbers = new Map<string, number>()

  /** Returns the outcome without its next page and with `PAGE_LOOP` if that page is an earlier one. */
  broken({ key }: Job, outcome: Outcome): Outcome {
    const next = outcome.jobs.at(-1)
    const number = next?.page?.number ?? 1
    if (!next || number === 1) return outcome
    this.#numbers.set(key, number - 1)
    // The same next page at the same page number is a repeated request, not a loop.
    if ((this.#numbers.get(next.key) ?? number) >= number) return outcome
    const { url, jobs, left } = outcome
    return { ...outcome, jobs: jobs.slice(0, -1), left: [...left, skipped(url, 'PAGE_LOOP', 'its next page was already read')] }
  }
}

/** A job, its outcome and the caller's result. */
export interface Stored<R> {
  /** The outcome of the job. */
  readonly outcome: Outcome
  /** The result that the caller computed for it. */
  readonly result: R
}

/** Stores results by the key of their job. A job that is repeated replaces its result, so repetition is harmless. */
export interface Sink<R> {
  /** Stores the result of a job. */
  put(key: string, stored: Stored<R>): void | Promise<void>
  /** Returns the result that this crawl has stored already, in this process or in an earlier one. */
  get(key: string): Stored<R> | undefined
  /** Returns the result of the previous crawl; only documents that changed since are read again. */
  earlier?(key: string): Stored<R> | undefined
}

/** A visit with its result, or the promise of it. */
interface StartedVisit<R> {
  readonly visit: Visit
  readonly result: R | Promise<R>
}

/**
 * Crawls, computes a result for each visit and stores it. Results that the sink already has are not computed again, so an interrupted
 * crawl resumes and ends with the same results as an uninterrupted one.
 *
 * @param options with `isFull`, results are awaited only when it returns true; otherwise each before the next visit
 * @param work computes the result; not called for recalled jobs
 * @param report called with each visit and its result in order, and with the error if the crawl stopped
 *
 * @example
 * const sink: Sink<readonly Problem[]> = { put: (key, stored) => journal.write(key, stored), get: (key) => journal.read(key) }
 * await crawlInto(sink, { start, send: auth.send }, ({ document, parents }) => lint(document, { parents }))
 */
export async function crawlInto<R>(
  sink: Sink<R>,
  { isFull = () => true, ...options }: Omit<CrawlOptions, 'recall' | 'earlier'> & { readonly isFull?: () => boolean },
  work: (visit: Visit) => R | Promise<R>,
  report: (event: { readonly visit: Visit; readonly result: R } | EarlyStop) => void = () => {},
): Promise<void> {
  const known = { recall: (key: string) => sink.get(key)?.outcome, earlier: (key: string) => sink.earlier?.(key)?.outcome }
  const started: StartedVisit<R>[] = []
  const take = async (isEnough: () => boolean): Promise<void> => {
    for (let one = started[0]; one && !isEnough(); one = started[0]) {
      started.shift()
      const [{ visit }, result] = [one, await one.result]
      if (visit.recalled !== 'here') await sink.put(visit.job.key, { outcome: visit.outcome, result })
      report({ visit, result })
    }
  }
  for await (const visit of crawl({ ...options, ...known })) {
    if (visit.kind === 'stop') {
      await take(() => false)
      report(visit)
      continue
    }
    const result = resultOf(visit, sink, work)
    // Prevents an unhandled rejection: the promise may reject before it is awaited.
    if (result instanceof Promise) result.catch(() => undefined)
    started.push({ visit, result })
    await take(() => !isFull())
  }
  await take(() => false)
}

function resultOf<R>(visit: Visit, sink: Sink<R>, work: (visit: Visit) => R | Promise<R>): R | Promise<R> {
  const { key } = visit.job
  const stored = visit.recalled === 'here' ? sink.get(key) : visit.recalled === 'unchanged' ? sink.earlier?.(key) : undefined
  return stored ? stored.result : work(visit)
}

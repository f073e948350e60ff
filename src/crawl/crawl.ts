/** Walks a catalog or an API and gives its documents. */
import { AbortedError, type AuthError, isAuthError } from '../errors.ts'
import type { StacDocument } from '../stac/document.ts'
import { parseDocument } from '../stac/parse-document.ts'
import { type Answer, type Asking, ask, type CrawlSend } from './ask.ts'
import { expand, isMine } from './expand.ts'
import { type Frontier, MemoryFrontier } from './frontier.ts'
import { Gate } from './gate.ts'
import { type Job, type Left, type Outcome, originOf, startAt } from './job.ts'
import { LentSignals } from './lent-signals.ts'
import { RobotsOfOrigins } from './robots-of-origins.ts'
import { type CrawlClock, type CrawlLimits, type CrawlManners, DEFAULTS, systemClock } from './settings.ts'

export interface CrawlOptions extends CrawlLimits, CrawlManners {
  /** Addresses of a Catalog, a Collection, an API, or a list of documents. */
  readonly start: readonly string[]
  /** See {@link CrawlSend}: `auth.send`, or any `Send`; `sendWith(fetch)` makes one of a `fetch`. */
  readonly send: CrawlSend
  /** Default: in memory. */
  readonly frontier?: Frontier
  readonly signal?: AbortSignal
  /** What has come of a job already in this crawl: it is not asked again. */
  readonly recall?: (key: string) => Outcome | undefined
  /** What came of a job in the crawl before: only what has changed is read. */
  readonly earlier?: (key: string) => Outcome | undefined
  readonly clock?: CrawlClock
  /** From 0 to 1, for pauses. */
  readonly random?: () => number
}

/** A job and what came of it. */
export interface Visit {
  readonly kind: 'visit'
  readonly job: Job
  readonly outcome: Outcome
  /** Absent when it could not be read, and when it was recalled. */
  readonly document?: StacDocument
  readonly bytes?: Uint8Array
  /** Documents above that may lend their schemes, nearest first. */
  readonly parents: readonly StacDocument[]
  /** False for what belongs to another part of a crawl in parts: it is read for its links only. */
  readonly mine: boolean
  /** `here`: by `recall`. `unchanged`: by `earlier`, and the server agrees. */
  readonly recalled?: 'here' | 'unchanged'
  readonly error?: AuthError
}

/** The crawl stopped before its end. */
export interface Stop {
  readonly kind: 'stop'
  readonly left: Left
}

/**
 * Gives every document once, level by level, in the order of their arrival. What could not be read is a visit with an `error`, what
 * was not followed is in `outcome.left`: nothing is left out without a word. A job counts as done when the next visit is asked for.
 *
 * Errors: `ABORTED`.
 *
 * @example
 * for await (const visit of crawl({ start: ['https://catalog.example/catalog.json'], send: auth.send })) …
 */
export async function* crawl(options: CrawlOptions): AsyncGenerator<Visit | Stop, void> {
  const crawler = new Crawler(options)
  try {
    yield* crawler.run()
  } finally {
    crawler.stop()
  }
}

class Crawler {
  readonly #options: CrawlOptions
  readonly #frontier: Frontier
  readonly #gate: Gate
  readonly #asking: Asking
  readonly #end = new AbortController()
  readonly #robots: RobotsOfOrigins
  readonly #ready: Visit[] = []
  #running = 0
  /** Documents that were read or are being read. */
  #documents = 0
  #inPage = false
  #isAwake = false
  #rouse: () => void = () => {}
  /** What no visit can tell. */
  #broken: unknown

  constructor(options: CrawlOptions) {
    const { clock = systemClock, random = Math.random, frontier = new MemoryFrontier(), signal } = options
    this.#options = options
    this.#frontier = frontier
    this.#gate = new Gate(options, clock, () => this.#wake())
    signal?.addEventListener('abort', this.#abort, { once: true })
    if (signal?.aborted) this.#abort()
    const { signal: end } = this.#end
    const signals = new LentSignals(options.timeout ?? DEFAULTS.timeout, end)
    this.#asking = { ...options, gate: this.#gate, signals, clock, random, signal: end }
    this.#robots = new RobotsOfOrigins(this.#asking)
  }

  readonly #abort = () => {
    this.#end.abort(this.#options.signal?.reason)
    this.#wake()
  }

  /** Something has changed: there may be more to give or to begin. */
  #wake(): void {
    this.#isAwake = true
    this.#rouse()
  }

  stop(): void {
    this.#options.signal?.removeEventListener('abort', this.#abort)
    this.#end.abort()
  }

  async *run(): AsyncGenerator<Visit | Stop, void> {
    await this.#frontier.add(this.#options.start.map((url) => startAt(url)))
    for (;;) {
      this.#isAwake = false
      if (this.#options.signal?.aborted) throw new AbortedError(this.#options.signal.reason)
      if (this.#broken !== undefined) throw this.#broken
      await this.#begin()
      const visit = this.#ready.shift()
      if (visit) {
        yield visit
        await this.#frontier.finish(visit.job, visit.outcome)
      } else if (this.#running === 0) break
      else if (!this.#isAwake) {
        await new Promise<void>((resolve) => {
          this.#rouse = resolve
        })
      }
    }
    if (this.#frontier.waiting > 0) yield { kind: 'stop', left: this.#limit() }
  }

  /** Takes as many jobs as their origins let in. */
  async #begin(): Promise<void> {
    while (this.#hasRoom() && this.#running < MOST_RUNNING && this.#ready.length < MOST_READY) {
      const taken = this.#frontier.take(this.#isOpen)
      const job = taken instanceof Promise ? await taken : taken
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

  /** With a limit on documents pages go alone, for nobody knows how many are in them. */
  readonly #isOpen = (job: Job): boolean => {
    if (this.#options.maxDocuments !== undefined && (this.#inPage || (job.page && this.#running + this.#ready.length > 0))) return false
    return this.#gate.isOpen(originOf(job.url))
  }

  async #visit(job: Job): Promise<Visit> {
    const mine = isMine(job.key, this.#options.shard)
    const known = this.#options.recall?.(job.key)
    const visit = known ? this.#recalled(job, known, 'here') : await this.#asked(job).catch((error) => failed(job, error))
    const scopes = await this.#frontier.scopes(job.scope)
    const origin = originOf(visit.outcome.url)
    return {
      kind: 'visit',
      job,
      mine,
      parents: scopes.filter((scope) => scope.origin === origin).map(({ document }) => document),
      ...visit,
    }
  }

  async #asked(job: Job): Promise<Partial<Visit> & Pick<Visit, 'outcome'>> {
    if (this.#options.robots && !(await this.#robots.allow(job.url)))
      return { outcome: { ...NOTHING, url: job.url, left: [forbidden(job.url)] } }
    const earlier = this.#options.earlier?.(job.key)
    const answer = await ask(job, this.#asking, earlier)
    if (!answer.bytes && earlier) return this.#recalled(job, { ...earlier, url: answer.url }, 'unchanged')
    return this.#read(job, answer)
  }

  #recalled(job: Job, outcome: Outcome, recalled: 'here' | 'unchanged'): Partial<Visit> & Pick<Visit, 'outcome'> {
    if (job.page) this.#documents += outcome.documents
    return { outcome, recalled }
  }

  #read(job: Job, { url, bytes = new Uint8Array(), etag, modified }: Answer): Partial<Visit> & Pick<Visit, 'outcome'> {
    const document = parseDocument(bytes, { url })
    const { documents, jobs, scopes, left } = expand(job, document, url, this.#options)
    const room = (this.#options.maxDocuments ?? DEFAULTS.documents) - this.#documents
    const counted = job.page ? Math.min(documents, room) : documents
    if (job.page) this.#documents += counted
    const outcome: Outcome = {
      url,
      documents: counted,
      jobs,
      scopes,
      left: counted < documents ? [...left, this.#limit(documents - counted, url)] : left,
      ...(etag !== undefined && { etag }),
      ...(modified !== undefined && { modified }),
    }
    return { outcome, document, bytes }
  }

  #limit(count = this.#frontier.waiting, url = this.#options.start[0] ?? ''): Left {
    const { maxDocuments } = this.#options
    const message = `${maxDocuments ?? DEFAULTS.documents} documents were read, at least ${count} were left`
    return { url, code: 'CRAWL_LIMIT', message, limit: 'documents', asked: maxDocuments !== undefined, count }
  }
}

/** Jobs that are asked, or wait to be asked again. */
const MOST_RUNNING = 1000

/** Documents that were read and wait for a slow reader. */
const MOST_READY = 32

const NOTHING = { documents: 0, jobs: [], scopes: [], left: [] } as const

function failed(job: Job, thrown: unknown): Partial<Visit> & Pick<Visit, 'outcome'> {
  if (!isAuthError(thrown)) throw thrown
  const error = thrown
  const { code, message } = error
  return { error, outcome: { ...NOTHING, url: job.url, failure: { code, message } } }
}

function forbidden(url: string): Left {
  return { url, code: 'CRAWL_LIMIT', message: 'robots.txt does not want it to be read', limit: 'robots', asked: true, count: 1 }
}

/** The queue of jobs that are still to be done. */
import { type Job, originOf, type Scope } from './job.ts'

/**
 * The jobs of a crawl. The default keeps them in memory. Another implementation may share them between processes, if a job that was taken
 * and not finished is assigned again.
 */
export interface Frontier {
  /** Adds the first jobs. */
  add(jobs: readonly Job[]): void | Promise<void>
  /** Returns a job whose origin may be requested now; undefined when there is none at present. */
  take(isOpen: (job: Job) => boolean): Job | undefined | Promise<Job | undefined>
  /** Marks a job as done and adds the jobs that it led to, atomically. Of jobs with the same key, the first is kept. */
  finish(job: Job, found: { readonly jobs: readonly Job[]; readonly scopes: readonly Scope[] }): void | Promise<void>
  /** Returns the scopes, nearest first. */
  scopes(key: string | undefined): readonly Scope[] | Promise<readonly Scope[]>
  /** Returns the jobs that were not taken. */
  readonly waiting: number
}

/** Maximum number of scopes of one document, which is the maximum depth. */
const MOST_SCOPES = 64

/**
 * Processes jobs level by level, within a level in document order. A crawl therefore requests the same documents in the same order
 * regardless of response times, and limits always select the same documents.
 *
 * @example crawl({ start, send: auth.send, frontier: new MemoryFrontier() })
 */
export class MemoryFrontier implements Frontier {
  readonly #seen = new Set<string>()
  readonly #scopes = new Map<string, Scope>()
  #queues = new Map<string, { readonly jobs: Job[]; at: number }>()
  /** Positions by the job that found them. */
  #found: (readonly Job[] | undefined)[] = []
  readonly #taken = new Map<string, number>()
  #order = 0
  #waiting = 0

  get waiting(): number {
    const next = new Set(this.#found.flatMap((jobs) => (jobs ?? []).flatMap(({ key }) => (this.#seen.has(key) ? [] : [key]))))
    return this.#waiting + next.size
  }

  add(jobs: readonly Job[]): void {
    for (const job of jobs) this.#enter(job)
  }

  take(isOpen: (job: Job) => boolean): Job | undefined {
    if (this.#waiting === 0 && this.#taken.size === 0) this.#nextLevel()
    for (const queue of this.#queues.values()) {
      const job = queue.jobs[queue.at]
      if (!job || !isOpen(job)) continue
      queue.at++
      this.#waiting--
      this.#taken.set(job.key, this.#order++)
      return job
    }
    return undefined
  }

  finish({ key }: Job, { jobs, scopes }: { readonly jobs: readonly Job[]; readonly scopes: readonly Scope[] }): void {
    for (const scope of scopes) if (!this.#scopes.has(scope.key)) this.#scopes.set(scope.key, scope)
    this.#found[this.#taken.get(key) ?? 0] = jobs
    this.#taken.delete(key)
  }

  scopes(key: string | undefined): readonly Scope[] {
    const found: Scope[] = []
    for (let at = key; at !== undefined && found.length < MOST_SCOPES; at = found.at(-1)?.above) {
      const scope = this.#scopes.get(at)
      if (!scope || found.includes(scope)) break
      found.push(scope)
    }
    return found
  }

  #nextLevel(): void {
    const found = this.#found
    this.#found = []
    this.#order = 0
    this.#queues = new Map()
    for (const jobs of found) for (const job of jobs ?? []) this.#enter(job)
  }

  #enter(job: Job): void {
    if (this.#seen.has(job.key)) return
    this.#seen.add(job.key)
    const origin = originOf(job.url)
    const queue = this.#queues.get(origin) ?? { jobs: [], at: 0 }
    this.#queues.set(origin, queue)
    queue.jobs.push(job)
    this.#waiting++
  }
}

/** A job queue in Redis for work done by other processes, with JSON payloads and results, and the side of its workers. */

import { randomBytes } from 'node:crypto'
import type { Job, JobJson, Queue, QueueEvents, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { type AuthError, abortedBy, isAuthError, ProtocolError } from '../../errors.ts'
import { connectRedis, evictionOf, isReply, type RedisAddress, type RedisConnection, type RedisUse } from '../base/redis-connection.ts'
import { missingPackage } from '../base/system-error.ts'
import { drainedKey, KEY_PREFIX, LINT_QUEUE } from './queue-names.ts'
import { ProcessReport, processesOf } from './queue-processes.ts'
import { stateOf } from './queue-state.ts'
import type { QueueState } from './queued-downloads.ts'

/** A key that is never written. */
const UNUSED = `${KEY_PREFIX}:unused`

const USE: RedisUse = {
  subject: 'the queue',
  passwordHint: 'STAC_AUTH_QUEUE=redis://:password@host:port',
  packages: ['bullmq', 'ioredis'],
  rights: {
    rules: `~${KEY_PREFIX}:* +@read +@write +@scripting +@connection +@transaction +info +time`,
    attempt: async (client) => {
      await client.info('server')
      await client.time()
      await client.exists(UNUSED)
      await client.eval('return 1', 0)
      await client.del(UNUSED)
      await client.multi({ pipeline: false })
      await client.discard()
    },
  },
}

/** With its check of the server's version, BullMQ also prints a text about its memory. */
export const QUIET = { skipVersionCheck: true } as const

/** Location of a queue. */
export interface QueueOptions {
  readonly address: RedisAddress
  /** Name of the queue; default: {@link LINT_QUEUE}. */
  readonly name?: string
}

/** A connection for queues. */
export interface QueueConnection extends RedisConnection {
  readonly bullmq: typeof import('bullmq')
}

/** Connects to the server of a queue. Errors: those of `connectRedis`, also without the packages. */
export async function connectQueue(address: RedisAddress, signal?: AbortSignal): Promise<QueueConnection> {
  const bullmq = await importBullmq()
  return { ...(await connectRedis(address, USE, signal)), bullmq }
}

async function importBullmq(): Promise<typeof import('bullmq')> {
  try {
    return await import('bullmq')
  } catch (error) {
    throw missingPackage(error, USE)
  }
}

/** Poll interval in milliseconds for pending jobs, in addition to events. */
const LOOK = 5000

/** Milliseconds without a worker after which waiting ends. */
const NOBODY = 60_000

/** Maximum number of times that a job is added again after the server has lost it. */
const TIMES = 3

/** Milliseconds for which the server keeps finished jobs, for producers that missed the event. */
const KEPT = 3_600_000

/** Milliseconds between two looks at the state of the queue. */
const OBSERVED = 2000

/** Options of a producer. */
export interface JobOptions extends QueueOptions {
  /** The folder of downloads, for the commands in errors. */
  readonly folder?: string
  /** Called when what the queue does has changed, while jobs wait. */
  readonly onState?: (state: QueueState) => void
  /** Returns what those who look at the queue see of this process; without it, they do not see it. */
  readonly report?: () => object
}

interface PendingJob {
  readonly payload: unknown
  readonly onProgress: ((data: unknown) => void) | undefined
  times: number
  /** True when the server has confirmed the job. */
  handed: boolean
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** The producer side of the queue. */
export class JobQueue {
  readonly #connection: RedisConnection
  readonly #queue: Queue
  readonly #waiting = new Map<string, PendingJob>()
  readonly #removals = new Set<Promise<unknown>>()
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #options: JobOptions & { readonly name: string }
  readonly #client: Redis
  readonly #report: ProcessReport<object> | undefined
  /** How often the queue had been drained when it was opened. */
  readonly #drained: string | null
  #state = ''
  #isObserving = false
  #lonelySince: number | undefined
  #lost: unknown
  #ended: AuthError | undefined
  readonly #run = `${process.pid.toString(36)}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`
  #made = 0

  private constructor(parts: QueueParts, options: JobOptions & { readonly name: string }) {
    const { connection, queue, events, client, drained } = parts
    this.#connection = connection
    this.#queue = queue
    this.#client = client
    this.#drained = drained
    this.#options = options
    this.#report = options.report && new ProcessReport(client, options.name, options.report)
    this.#timers = [setInterval(() => void this.#look(), LOOK), setInterval(() => void this.#observe(), OBSERVED)]
    events.on('completed', ({ jobId, returnvalue }) => this.#end(jobId, (waiting) => waiting.resolve(returnvalue)))
    events.on('progress', ({ jobId, data }) => this.#waiting.get(jobId)?.onProgress?.(data))
    events.on('failed', ({ jobId, failedReason }) => this.#end(jobId, (waiting) => waiting.reject(failed(failedReason))))
    connection.lost.catch((error) => {
      this.#lost = error
      this.#endAll(error)
    })
  }

  /** Opens the queue and removes jobs left by interrupted runs. Errors: errors of `connectRedis`. */
  static async open(options: JobOptions): Promise<JobQueue> {
    const { address, name = LINT_QUEUE } = options
    const connection = await connectQueue(address)
    const { bullmq } = connection
    const client = connection.client()
    const settings = { prefix: KEY_PREFIX, connection: client, ...QUIET }
    const queue = new bullmq.Queue(name, { ...settings, streams: { events: { maxLen: 1000 } } })
    const events = new bullmq.QueueEvents(name, { ...settings, connection: connection.client() })
    queue.on('error', () => undefined)
    events.on('error', () => undefined)
    try {
      await Promise.race([Promise.all([queue.waitUntilReady(), events.waitUntilReady()]), connection.lost])
      await Promise.race([cleaned(queue), connection.lost])
      const drained = await Promise.race([client.get(drainedKey(name)), connection.lost])
      return new JobQueue({ connection, queue, events, client, drained }, { ...options, name })
    } catch (error) {
      connection.close()
      throw isAuthError(error) ? error : connection.meaning(error)
    }
  }

  /** Why no job is taken any more: the queue was drained, or no worker has come. */
  get ended(): AuthError | undefined {
    return this.#ended
  }

  /**
   * Adds a job and returns its result. Jobs of a crashed worker are assigned to another one; jobs that the server lost are added again.
   *
   * Errors: `JOB_FAILED` when no worker could complete it or the queue was drained, `TIMEOUT_QUEUE` when there is no worker, errors of
   * `connectRedis` when the connection is lost.
   *
   * @param onProgress called with progress reports of the worker; the last ones may be missing
   */
  run(payload: unknown, onProgress?: (data: unknown) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = `${this.#run}-${++this.#made}`
      this.#waiting.set(id, { payload, onProgress, times: 0, handed: false, resolve, reject })
      this.#hand(id).catch((error) => this.#end(id, (waiting) => waiting.reject(error)))
    })
  }

  /** Removes jobs that were not started, and closes the queue. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    const left = [...this.#waiting.keys()]
    this.#waiting.clear()
    for (const id of left) this.#remove(id)
    await Promise.race([Promise.all([...this.#removals, this.#report?.close()]), this.#connection.lost.catch(() => undefined)])
    this.#connection.close()
  }

  async #hand(id: string): Promise<void> {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    if (this.#lost !== undefined) throw this.#lost
    if (this.#ended) throw this.#ended
    if (++waiting.times > TIMES) throw failed()
    waiting.handed = false
    const keep = { age: KEPT / 1000 }
    const options = { jobId: id, removeOnComplete: keep, removeOnFail: keep, attempts: 1 }
    // A lost connection rejects all pending jobs. Promise.race would retain every job until then.
    await this.#queue.add('job', waiting.payload, options).catch((error) => {
      throw this.#connection.meaning(error)
    })
    waiting.handed = true
  }

  #end(id: string, settle: (waiting: PendingJob) => void): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    this.#waiting.delete(id)
    this.#lonelySince = undefined
    settle(waiting)
    this.#remove(id)
  }

  /** Removes a job unless a worker has started it. */
  #remove(id: string): void {
    const removal = this.#queue
      .remove(id)
      .catch(() => 0)
      .finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  #endAll(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }

  /** Polls pending jobs, because events and jobs may be lost. */
  async #look(): Promise<void> {
    // A server that does not respond is polled again at the next interval.
    for (const [id, waiting] of this.#waiting) await this.#lookAt(id, waiting).catch(() => undefined)
  }

  async #lookAt(id: string, waiting: PendingJob): Promise<void> {
    const job: Job | undefined = await this.#queue.getJob(id)
    if (!waiting.handed) return
    if (!job) await this.#hand(id).catch((error) => this.#end(id, ({ reject }) => reject(error)))
    else if (job.finishedOn !== undefined && job.failedReason) this.#end(id, ({ reject }) => reject(failed(job.failedReason)))
    else if (job.finishedOn !== undefined) this.#end(id, ({ resolve }) => resolve(job.returnvalue))
  }

  /** Looks who takes jobs, and tells what has changed. */
  async #observe(): Promise<void> {
    if (this.#waiting.size === 0 || this.#isObserving) return
    this.#isObserving = true
    // A server that does not respond is asked again at the next interval.
    await this.#observed().catch(() => undefined)
    this.#isObserving = false
  }

  async #observed(): Promise<void> {
    const { address, name, folder, onState } = this.#options
    const [{ workers }, paused, drained] = await Promise.all([
      processesOf(this.#client, name),
      this.#queue.isPaused(),
      this.#client.get(drainedKey(name)),
    ])
    if (drained !== this.#drained) return this.#endDrained()
    const state = stateOf({ paused, workers, queue: name, address, folder })
    const text = JSON.stringify([state.workers, state.problem?.message])
    if (text !== this.#state) onState?.(state)
    this.#state = text
    if (!state.problem || paused) this.#lonelySince = undefined
    else if (this.#lonelySince === undefined) this.#lonelySince = Date.now()
    else if (Date.now() - this.#lonelySince >= NOBODY) {
      this.#ended = state.problem
      this.#endAll(state.problem)
    }
  }

  /** Ends all jobs but those that a worker has started. */
  async #endDrained(): Promise<void> {
    this.#ended ??= new ProtocolError('JOB_FAILED', 'the queue was drained before a worker took the job', {
      hint: 'run the same command again for the rest',
    })
    for (const id of [...this.#waiting.keys()]) {
      const job: Job | undefined = await this.#queue.getJob(id)
      if (job?.processedOn === undefined) this.#end(id, ({ reject }) => reject(this.#ended))
    }
  }
}

interface QueueParts {
  readonly connection: RedisConnection
  readonly queue: Queue
  readonly events: QueueEvents
  readonly client: Redis
  readonly drained: string | null
}

/** Removes old jobs. A server that forbids this may still accept jobs. */
async function cleaned(queue: Queue): Promise<void> {
  for (const kind of ['completed', 'failed'] as const) await queue.clean(KEPT, 0, kind).catch(() => [])
}

/** @param reason that of the worker, which is untrusted: only the form that our workers use is repeated */
function failed(reason = ''): ProtocolError {
  const known = /^not a job of stac-auth \w+(?:: [\w.[\]]+ is missing or out of bounds)?$/.test(reason) && reason.length < 300
  return new ProtocolError(
    'JOB_FAILED',
    `the job failed: ${known ? `the worker says that it is ${reason}` : 'a worker could not run it'}`,
    {
      hint: 'stac-auth queue workers shows the versions of the workers, which must be the same',
    },
  )
}

/** One run of a job by a worker. */
export interface JobAttempt {
  readonly id: string
  /** True if a worker has run the job before. */
  readonly isRepeated: boolean
}

export interface WorkOptions extends QueueOptions {
  /** Concurrency: jobs at a time. */
  readonly concurrency: number
  /** Stops the worker after the running jobs. */
  readonly signal: AbortSignal
  /**
   * Milliseconds after which a job is assigned to another worker if its worker has not renewed the lock. `work` must not block the event
   * loop for longer: the result of a worker that lost its job is discarded.
   */
  readonly lock: number
  /** Runs one job. Its payload is untrusted; an exception fails the job. */
  readonly work: (payload: unknown, tell: (data: object) => void, attempt: JobAttempt) => unknown
  /** An open connection, which is closed at the end. */
  readonly opened?: QueueConnection
  /** Called before the connection is closed. */
  readonly onClosing?: () => Promise<void>
  /** Called when the worker starts to take jobs, with the `maxmemory-policy` of a server that drops jobs when its memory is full. */
  readonly onReady?: (eviction?: string) => void
  /** Called after each job with its outcome, and why it failed. */
  readonly onJob?: (done: boolean, reason?: string) => void
  /** Called when the server refuses commands, as a full one does; the worker tries again. */
  readonly onRefused?: (error: AuthError) => void
}

/** Interval in milliseconds of the search for stalled jobs. */
const SEARCH = 5000

/** Number of workers that may crash on one job before it fails. */
const DEATHS = 2

/**
 * Takes jobs until the signal aborts; running jobs are finished first. Errors: `ABORTED`, errors of `connectRedis`, also when the
 * connection is lost for too long.
 */
export async function workJobs({
  address,
  name = LINT_QUEUE,
  concurrency,
  signal,
  lock,
  work,
  onReady,
  onJob,
  onRefused,
  opened,
  onClosing,
}: WorkOptions): Promise<never> {
  const connection = opened ?? (await connectQueue(address, signal))
  const { bullmq } = connection
  // Progress may be lost.
  const tellOf = (job: Job) => (data: object) => void job.updateProgress(data).catch(() => undefined)
  const counts = { running: 0, done: 0, failed: 0 }
  const run = async (job: Job) => {
    counts.running++
    const attempt = { id: `${report.id}-${randomBytes(4).toString('hex')}`, isRepeated: job.attemptsStarted > 1 }
    try {
      return await work(job.data, tellOf(job), attempt)
    } finally {
      counts.running--
    }
  }
  const client = connection.client()
  const eviction = await Promise.race([evictionOf(client), connection.lost]).catch(() => undefined)
  const report = new ProcessReport(client, name, () => ({ queue: name, ...counts }))
  const worker = new (tolerantWorker(bullmq))(name, run, {
    name: report.id,
    prefix: KEY_PREFIX,
    connection: connection.client(),
    ...QUIET,
    concurrency,
    lockDuration: lock,
    stalledInterval: SEARCH,
    maxStalledCount: DEATHS,
    drainDelay: 1,
  })
  const stopRetries = retryRefusals(worker, (error) => onRefused?.(connection.meaning(error)))
  worker.on('completed', () => {
    counts.done++
    onJob?.(true)
  })
  worker.on('failed', (_job, { message }) => {
    counts.failed++
    onJob?.(false, message)
  })
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  try {
    await Promise.race([worker.waitUntilReady().then(() => report.write()), stopped, connection.lost])
    if (!signal.aborted) onReady?.(eviction)
    await Promise.race([stopped, connection.lost])
    await Promise.race([worker.close(), connection.lost])
    await Promise.race([report.close(), connection.lost])
    await Promise.race([onClosing?.(), connection.lost])
    throw abortedBy(signal)
  } finally {
    stopRetries()
    connection.close()
  }
}

/** Returns the class of a worker that takes a job whose payload is not JSON as one without: it fails, where it would stay active for ever. */
function tolerantWorker({ Worker: Base }: typeof import('bullmq')): typeof Worker {
  return class extends Base {
    protected override createJob(job: JobJson, id: string): Job {
      return super.createJob(isJson(job.data) ? job : { ...job, data: 'null' }, id)
    }
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Milliseconds until a worker tries again after the server has refused a command. */
const RETRY = 2000

/**
 * Pauses a worker whose server refuses a command: BullMQ would repeat it thousands of times per second. Tells the error once until the
 * worker gets a job or the error differs. Returns a function that ends it.
 */
export function retryRefusals(worker: Pick<Worker, 'on' | 'pause' | 'resume'>, tell: (error: unknown) => void): () => void {
  let told: string | undefined
  let timer: NodeJS.Timeout | undefined
  worker.on('active', () => {
    told = undefined
  })
  worker.on('error', (error) => {
    // UNBLOCKED ends a wait; the next command says why.
    if (!isReply(error) || error.message.startsWith('UNBLOCKED') || timer) return
    timer = setTimeout(() => {
      timer = undefined
      void worker.resume()
    }, RETRY)
    void worker.pause(true)
    const [word] = error.message.split(' ')
    if (word !== told) tell(error)
    told = word
  })
  return () => clearTimeout(timer)
}

/** A job queue in Redis for work done by other processes, with JSON payloads and results, and the side of its workers. */

import type { Job, Queue, QueueEvents, Worker } from 'bullmq'
import { type AuthError, abortedBy, isAuthError, ProtocolError, TimeoutError } from '../../errors.ts'
import { connectRedis, isReply, type RedisAddress, type RedisConnection, type RedisUse } from '../base/redis-connection.ts'
import { missingPackage } from '../base/system-error.ts'

/** Prefix of all keys. */
export const KEY_PREFIX = 'stac-auth'

/** Name of the queue of `lint`. It contains the version of the payload, so that incompatible processes do not share jobs. */
export const LINT_QUEUE = 'lint-v1'

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

/** Options of a producer. */
export interface JobOptions extends QueueOptions {
  /** Called when a job waits and no worker is connected. */
  readonly onLonely?: () => void
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
  readonly #timer: NodeJS.Timeout
  readonly #onLonely: () => void
  #lonelySince: number | undefined
  #lost: unknown
  readonly #run = `${process.pid.toString(36)}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`
  #made = 0

  private constructor(connection: RedisConnection, queue: Queue, events: QueueEvents, onLonely: () => void) {
    this.#connection = connection
    this.#queue = queue
    this.#onLonely = onLonely
    this.#timer = setInterval(() => void this.#look(), LOOK)
    events.on('completed', ({ jobId, returnvalue }) => this.#end(jobId, (waiting) => waiting.resolve(returnvalue)))
    events.on('progress', ({ jobId, data }) => this.#waiting.get(jobId)?.onProgress?.(data))
    events.on('failed', ({ jobId }) => this.#end(jobId, (waiting) => waiting.reject(failed())))
    connection.lost.catch((error) => {
      this.#lost = error
      this.#endAll(error)
    })
  }

  /** Opens the queue and removes jobs left by interrupted runs. Errors: errors of `connectRedis`. */
  static async open({ address, name = LINT_QUEUE, onLonely = () => {} }: JobOptions): Promise<JobQueue> {
    const connection = await connectQueue(address)
    const { bullmq } = connection
    const settings = { prefix: KEY_PREFIX, connection: connection.client() }
    const queue = new bullmq.Queue(name, { ...settings, streams: { events: { maxLen: 1000 } } })
    const events = new bullmq.QueueEvents(name, { ...settings, connection: connection.client() })
    queue.on('error', () => undefined)
    events.on('error', () => undefined)
    try {
      await Promise.race([Promise.all([queue.waitUntilReady(), events.waitUntilReady()]), connection.lost])
      await Promise.race([cleaned(queue), connection.lost])
    } catch (error) {
      connection.close()
      throw isAuthError(error) ? error : connection.meaning(error)
    }
    return new JobQueue(connection, queue, events, onLonely)
  }

  /**
   * Adds a job and returns its result. Jobs of a crashed worker are assigned to another one; jobs that the server lost are added again.
   *
   * Errors: `JOB_FAILED` when no worker could complete it, `TIMEOUT_QUEUE` when there is no worker, errors of `connectRedis` when the
   * connection is lost.
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
    clearInterval(this.#timer)
    const left = [...this.#waiting.keys()]
    this.#waiting.clear()
    for (const id of left) this.#remove(id)
    await Promise.race([Promise.all(this.#removals), this.#connection.lost.catch(() => undefined)])
    this.#connection.close()
  }

  async #hand(id: string): Promise<void> {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    if (this.#lost !== undefined) throw this.#lost
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
    if (this.#waiting.size > 0) await this.#expectWorkers()
  }

  async #lookAt(id: string, waiting: PendingJob): Promise<void> {
    const job: Job | undefined = await this.#queue.getJob(id)
    if (!waiting.handed) return
    if (!job) await this.#hand(id).catch((error) => this.#end(id, ({ reject }) => reject(error)))
    else if (job.finishedOn !== undefined && job.failedReason) this.#end(id, ({ reject }) => reject(failed()))
    else if (job.finishedOn !== undefined) this.#end(id, ({ resolve }) => resolve(job.returnvalue))
  }

  async #expectWorkers(): Promise<void> {
    // Some servers do not allow listing clients; the number of workers is unknown then.
    const count = await this.#queue.getWorkersCount().catch(() => 1)
    if (count > 0) this.#lonelySince = undefined
    else if (this.#lonelySince === undefined) {
      this.#lonelySince = Date.now()
      this.#onLonely()
    }
    if (this.#lonelySince === undefined || Date.now() - this.#lonelySince < NOBODY) return
    const hint = 'start a worker that uses the same queue: stac-auth queue work'
    this.#endAll(new TimeoutError('TIMEOUT_QUEUE', 'the job was not started: no worker takes jobs from the queue', { hint }))
  }
}

/** Removes old jobs. A server that forbids this may still accept jobs. */
async function cleaned(queue: Queue): Promise<void> {
  for (const kind of ['completed', 'failed'] as const) await queue.clean(KEPT, 0, kind).catch(() => [])
}

function failed(): ProtocolError {
  return new ProtocolError('JOB_FAILED', 'the job failed: a worker could not run it', {
    hint: 'make sure that all workers run the same version',
  })
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
  readonly work: (payload: unknown, tell: (data: object) => void) => unknown
  /** An open connection, which is closed at the end. */
  readonly opened?: QueueConnection
  /** Called before the connection is closed. */
  readonly onClosing?: () => Promise<void>
  /** Called when the worker starts to take jobs. */
  readonly onReady?: () => void
  /** Called after each job with its outcome. */
  readonly onJob?: (done: boolean) => void
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
  const worker = new bullmq.Worker(name, async (job) => work(job.data, tellOf(job)), {
    prefix: KEY_PREFIX,
    connection: connection.client(),
    concurrency,
    lockDuration: lock,
    stalledInterval: SEARCH,
    maxStalledCount: DEATHS,
    drainDelay: 1,
  })
  const stopRetries = retryRefusals(worker, (error) => onRefused?.(connection.meaning(error)))
  worker.on('completed', () => onJob?.(true))
  worker.on('failed', () => onJob?.(false))
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  try {
    await Promise.race([worker.waitUntilReady().then(onReady), stopped, connection.lost])
    await Promise.race([stopped, connection.lost])
    await Promise.race([worker.close(), connection.lost])
    await Promise.race([onClosing?.(), connection.lost])
    throw abortedBy(signal)
  } finally {
    stopRetries()
    connection.close()
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

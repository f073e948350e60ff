/** The worker side of the queue. */
import { abortedBy } from '../../errors.ts'
import { connectRedis, QUEUE, type QueueOptions } from './redis-connection.ts'

export interface WorkOptions extends QueueOptions {
  /** Concurrency: jobs at a time. */
  readonly concurrency: number
  /** Stops the worker after the running jobs. */
  readonly signal: AbortSignal
  /** Runs one job. Its payload is untrusted; an exception fails the job. */
  readonly work: (payload: unknown) => unknown
  /** Called when the worker starts to take jobs. */
  readonly onReady?: () => void
  /** Called after each job with its outcome. */
  readonly onJob?: (done: boolean) => void
}

/** Lock duration in milliseconds: a job whose worker does not renew its lock is assigned to another one. */
const LOCK = 15_000

/** Interval in milliseconds of the search for stalled jobs. */
const SEARCH = 5000

/** Number of workers that may crash on one job before it fails. */
const DEATHS = 2

/**
 * Takes jobs until the signal aborts; running jobs are finished first. Errors: `ABORTED`, errors of `connectRedis`, also when the
 * connection is lost for too long.
 */
export async function workJobs({ address, concurrency, signal, work, onReady, onJob }: WorkOptions): Promise<never> {
  const connection = await connectRedis(address)
  const { bullmq } = connection
  const worker = new bullmq.Worker(QUEUE.name, async ({ data }) => work(data), {
    prefix: QUEUE.prefix,
    connection: connection.client(),
    concurrency,
    lockDuration: LOCK,
    stalledInterval: SEARCH,
    maxStalledCount: DEATHS,
    drainDelay: 1,
  })
  worker.on('error', () => undefined)
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
    throw abortedBy(signal)
  } finally {
    connection.close()
  }
}

/** The side that does the work. */
import { abortedBy } from '../../errors.ts'
import { connectRedis, QUEUE, type QueueOptions } from './redis-connection.ts'

export interface WorkOptions extends QueueOptions {
  /** Jobs at a time. */
  readonly concurrency: number
  /** Ends the work after the jobs that are being done. */
  readonly signal: AbortSignal
  /** Does one job. It gets what stands in the queue, which anybody may have written; what it throws makes the job fail. */
  readonly work: (payload: unknown) => unknown
  /** Hears that jobs are taken from now on. */
  readonly onReady?: () => void
  /** Hears of each job whether it was done. */
  readonly onJob?: (done: boolean) => void
}

/** Milliseconds that a job belongs to a worker that gives no sign of life; then another one does it. */
const LOCK = 15_000

/** Milliseconds between two searches for such jobs. */
const SEARCH = 5000

/** Workers that may die of one job before it counts as failed. */
const DEATHS = 2

/**
 * Takes jobs until the signal says that it is enough; what has been begun is finished first. Errors: `ABORTED`, those of
 * `connectRedis`, also when the server has been away for too long.
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

/** Inspects, pauses and resumes a queue. */

import { isObject, own } from '../../stac/document.ts'
import type { RedisAddress } from '../base/redis-connection.ts'
import { FileNotes } from './destination.ts'
import { connectQueue, KEY_PREFIX, LINT_QUEUE, type QueueConnection } from './job-queue.ts'

/** The state of a queue. */
export interface QueueStatus {
  /** True while workers start no further job. */
  readonly paused: boolean
  /** Workers that are connected; absent if the server does not allow listing them. */
  readonly workers?: number
  /** Jobs that wait. */
  readonly waiting: number
  /** Jobs that workers run. */
  readonly active: number
  /** Files that failed, of a download queue. */
  readonly failed?: number
}

/** A file that failed. */
export interface FailedFile {
  /** Its path below the folder. */
  readonly name: string
  /** Origin and path. */
  readonly url: string
  /** Code of the error. */
  readonly code: string
  /** The reason for people. */
  readonly message: string
  /** ISO 8601. */
  readonly time: string
}

export interface QueueControl {
  status(): Promise<QueueStatus>
  /** Stops workers from starting jobs; running jobs are finished. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Returns the files that failed and were not downloaded since. */
  failures(): Promise<readonly FailedFile[]>
  /** Empties the list of failed files. */
  forget(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a queue: that of `lint`, or that of the downloads into a destination.
 *
 * Errors: those of `connectRedis`, also of each method.
 */
export async function queueControl(address: RedisAddress, destination?: string): Promise<QueueControl> {
  const connection = await connectQueue(address)
  const name = destination === undefined ? LINT_QUEUE : (await import('./download-job.ts')).queueNameOf(destination)
  const client = connection.client()
  const queue = new connection.bullmq.Queue(name, { prefix: KEY_PREFIX, connection: client })
  queue.on('error', () => undefined)
  const notes = destination === undefined ? undefined : new FileNotes(client, destination, 'failed')
  const call = <T>(promise: Promise<T>) => answered(promise, connection)
  return {
    status: () =>
      call(
        (async () => {
          const { waiting = 0, active = 0 } = await queue.getJobCounts('waiting', 'active')
          const workers = await queue.getWorkersCount().catch(() => undefined)
          const failed = await notes?.count()
          return {
            paused: await queue.isPaused(),
            ...(workers !== undefined && { workers }),
            waiting,
            active,
            ...(failed !== undefined && { failed }),
          }
        })(),
      ),
    pause: () => call(queue.pause()),
    resume: () => call(queue.resume()),
    failures: async () =>
      [...((await call(notes?.all() ?? Promise.resolve(new Map<string, string>()))) as Map<string, string>)].flatMap(failedFile),
    forget: () => call(notes?.clear() ?? Promise.resolve()),
    close: async () => {
      await queue.close().catch(() => undefined)
      connection.close()
    },
  }
}

async function answered<T>(promise: Promise<T>, connection: QueueConnection): Promise<T> {
  try {
    return await Promise.race([promise, connection.lost])
  } catch (error) {
    throw connection.meaning(error)
  }
}

/** Reads a note, which anyone with access to the server may have written. */
function failedFile([name, text]: readonly [string, string]): readonly FailedFile[] {
  try {
    const value: unknown = JSON.parse(text)
    const [url, code, message, time] = ['url', 'code', 'message', 'time'].map((member) => own(value, member))
    if (!isObject(value) || ![url, code, message, time].every((one) => typeof one === 'string')) return []
    return [{ name, url, code, message, time } as FailedFile]
  } catch {
    return []
  }
}

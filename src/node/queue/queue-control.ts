/** Inspects, pauses, resumes and drains a queue. */

import type { Redis } from 'ioredis'
import { isObject, own } from '../../stac/document.ts'
import { evictionOf, type RedisAddress } from '../base/redis-connection.ts'
import { FileNotes } from './destination.ts'
import { connectQueue, QUIET, type QueueConnection } from './job-queue.ts'
import { drainedKey, KEY_PREFIX, LINT_QUEUE, queueNameOf } from './queue-names.ts'
import { countByVersion, processesOf, type QueueDownload, type QueueWorker } from './queue-processes.ts'

/** The state of a queue. */
export interface QueueStatus {
  /** True while workers start no further job. */
  readonly paused: boolean
  /** Workers that are connected. */
  readonly workers: number
  /** Their number by version of stac-auth. */
  readonly versions: Readonly<Record<string, number>>
  /** Workers of versions that cannot run these jobs, by version; absent without any. */
  readonly incompatible?: Readonly<Record<string, number>>
  /** Jobs that wait. */
  readonly waiting: number
  /** Jobs that workers run. */
  readonly active: number
  /** Files that failed, of a download queue. */
  readonly failed?: number
  /** The `maxmemory-policy` of a server that drops jobs when its memory is full; absent for one that keeps them. */
  readonly eviction?: string
  /** Downloads that fill the queue now, of a download queue. */
  readonly downloads?: readonly QueueDownload[]
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
  /** Returns the workers, also of versions that cannot run these jobs. */
  workers(): Promise<readonly QueueWorker[]>
  /** Removes the jobs that wait, and ends the commands that fill the queue; running jobs are finished. */
  drain(): Promise<void>
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
  const name = destination === undefined ? LINT_QUEUE : queueNameOf(destination)
  const client = connection.client()
  const queue = new connection.bullmq.Queue(name, { prefix: KEY_PREFIX, connection: client, ...QUIET })
  queue.on('error', () => undefined)
  const notesOf = (kind: 'failed' | 'jobs') => (destination === undefined ? undefined : new FileNotes(client, destination, kind))
  const [notes, jobs] = [notesOf('failed'), notesOf('jobs')]
  const call = <T>(promise: Promise<T>) => answered(promise, connection)
  const status = async (): Promise<QueueStatus> => {
    const { waiting = 0, active = 0 } = await queue.getJobCounts('waiting', 'active')
    const failed = await notes?.count()
    const eviction = await evictionOf(client)
    const { workers, downloads } = await processesOf(client, name)
    const [ours, others] = [workers.filter((worker) => worker.queue === name), workers.filter((worker) => worker.queue !== name)]
    return {
      paused: await queue.isPaused(),
      workers: ours.length,
      versions: countByVersion(ours),
      ...(others.length > 0 && { incompatible: countByVersion(others) }),
      waiting,
      active,
      ...(eviction !== undefined && { eviction }),
      ...(failed !== undefined && { failed, downloads }),
    }
  }
  return {
    status: () => call(status()),
    pause: () => call(queue.pause()),
    resume: () => call(queue.resume()),
    workers: async () => (await call(processesOf(client, name))).workers,
    drain: () => call(drained(client, name, () => queue.drain())),
    failures: async () =>
      [...((await call(notes?.all() ?? Promise.resolve(new Map<string, string>()))) as Map<string, string>)].flatMap(failedFile),
    forget: async () => {
      await call(notes?.clear() ?? Promise.resolve())
      await call(jobs?.clear() ?? Promise.resolve())
    },
    close: async () => {
      await queue.close().catch(() => undefined)
      connection.close()
    },
  }
}

/** The count comes first: a command that fills the queue would otherwise take its jobs for lost, and add them again. */
async function drained(client: Redis, name: string, drain: () => Promise<void>): Promise<void> {
  await client.incr(drainedKey(name))
  await drain()
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

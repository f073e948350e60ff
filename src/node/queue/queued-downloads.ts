/** Downloads through a queue, as `stac-auth/node` exports them: what is declared here names no optional package. */
import type { Auth } from '../../auth/auth.ts'
import type { AuthError } from '../../errors.ts'
import type { DownloadEvent, DownloadInput, DownloadOptions } from '../download/download.ts'

/** What a queue does, for the process that fills it. */
export interface QueueState {
  /** True while workers start no further job. */
  readonly paused: boolean
  /** Number of workers by their version of stac-auth. */
  readonly workers: Readonly<Record<string, number>>
  /** Why no job is run: no worker is connected, or all are of an incompatible version, or the queue is paused. */
  readonly problem?: AuthError
}

/** Options of `downloadByQueue`. */
export interface DownloadQueueOptions extends Omit<DownloadOptions, 'dryRun' | 'concurrency' | 'bytesPerSecond'> {
  /** URL of the Redis server: `redis://` or `rediss://`, with a password if it needs one. */
  readonly queue: string
  /** Called when the workers, or why no file is downloaded, have changed. */
  readonly onState?: (state: QueueState) => void
}

/**
 * As `download`, but the workers of a queue transfer the files into the same folder: {@link workDownloads}, or `stac-auth queue work`. They
 * use their own credentials. `perHost` and `rate` apply to all of them together.
 *
 * Errors: those of `download`; `USAGE` for a malformed URL, `AUTH_REJECTED`, `NETWORK_*`, `TLS_*`, `TIMEOUT_CONNECT` for the server;
 * `SCHEME_UNSUPPORTED` without the packages `bullmq` and `ioredis`.
 *
 * @example
 * for await (const event of downloadByQueue(documents, { queue: 'redis://127.0.0.1', folder: 'data', auth }))
 *   if (event.kind === 'failed') console.error(event.file.name, event.error.message)
 */
export async function* downloadByQueue(
  inputs: Iterable<DownloadInput> | AsyncIterable<DownloadInput>,
  options: DownloadQueueOptions,
): AsyncGenerator<DownloadEvent, void> {
  const { performByQueue } = await import('./download-queue.ts')
  yield* performByQueue(inputs, options)
}

/** Options of `workDownloads`. */
export interface DownloadWorkerOptions {
  /** URL of the Redis server: `redis://` or `rediss://`, with a password if it needs one. */
  readonly queue: string
  /** The folder that the workers share with the producer, which must exist, or `s3://bucket/prefix`; nothing is written outside. */
  readonly folder: string
  /** The engine with the credentials of this worker. */
  readonly auth: Pick<Auth, 'send'>
  /** Stops the worker: files in progress are left to another one. */
  readonly signal: AbortSignal
  /** Concurrent files; default 16. */
  readonly concurrency?: number
  /** Called when the worker starts to take jobs, with the `maxmemory-policy` of a server that drops jobs when its memory is full. */
  readonly onReady?: (eviction?: string) => void
  /** Called after each job; false, with the reason, for a malformed job, and for one that another worker has taken over. */
  readonly onJob?: (done: boolean, reason?: string) => void
  /** Called once for a reason why the server refuses commands, as a full one does; the worker tries again. */
  readonly onRefused?: (error: AuthError) => void
}

/**
 * Downloads the files of a queue into a folder until the signal aborts. Jobs of a worker that dies are taken over by another one.
 *
 * Errors: `ABORTED`; `USAGE` for a malformed URL, `AUTH_REJECTED`, `NETWORK_*`, `TLS_*`, `TIMEOUT_CONNECT` for the server, also when it is
 * unreachable for half a minute; `SCHEME_UNSUPPORTED` without the packages `bullmq` and `ioredis`; `FILE_ACCESS` for the folder.
 *
 * @example await workDownloads({ queue: 'redis://localhost:6379', folder: 'data', auth, signal })
 */
export async function workDownloads(options: DownloadWorkerOptions): Promise<never> {
  const { performJobs } = await import('./download-worker.ts')
  return performJobs(options)
}

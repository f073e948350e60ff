/** Jobs of several processes, through a queue in Redis, for the command line; `stac-auth/node` exports `queued-downloads.ts` alone. */

export { type RedisAddress, redisAddressOf } from '../base/redis-connection.ts'
export { knownIdentity } from './destination.ts'
export { JobQueue, workJobs } from './job-queue.ts'
export { type FailedFile, type QueueControl, type QueueStatus, queueControl } from './queue-control.ts'

export type { DownloadProgress, QueueDownload, QueueWorker } from './queue-processes.ts'
export { type RetryOptions, retryFailed } from './queue-retry.ts'
export { queueCommand, tellProblems } from './queue-state.ts'
export { downloadByQueue, type QueueState, workDownloads } from './queued-downloads.ts'

/** Connects to the server of the queues, through the optional package `bullmq`; the names of queues and keys. */

import { loadOptional } from '../optional-package.ts'
import { connectRedis, type RedisAddress, type RedisConnection, type RedisUse } from './redis-connection.ts'

/** Prefix of all keys. */
export const KEY_PREFIX = 'stac-auth'

/** Name of the queue of `lint`. It contains the version of the payload, so that incompatible processes do not share jobs. */
export const LINT_QUEUE = 'lint-v1'

const USE: RedisUse = { subject: 'the queue', passwordHint: 'STAC_AUTH_QUEUE=redis://:password@host:port', packages: ['bullmq', 'ioredis'] }

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
  const bullmq = await loadOptional(() => import('bullmq'), USE)
  return { ...(await connectRedis(address, USE, signal)), bullmq }
}

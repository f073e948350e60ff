/** Connects to the server of the queues, through the optional package `bullmq`; the names of queues and keys. */

import { missingPackage } from '../base/optional-package.ts'
import { connectRedis, type RedisAddress, type RedisConnection, type RedisUse } from '../base/redis-connection.ts'

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

import { Queue } from 'bullmq'
import { Redis } from 'ioredis'

/** Where the Redis of the tests is, and who may use it. */
export interface RedisFacts {
  readonly host: string
  readonly port: number
  readonly password: string
}

/** The queue, as anybody sees it who reaches the server. */
export async function redisQueue<T>(redis: RedisFacts, use: (queue: Queue) => Promise<T>): Promise<T> {
  const connection = new Redis({ ...redis, maxRetriesPerRequest: null })
  const queue = new Queue('lint-v1', { prefix: 'stac-auth', connection })
  try {
    return await use(queue)
  } finally {
    await queue.close()
    connection.disconnect()
  }
}

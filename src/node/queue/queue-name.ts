import type { RedisAddress } from './redis-address.ts'

/** What the jobs are called in Redis. The version is that of their payload: processes that speak another one do not meet. */
export const QUEUE = { prefix: 'stac-auth', name: 'lint-v1' } as const

/** Where a queue is. */
export interface QueueOptions {
  readonly address: RedisAddress
}

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { redisAddressOf } from '../../src/node/base/redis-connection.ts'
import { JobQueue, workJobs } from '../../src/node/queue/job-queue.ts'
import { failureOf } from '../harness/failure.ts'
import { type Peer, startPeer } from './peer.ts'
import { type RedisFacts, redisQueue } from './redis-facts.ts'

let peer: Peer<RedisFacts> | undefined
let redis: RedisFacts

beforeAll(async () => {
  peer = await startPeer<RedisFacts>('redis')
  if ('facts' in peer) redis = peer.facts
}, 150_000)
afterAll(async () => {
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})

const facts = () => ({ address: redisAddressOf(`redis://:${encodeURIComponent(redis.password)}@${redis.host}:${redis.port}`) })
const withQueue = <T>(use: (queue: Queue) => Promise<T>) => redisQueue(redis, use)

/** Frees at once what nothing can reach. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

describe('the side that hands work over', () => {
  it('keeps nothing of a job that is over', async () => {
    const stop = new AbortController()
    const working = failureOf(workJobs({ ...facts(), concurrency: 1, signal: stop.signal, lock: 15_000, work: () => 'done' }))
    const queue = await JobQueue.open(facts())
    const run = async () => {
      const payload = { text: 'x'.repeat(1000) }
      expect(await queue.run(payload)).toBe('done')
      return new WeakRef(payload)
    }
    const payloads = [await run(), await run()]
    const left = () => {
      collectGarbage()
      return payloads.filter((payload) => payload.deref() !== undefined).length
    }
    await expect.poll(left, { timeout: 5000 }).toBe(0)
    await queue.close()
    expect(await withQueue((jobs) => jobs.getJobCounts())).toMatchObject({ waiting: 0, active: 0, completed: 0, failed: 0 })
    stop.abort()
    await working
  })

  it('reports each of those who wait when their job is lost and cannot be passed again', async () => {
    const client = new Redis({ ...redis })
    const queue = await JobQueue.open(facts())
    const failures = Promise.all([1, 2, 3].map((payload) => failureOf(queue.run(payload))))
    await withQueue((jobs) => expect.poll(() => jobs.getWaitingCount()).toBe(3))
    await client.flushall()
    await client.config('SET', 'maxmemory', '1')
    try {
      for (const error of await failures) expect(error).toMatchObject({ name: 'NetworkError', code: 'NETWORK_FAILED' })
    } finally {
      await client.config('SET', 'maxmemory', '0')
      await queue.close()
      client.disconnect()
    }
  }, 30_000)

  it('removes what runs that were killed have left for more than an hour, and nothing later', async () => {
    const connection = new Redis({ ...redis, maxRetriesPerRequest: null })
    const worker = new Worker('lint-v1', async () => 'done', { prefix: 'stac-auth', connection })
    await withQueue(async (queue) => {
      for (const jobId of ['old', 'new']) await queue.add('lint', 'text', { jobId })
      await expect.poll(() => queue.getCompletedCount()).toBe(2)
      const then = String(Date.now() - 3_700_000)
      await connection.zadd('stac-auth:lint-v1:completed', then, 'old')
      await connection.hset('stac-auth:lint-v1:old', 'finishedOn', then)
      await (await JobQueue.open(facts())).close()
      expect((await queue.getCompleted()).map(({ id }) => id)).toEqual(['new'])
      await queue.obliterate({ force: true })
    })
    await worker.close()
    connection.disconnect()
  })
})

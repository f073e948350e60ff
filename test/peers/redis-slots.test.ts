import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isAuthError, NetworkError } from '../../src/errors.ts'
import { OriginSlots } from '../../src/node/queue/origin-slots.ts'
import { type Peer, startPeer } from './peer.ts'
import type { RedisFacts } from './redis-facts.ts'

const ORIGIN = 'https://data.example'
let peer: Peer<RedisFacts> | undefined
let redis: Redis
let made = 0

beforeAll(async () => {
  peer = await startPeer<RedisFacts>('redis')
  if ('facts' in peer) redis = new Redis({ ...peer.facts })
}, 150_000)
afterAll(async () => {
  redis?.disconnect()
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(async ({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
  await redis.flushall()
})

function workerWith(perHost: number, rate?: number): OriginSlots {
  const slots = new OriginSlots(redis, `worker${++made}`, (error) =>
    isAuthError(error) ? error : new NetworkError('NETWORK_FAILED', String(error)),
  )
  slots.limits = { perHost, ...(rate !== undefined && { rate }) }
  return slots
}

/** Requests that hold their slots until they are told to end. */
class Requests {
  active = 0
  most = 0
  readonly #slots: OriginSlots
  readonly #ends: (() => void)[] = []

  constructor(slots: OriginSlots) {
    this.#slots = slots
  }

  async start(count: number): Promise<void> {
    for (let number = 0; number < count; number++) {
      void Promise.resolve(this.#slots.enter(ORIGIN)).then(() => {
        this.active++
        this.most = Math.max(this.most, this.active)
        this.#ends.push(() => {
          this.active--
          this.#slots.leave(ORIGIN)
        })
      })
    }
  }

  end(count = 1): void {
    for (const end of this.#ends.splice(0, count)) end()
  }
}

describe('the slots of an origin', () => {
  it('are never more than the limit for all workers together, and each worker gets some', async () => {
    const workers = [workerWith(6), workerWith(6), workerWith(6)]
    const requests = workers.map((slots) => new Requests(slots))
    const active = () => requests.reduce((sum, one) => sum + one.active, 0)
    for (const one of requests) await one.start(20)
    let most = 0
    for (let ended = 0; ended < 60; ) {
      await expect.poll(active).toBeGreaterThan(0)
      most = Math.max(most, active())
      const busiest = requests.toSorted((one, other) => other.active - one.active)[0]
      busiest?.end()
      ended++
    }
    expect([most, requests.every((one) => one.most > 0)]).toEqual([6, true])
    for (const slots of workers) await slots.close()
  })

  it('of a worker that has nothing to do are used by another one', async () => {
    const [first, second] = [workerWith(4), workerWith(4)]
    const [one, other] = [new Requests(first), new Requests(second)]
    await one.start(4)
    await expect.poll(() => one.active).toBe(4)
    await other.start(4)
    one.end(4)
    await expect.poll(() => other.active, { timeout: 3000 }).toBe(4)
    await first.close()
    await second.close()
  })

  it('of a worker that has died are free when its lease is over', async () => {
    await redis.zadd(`stac-auth:limits:${ORIGIN}:slots`, Date.now() * 1000 + 1_500_000, 'dead')
    const slots = workerWith(4)
    const requests = new Requests(slots)
    await requests.start(4)
    await expect.poll(() => requests.active).toBe(3)
    await expect.poll(() => requests.active, { timeout: 5000 }).toBe(4)
    expect(await redis.zrange(`stac-auth:limits:${ORIGIN}:slots`, 0, -1)).not.toContain('dead')
    await slots.close()
  })

  it('pause for all workers when one of them is told to wait, and are fewer afterwards', async () => {
    const [first, second] = [workerWith(8), workerWith(8)]
    first.refused(ORIGIN, 1500)
    await expect.poll(() => redis.pttl(`stac-auth:limits:${ORIGIN}:pause`)).toBeGreaterThan(1000)
    const requests = new Requests(second)
    await requests.start(8)
    expect(requests.active).toBe(0)
    await expect.poll(() => requests.active, { timeout: 5000 }).toBe(4)
    expect(await redis.exists(`stac-auth:limits:${ORIGIN}:pause`)).toBe(0)
    await first.close()
    await second.close()
  })

  it('reserve times at the rate for all workers together', async () => {
    const workers = [workerWith(8, 20), workerWith(8, 20)]
    const entered: number[] = []
    await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const slots = workers[index % 2]
        await slots?.enter(ORIGIN)
        entered.push(Date.now())
        slots?.leave(ORIGIN)
      }),
    )
    expect(Math.max(...entered) - Math.min(...entered)).toBeGreaterThanOrEqual(11 * 50 - 60)
    for (const slots of workers) await slots.close()
  })

  it.each([undefined, 20])('are refused, rather than awaited, when the server is full (rate: %s)', async (rate) => {
    const slots = workerWith(4, rate)
    await redis.config('SET', 'maxmemory', '1')
    try {
      await expect(slots.enter(ORIGIN)).rejects.toMatchObject({ code: 'NETWORK_FAILED', message: expect.stringContaining('OOM') })
    } finally {
      await redis.config('SET', 'maxmemory', '0')
    }
    await slots.enter(ORIGIN)
    await slots.close()
  })

  it('are not taken by a request that was aborted while it waited', async () => {
    const slots = workerWith(1)
    const requests = new Requests(slots)
    await requests.start(1)
    await expect.poll(() => requests.active).toBe(1)
    const abort = new AbortController()
    const waiting = Promise.resolve(slots.enter(ORIGIN, abort.signal)).then(
      () => 'in',
      (error) => error.code,
    )
    abort.abort()
    expect(await waiting).toBe('ABORTED')
    requests.end()
    await requests.start(1)
    await expect.poll(() => requests.active).toBe(1)
    await slots.close()
  })
})

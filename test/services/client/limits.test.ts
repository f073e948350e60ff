import { expect, it } from 'vitest'
import { ServiceLimits } from '../../../src/services/client/pacer.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { clientOf, operation, service } from './service.ts'

const safe = operation('safe', 'GET')

it('rests no longer than a client waits, whatever the service says', async () => {
  const { origin } = await service((_request, index) =>
    index === 0 ? { status: 429, headers: { 'retry-after': '86400' } } : { status: 200 },
  )
  const { client, clock } = clientOf(origin, { maxRetryAfter: 5000 })
  expect(await failureOf(client.call(safe))).toMatchObject({ code: 'HTTP_429', retryAfterMs: 86_400_000 })
  const before = clock.now()
  expect(await clock.run(client.call(safe))).toBeUndefined()
  expect(clock.now() - before).toBe(5250)
})

it('gets every call through a service that takes 5 at a time', async () => {
  let active = 0
  let [refused, answered] = [0, 0]
  const { origin } = await service(async () => {
    if (active >= 5) {
      refused++
      return { status: 429, headers: { 'retry-after': '1.1' } }
    }
    active++
    await new Promise((resolve) => setTimeout(resolve, 2))
    active--
    answered++
    return { status: 200 }
  })
  const { client, clock } = clientOf(origin, { retries: 10, timeouts: { total: false } })
  await clock.run(Promise.all(Array.from({ length: 200 }, () => client.call(safe))))
  expect(answered).toBe(200)
  expect(refused).toBeGreaterThan(0)
  expect(refused).toBeLessThan(60)
})

it('uses few connections for many calls', async () => {
  const server = await service(() => ({ status: 200 }))
  const { client } = clientOf(server.origin)
  await Promise.all(Array.from({ length: 300 }, () => client.call(safe)))
  expect(server.exchanges).toHaveLength(300)
  expect(server.connections).toBeLessThanOrEqual(64)
})

it('stops a batch when the quota is used up, tries again one by one, and continues when it is back', async () => {
  let exhausted = true
  const { origin, exchanges } = await service(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return exhausted ? { status: 456, body: '{"message":"Quota exceeded"}' } : { status: 200 }
  })
  const { client } = clientOf(origin)
  const errors = await Promise.all(Array.from({ length: 50 }, () => failureOf<{ code: string; attempts: number }>(client.call(safe))))
  expect(new Set(errors.map(({ code, name }) => `${name} ${code}`))).toEqual(new Set(['QuotaExceededError HTTP_456']))
  expect(errors.filter(({ attempts }) => attempts === 0).length).toBe(42)
  expect(exchanges).toHaveLength(8)
  expect(await failureOf(client.call(safe))).toMatchObject({ attempts: 1 })
  exhausted = false
  await client.call(safe)
  await Promise.all(Array.from({ length: 20 }, () => client.call(safe)))
  expect(exchanges).toHaveLength(30)
})

it('keeps to a rate', async () => {
  const { origin } = await service(() => ({ status: 200 }))
  const clock = new FakeClock()
  const limits = new ServiceLimits({ clock, random: clock.random, rate: 2 })
  const { client } = clientOf(origin, { limits })
  const start = clock.now()
  await clock.run(Promise.all(Array.from({ length: 6 }, () => client.call(safe))))
  expect(clock.now() - start).toBe(2000)
})

/** Answers so many requests in any second, and refuses the others without `Retry-After` unless headers are given. */
async function limited(perSecond: number, status: number, headers: Record<string, string> = {}) {
  const clock = new FakeClock()
  const came: { readonly at: number; readonly isRefused: boolean }[] = []
  let accepted: number[] = []
  const { origin } = await service(() => {
    const at = clock.now()
    accepted = accepted.filter((time) => time > at - 1000)
    const isRefused = accepted.length >= perSecond
    if (!isRefused) accepted.push(at)
    came.push({ at, isRefused })
    return isRefused ? { status, headers } : { status: 200 }
  })
  return { came, ...clientOf(origin, { clock }) }
}

it.each([
  ['150 concurrent calls', 150, 5, 429, {}],
  ['150 concurrent calls', 150, 20, 529, {}],
  ['150 concurrent calls', 150, 5, 429, { 'retry-after': '1' }],
  ['200 calls one after another', 1, 5, 429, {}],
  ['200 calls one after another', 1, 20, 503, {}],
  ['200 calls one after another', 1, 5, 529, { 'retry-after-ms': '800' }],
])(
  '%s (%i at once) succeed at 80 %% of %i allowed requests per second, after %i with %o',
  async (_what, atOnce, perSecond, status, headers) => {
    const { client, clock, came } = await limited(perSecond, status, headers)
    const calls = atOnce === 1 ? 200 : 150
    const start = clock.now()
    let left = calls
    const caller = async () => {
      while (left-- > 0) await client.call(safe)
    }
    await clock.run(Promise.all(Array.from({ length: atOnce }, caller)))
    expect(calls / ((clock.now() - start) / 1000)).toBeGreaterThanOrEqual(0.8 * perSecond)
    const later = came.filter(({ at }) => at > start + 5000)
    expect(later.filter(({ isRefused }) => isRefused).length).toBeLessThanOrEqual(0.05 * later.length)
  },
)

it('waits for a service that refuses requests until the deadline of the call, and names the refusal', async () => {
  const { client, clock, came } = await limited(0, 429)
  const start = clock.now()
  expect(await clock.run(failureOf(client.call(safe)))).toMatchObject({
    code: 'TIMEOUT_TOTAL',
    message: expect.stringContaining('the server answered 429'),
    cause: { code: 'HTTP_429' },
  })
  expect(came.length).toBeGreaterThan(10)
  expect(clock.now() - start).toBeGreaterThan(90_000)
})

it('gives up on a service that refuses requests for ten minutes if the call has no deadline', async () => {
  const { client, clock } = await limited(0, 529)
  const start = clock.now()
  expect(await clock.run(failureOf(client.call(safe, {}, { totalTimeout: false })))).toMatchObject({ code: 'HTTP_529' })
  expect(clock.now() - start).toBeGreaterThan(600_000)
})

it('refusals take no place from new calls in a full queue, and no retries', async () => {
  const { client, clock } = await limited(1, 429)
  await clock.run(Promise.all(Array.from({ length: 12 }, () => client.call(safe, {}, { totalTimeout: false }))))
  const { origin } = await service((_request, index) => ({ status: index % 2 === 0 ? 429 : 200 }))
  const other = clientOf(origin, { queueLimit: 0, clock })
  expect(await clock.run(other.client.call(safe))).toBeUndefined()
})

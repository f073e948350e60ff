import { expect, it } from 'vitest'
import { NetworkError } from '../../../src/errors.ts'
import { ConcurrencyLimiter } from '../../../src/net/limiter.ts'
import { ServiceLimits } from '../../../src/services/client/pacer.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { clientOf, operation, service } from './service.ts'

const safe = operation('safe', 'GET')
const FREE = { queueLimit: Number.POSITIVE_INFINITY }

it('lets 8 pass, the next in order when one leaves, urgent ones first', async () => {
  const gate = new ConcurrencyLimiter(new FakeClock())
  const entered: string[] = []
  for (let number = 0; number < 8; number++) expect(gate.tryEnter()).toBe(true)
  expect(gate.tryEnter()).toBe(false)
  const enter = (name: string, priority?: 'high') =>
    gate.enter(undefined, { ...FREE, ...(priority && { priority }) }).then(() => entered.push(name))
  const all = [enter('a'), enter('b'), enter('c', 'high')]
  for (let number = 0; number < 3; number++) gate.leave()
  await Promise.all(all)
  expect(entered).toEqual(['c', 'a', 'b'])
})

it('halves once within a second, and grows by one after as many successes as there are places', () => {
  const clock = new FakeClock()
  const gate = new ConcurrencyLimiter(clock)
  gate.refused(0)
  gate.refused(0)
  expect(gate.limit).toBe(4)
  clock.advance(1000)
  gate.refused(0)
  clock.advance(1000)
  gate.refused(0)
  clock.advance(1000)
  gate.refused(0)
  expect(gate.limit).toBe(1)
  for (let successes = 0; successes < 3; successes++) gate.succeeded()
  expect(gate.limit).toBe(3)
  for (let successes = 0; successes < 10_000; successes++) gate.succeeded()
  expect(gate.limit).toBe(64)
})

it('delays all calls while the service requests a pause', async () => {
  const clock = new FakeClock()
  const gate = new ConcurrencyLimiter(clock)
  gate.refused(5000)
  expect(gate.tryEnter()).toBe(false)
  let entered = false
  const waiting = gate.enter(undefined, FREE).then(() => {
    entered = true
  })
  clock.advance(4999)
  await Promise.resolve()
  expect(entered).toBe(false)
  clock.advance(1)
  await waiting
  expect(clock.pending()).toBe(0)
})

it('lets go of who is interrupted, and refuses more than may wait', async () => {
  const gate = new ConcurrencyLimiter(new FakeClock())
  for (let number = 0; number < 8; number++) gate.tryEnter()
  const caller = new AbortController()
  const waiting = failureOf(gate.enter(caller.signal, { queueLimit: 1 }))
  expect(await failureOf(gate.enter(undefined, { queueLimit: 1 }))).toMatchObject({ code: 'CONFIG_INVALID' })
  caller.abort(new NetworkError('TIMEOUT_TOTAL', 'late'))
  expect(await waiting).toMatchObject({ code: 'TIMEOUT_TOTAL' })
  expect(gate.depth).toBe(0)
})

it('lets in who comes to the queue when the rest is just over', async () => {
  const clock = new FakeClock()
  const gate = new ConcurrencyLimiter(clock)
  gate.refused(1000)
  expect(gate.tryEnter()).toBe(false)
  clock.advance(1000)
  await gate.enter(undefined, FREE)
  expect([gate.active, gate.depth, clock.pending()]).toEqual([1, 0, 0])
})

it('keeps no timer when the last one who waited has left', async () => {
  const clock = new FakeClock()
  const gate = new ConcurrencyLimiter(clock)
  gate.refused(5000)
  const both = [new AbortController(), new AbortController()] as const
  const waiting = both.map((one) => failureOf(gate.enter(one.signal, FREE)))
  both[0].abort(new NetworkError('TIMEOUT_TOTAL', 'late'))
  expect(clock.pending('wait')).toBe(1)
  both[1].abort(new NetworkError('TIMEOUT_TOTAL', 'late'))
  expect(clock.pending('wait')).toBe(0)
  await Promise.all(waiting)
})

it('rests no longer than a client waits, whatever the service says', async () => {
  const { origin } = await service((_request, index) =>
    index === 0 ? { status: 429, headers: { 'retry-after': '86400' } } : { status: 200 },
  )
  const { client, clock } = clientOf(origin, { maxRetryAfter: 5000 })
  expect(await failureOf(client.call(safe))).toMatchObject({ code: 'HTTP_429', retryAfterMs: 86_400_000 })
  const next = client.call(safe)
  await expect.poll(() => clock.pending('wait')).toBe(1)
  clock.advance(5000)
  expect(await next).toBeUndefined()
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

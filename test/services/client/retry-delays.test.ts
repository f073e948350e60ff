import { expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { clientOf, operation, service } from './service.ts'

const safe = operation('safe', 'GET')

async function waitsFor(status: number, headers: Record<string, string>, random: number, retries = 6): Promise<readonly number[]> {
  const { origin } = await service(() => ({ status, headers }))
  const { client, clock } = clientOf(origin, { clock: new FakeClock({ random }), retries })
  await clock.run(failureOf(client.call(safe)))
  return clock.waits.filter((wait) => wait > 0)
}

it.each([
  [500, 0, [100, 100, 100, 100, 100, 100]],
  [500, 0.5, [250, 500, 1000, 2000, 4000, 8000]],
  [504, 0.5, [250, 500, 1000, 2000, 4000, 8000]],
  [429, 0, [100, 100, 100, 100, 100, 100]],
  [529, 0.5, [200, 350, 575, 912.5, 1418.75, 2178.125]],
  [503, 0.5, [200, 350, 575, 912.5, 1418.75, 2178.125]],
])('waits longer and longer after %i at random %f', async (status, random, waits) => {
  expect(await waitsFor(status, {}, random)).toEqual(waits)
})

it('waits at most 20 s', async () => {
  expect(await waitsFor(500, {}, 0.999, 8)).toEqual([499.5, 999, 1998, 3996, 7992, 15_984, 19_980, 19_980])
  const pauses = await waitsFor(429, {}, 0.999, 8)
  expect([pauses[0], pauses.at(-1)]).toEqual([expect.closeTo(299.8), 20_000])
})

const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT'
it.each([
  ['seconds', { 'retry-after': '4' }, 4000],
  ['decimals', { 'retry-after': '1.5' }, 1500],
  ['nothing to wait', { 'retry-after': '0' }, 50],
  ['milliseconds first', { 'retry-after-ms': '120', 'retry-after': '9' }, 120],
  ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT', date: DATE }, 7000],
  ['a date by the clock of the server', { 'retry-after': 'Fri, 02 Jan 2026 00:00:07 GMT', date: 'Fri, 02 Jan 2026 00:00:00 GMT' }, 7000],
  ['a date that has passed', { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT', date: DATE }, 100],
  ['nonsense', { 'retry-after': 'soon', date: DATE }, 100],
  ['less than nothing', { 'retry-after': '-5', date: DATE }, 100],
])('keeps to %s', async (_what, headers, least) => {
  expect(await waitsFor(429, headers, 0, 1)).toEqual([least])
})

it('adds up to a tenth to what the server requests', async () => {
  expect(await waitsFor(429, { 'retry-after': '10' }, 0.5, 1)).toEqual([10_500])
})

it('gives up at once when the server requests more than is waited, or than is left', async () => {
  const { origin, exchanges } = await service((_request, index) => ({ status: 429, headers: { 'retry-after': index === 0 ? '61' : '30' } }))
  const { client, clock } = clientOf(origin)
  expect(await failureOf(client.call(safe))).toMatchObject({
    code: 'HTTP_429',
    name: 'RateLimitError',
    retryAfterMs: 61_000,
    attempts: 1,
    hint: 'Retry-After of 61 s is too long: try again later',
  })
  clock.advance(100_000)
  const late = await failureOf(client.call(safe, {}, { totalTimeout: 20_000 }))
  expect(late).toMatchObject({
    code: 'HTTP_429',
    retryAfterMs: 30_000,
    attempts: 1,
    hint: expect.stringMatching(/^Retry-After of 30 s is too long/),
  })
  expect(exchanges).toHaveLength(2)
})

it('does not begin a pause that ends after the deadline', async () => {
  const { origin, exchanges } = await service(() => ({ status: 500 }))
  const { client, clock } = clientOf(origin)
  const deadline = new Date(clock.now() + 600)
  const error = await clock.run(failureOf(client.call(safe, {}, { deadline })))
  expect(error).toMatchObject({ code: 'TIMEOUT_TOTAL', attempts: 2, cause: { code: 'HTTP_500' } })
  expect(exchanges).toHaveLength(2)
})

it('stops repeating when too much of the traffic are repetitions, until successes or time allow more', async () => {
  let broken = true
  const { origin, exchanges } = await service(() => (broken ? { status: 500 } : { status: 200 }))
  const { client, clock } = clientOf(origin, { clock: new FakeClock({ random: 0 }), retries: 4 })
  for (let calls = 0; calls < 2; calls++) await clock.run(failureOf(client.call(safe)))
  const third = await clock.run(failureOf(client.call(safe)))
  expect(exchanges).toHaveLength(13)
  expect(third).toMatchObject({ code: 'RETRY_BUDGET', name: 'RetryBudgetError', attempts: 3, cause: { code: 'HTTP_500' } })
  broken = false
  for (let calls = 0; calls < 10; calls++) await client.call(safe)
  broken = true
  expect(await clock.run(failureOf(client.call(safe)))).toMatchObject({ code: 'RETRY_BUDGET', attempts: 2 })
  clock.advance(15_000)
  expect(await clock.run(failureOf(client.call(safe)))).toMatchObject({ code: 'RETRY_BUDGET', attempts: 4 })
})

it.each([500, 503])('a used-up budget allows the retry of one %i after 15 s without calls', async (status) => {
  let failures = Number.POSITIVE_INFINITY
  const { origin } = await service(() => ({ status: failures-- > 0 ? (failures > 1000 ? 500 : status) : 200 }))
  const { client, clock } = clientOf(origin, { clock: new FakeClock({ random: 0 }), retries: 4 })
  for (let calls = 0; calls < 3; calls++) await clock.run(failureOf(client.call(safe)))
  expect(await clock.run(failureOf(client.call(safe)))).toMatchObject({ code: 'RETRY_BUDGET' })
  clock.advance(15_000)
  failures = 1
  expect(await clock.run(client.call(safe))).toBeUndefined()
})

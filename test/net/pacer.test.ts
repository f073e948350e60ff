import { expect, it } from 'vitest'
import { ConfigurationError, NetworkError } from '../../src/errors.ts'
import { Pacer } from '../../src/net/pacer.ts'
import { failureOf } from '../harness/failure.ts'
import { FakeClock } from '../harness/fake-clock.ts'

/** A pacer whose clock stands still until the test advances it. */
function paced() {
  const clock = new FakeClock()
  return { clock, pacer: new Pacer(clock, clock.random) }
}

const late = () => new NetworkError('TIMEOUT_TOTAL', 'late')

it('starts 8 requests, then the next in order: refused ones, urgent ones, others', async () => {
  const { pacer } = paced()
  for (let number = 0; number < 8; number++) expect(pacer.tryEnter()).toBe(true)
  expect(pacer.tryEnter()).toBe(false)
  const entered: string[] = []
  const enter = (name: string, priority?: 'again' | 'high') => pacer.enter(undefined, { priority }).then(() => entered.push(name))
  const all = [enter('a'), enter('b'), enter('c', 'high'), enter('d', 'again')]
  for (let number = 0; number < 4; number++) pacer.leave()
  await Promise.all(all)
  expect(entered).toEqual(['d', 'c', 'a', 'b'])
})

it('halves the concurrency once within a second, and raises it by one after as many successes, at most to 64', () => {
  const { clock, pacer } = paced()
  pacer.refused(0)
  for (const limit of [4, 2, 1, 1]) {
    pacer.refused(0)
    expect(pacer.limit).toBe(limit)
    clock.advance(1000)
  }
  for (let successes = 0; successes < 3; successes++) pacer.succeeded()
  expect(pacer.limit).toBe(3)
  for (let successes = 0; successes < 10_000; successes++) pacer.succeeded()
  expect(pacer.limit).toBe(64)
})

it('delays all requests during a pause, and keeps no timer afterwards', async () => {
  const { clock, pacer } = paced()
  pacer.refused(5000)
  expect(pacer.tryEnter()).toBe(false)
  let entered = false
  const waiting = pacer.enter(undefined).then(() => {
    entered = true
  })
  clock.advance(4999)
  await Promise.resolve()
  expect(entered).toBe(false)
  clock.advance(1)
  await waiting
  expect([pacer.active, pacer.depth, clock.pending()]).toEqual([1, 0, 0])
})

it('starts a request that comes when the pause is just over', async () => {
  const { clock, pacer } = paced()
  pacer.refused(1000)
  expect(pacer.tryEnter()).toBe(false)
  clock.advance(1000)
  await pacer.enter(undefined)
  expect([pacer.active, clock.pending()]).toEqual([1, 0])
})

it('rejects an interrupted request and one too many in the queue, but no refused one', async () => {
  const { pacer } = paced()
  for (let number = 0; number < 8; number++) pacer.tryEnter()
  const caller = new AbortController()
  const waiting = failureOf(pacer.enter(caller.signal, { queueLimit: 1 }))
  expect(await failureOf(pacer.enter(undefined, { queueLimit: 1 }))).toMatchObject({ code: 'CONFIG_INVALID' })
  const again = pacer.enter(undefined, { queueLimit: 1, priority: 'again' })
  caller.abort(late())
  expect(await waiting).toMatchObject({ code: 'TIMEOUT_TOTAL' })
  pacer.leave()
  await again
  expect(pacer.depth).toBe(0)
})

it('keeps no timer when the last request that waited has left', async () => {
  const { clock, pacer } = paced()
  pacer.refused(5000)
  const both = [new AbortController(), new AbortController()] as const
  const waiting = both.map((one) => failureOf(pacer.enter(one.signal)))
  both[0].abort(late())
  expect(clock.pending('wait')).toBe(1)
  both[1].abort(late())
  expect(clock.pending('wait')).toBe(0)
  await Promise.all(waiting)
})

it('rejects what waits when the quota is used up, and lets one request at a time check it', async () => {
  const { pacer } = paced()
  for (let number = 0; number < 8; number++) pacer.tryEnter()
  const waiting = failureOf(pacer.enter(undefined))
  pacer.exhaust(() => new ConfigurationError('CONFIG_INVALID', 'used up'))
  expect(await waiting).toMatchObject({ message: 'used up' })
  expect(() => pacer.tryEnter()).toThrow('used up')
  for (let number = 0; number < 8; number++) pacer.leave()
  expect(pacer.tryEnter()).toBe(true)
  pacer.succeeded()
  expect(pacer.tryEnter()).toBe(true)
})

import { expect, it } from 'vitest'
import { AuthError } from '../../../src/errors.ts'
import { enterBefore } from '../../../src/node/download/receive-body.ts'

/** A limiter whose slot comes, or is refused, when the test says so. */
function waitingLimiter() {
  let [resolve, reject]: [() => void, (error: unknown) => void] = [() => {}, () => {}]
  const promise = new Promise<void>((come, refuse) => {
    ;[resolve, reject] = [come, refuse]
  })
  const left: string[] = []
  const limiter = { enter: () => promise, leave: (origin: string) => void left.push(origin), succeeded: () => {}, refused: () => {} }
  return { limiter, left, resolve, reject }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))
const ORIGIN = 'https://data.example'

it('gives back a slot that comes after the leading request has ended', async () => {
  const { limiter, left, resolve } = waitingLimiter()
  expect(await enterBefore(Promise.resolve(), limiter, ORIGIN)).toBe(false)
  resolve()
  await settled()
  expect(left).toEqual([ORIGIN])
})

it('returns nothing where the slot is refused later: the limiter would count one request too few', async () => {
  const { limiter, left, reject } = waitingLimiter()
  expect(await enterBefore(Promise.resolve(), limiter, ORIGIN)).toBe(false)
  reject(new AuthError('NETWORK_FAILED', 'the queue is full'))
  await settled()
  expect(left).toEqual([])
})

it('keeps a slot that comes in time, and reports one that is refused', async () => {
  const never = new Promise<never>(() => undefined)
  const first = waitingLimiter()
  first.resolve()
  expect(await enterBefore(never, first.limiter, ORIGIN)).toBe(true)
  expect(first.left).toEqual([])
  const second = waitingLimiter()
  second.reject(new AuthError('NETWORK_FAILED', 'the queue is full'))
  await expect(enterBefore(never, second.limiter, ORIGIN)).rejects.toMatchObject({ code: 'NETWORK_FAILED' })
})

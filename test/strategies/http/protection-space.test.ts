import { expect, it } from 'vitest'
import { Realms } from '../../../src/strategies/http/challenge-response.ts'
import { ProtectionSpaces } from '../../../src/strategies/http/digest.ts'
import { failureOf } from '../../harness/failure.ts'

it('the latest thirty-two realms of an origin are kept', () => {
  const realms = new Realms<{ readonly name: string; readonly roots: readonly string[] }>()
  const keep = (index: number) => realms.keep({ name: `r${index}`, roots: [`https://data.example/${index}/`] })
  const at = (index: number) => realms.covering(`https://data.example/${index}/`)?.name
  for (let index = 1; index <= 32; index++) keep(index)
  expect([at(1), at(32)]).toEqual(['r1', 'r32'])
  keep(33)
  expect([at(1), at(2), at(33)]).toEqual([undefined, 'r2', 'r33'])
})

it('the thousand and twenty-four nonces used last are counted on', () => {
  const { nonces } = new ProtectionSpaces()
  const count = (nonce: string) => nonces.get('r', nonce).next()
  for (let index = 1; index <= 1024; index++) count(`n${index}`)
  expect(count('n1')).toBe('00000002')
  count('n1025')
  expect([count('n1'), count('n3'), count('n2')]).toEqual(['00000003', '00000002', '00000001'])
})

it('the lock of an origin is not held by who gave up waiting', async () => {
  const isDone = async (work: Promise<unknown>) => {
    const later = new Promise((resolve) => setTimeout(resolve, 0, 'later'))
    return (await Promise.race([work.then(() => 'done'), later])) === 'done'
  }
  const { lock } = new ProtectionSpaces()
  const first = await lock.enter(true)
  const abort = new AbortController()
  const waiting = [lock.enter(true, abort.signal), lock.enter(false, abort.signal)]
  const last = lock.enter(true)
  abort.abort()
  for (const work of waiting) expect(await failureOf(work)).toMatchObject({ code: 'ABORTED' })
  expect(await isDone(last)).toBe(false)
  first.leave()
  expect(await isDone(last)).toBe(true)
})

import { expect, it } from 'vitest'
import { RateMeter } from '../../../src/cli/download/progress.ts'

const after = (...samples: readonly (readonly [number, number])[]) => {
  const meter = new RateMeter()
  for (const [at, amount] of samples) meter.add(at, amount)
  return meter
}

it('measures the growth over the last ten seconds', () => {
  expect(after([0, 0], [1000, 500]).rate).toBe(500)
  const samples = Array.from({ length: 41 }, (_, second) => [second * 1000, second < 30 ? second * 10 : 300 + (second - 30) * 70] as const)
  expect(after(...samples).rate).toBe(70)
})

it('knows nothing from one look, and no negative rate when something begins anew', () => {
  expect(after().rate).toBe(0)
  expect(after([5, 100]).rate).toBe(0)
  expect(after([5, 100], [5, 200]).rate).toBe(0)
  expect(after([0, 100], [1000, 20]).rate).toBe(0)
})

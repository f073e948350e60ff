import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Registry } from '../../src/auth/create-engine.ts'
import type { Strategy } from '../../src/auth/strategy.ts'

it('keeps one strategy per type, however many request it at once', async () => {
  let loads = 0
  const load = async () => {
    loads += 1
    await pause(loads * 10)
    return { type: 'x-lab' } as Strategy
  }
  const registry = new Registry([{ type: 'x-lab', load }])
  const calls = [registry.load(['x-lab']), registry.load(['x-lab'])]
  await calls[0]
  const first = registry.get('x-lab')
  await calls[1]
  expect(loads).toBe(2)
  expect(first).toBeDefined()
  expect(registry.get('x-lab')).toBe(first)
  expect(registry.isPartial).toBe(false)
})

it('keeps the last strategy of a type, whether it is loaded or has to be', async () => {
  const named = (sendTo: string) => ({ type: 'x-lab', sendTo }) as unknown as Strategy
  const lazy = { type: 'x-lab', load: async () => named('lazy') }
  for (const [strategies, expected] of [
    [[lazy, named('eager')], named('eager')],
    [[named('eager'), lazy], named('lazy')],
  ] as const) {
    const registry = new Registry(strategies)
    expect(registry.types).toEqual(['x-lab'])
    await registry.load(['x-lab'])
    expect(registry.get('x-lab')).toEqual(expected)
  }
})

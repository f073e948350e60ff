import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createEngine, StrategyTable } from '../../src/auth/create-engine.ts'
import { apiKey, basic, openIdConnect } from '../../src/auth/credential.ts'
import type { Strategy } from '../../src/auth/strategy.ts'

it('keeps one strategy per type, however many request it at once', async () => {
  let loads = 0
  const load = async () => {
    loads += 1
    await pause(loads * 10)
    return { type: 'x-lab' } as Strategy
  }
  const strategies = new StrategyTable([{ type: 'x-lab', load }])
  const calls = [strategies.load(['x-lab']), strategies.load(['x-lab'])]
  await calls[0]
  const first = strategies.get('x-lab')
  await calls[1]
  expect(loads).toBe(2)
  expect(first).toBeDefined()
  expect(strategies.get('x-lab')).toBe(first)
  expect(strategies.isPending('x-lab')).toBe(false)
})

it('keeps the last strategy of a type, whether it is loaded or has to be', async () => {
  const named = (sendTo: string) => ({ type: 'x-lab', sendTo }) as unknown as Strategy
  const lazy = { type: 'x-lab', load: async () => named('lazy') }
  for (const [given, expected] of [
    [[lazy, named('eager')], named('eager')],
    [[named('eager'), lazy], named('lazy')],
  ] as const) {
    const strategies = new StrategyTable(given)
    expect(strategies.types).toEqual(['x-lab'])
    await strategies.load(['x-lab'])
    expect(strategies.get('x-lab')).toEqual(expected)
  }
})

it.each([
  [apiKey, 'apiKey'],
  [basic, 'http'],
  [openIdConnect, 'openIdConnect'],
])('names the strategy when the function that makes its credential is given', (helper, name) => {
  const create = () => createEngine({ credentials: [], strategies: [helper as unknown as Strategy] })
  expect(create).toThrow('strategies/0 is a function that makes a credential, not a strategy')
  expect(create).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', hint: `pass "${name}" of stac-auth/strategies` }))
})

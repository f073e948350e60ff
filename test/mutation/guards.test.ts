import { describe, expect, it } from 'vitest'
import { guardMutants } from '../../scripts/mutation/guard-mutants.ts'
import { GUARDS } from './guards.ts'

describe('the list of guards', () => {
  it('names each of them once, and each is at one place of its file', () => {
    expect(new Set(GUARDS.map(({ id }) => id)).size).toBe(GUARDS.length)
    expect(guardMutants(process.cwd()).problems).toEqual([])
  })
})

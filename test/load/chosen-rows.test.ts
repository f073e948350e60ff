import { expect, it } from 'vitest'
import { chosenRows } from './chosen-rows.ts'

const rows = { small: 1, kills: 2, tokens: 3 }

it('runs all rows of a load test, or those that are named, in their order', () => {
  expect(chosenRows(rows, [])).toEqual(Object.entries(rows))
  expect(chosenRows(rows, ['tokens', 'small'])).toEqual([
    ['small', 1],
    ['tokens', 3],
  ])
})

it.each(['smal', 'toString'])('refuses the unknown row %s instead of passing without a run', (name) => {
  expect(() => chosenRows(rows, ['small', name])).toThrow(`unknown row: ${name}. Rows: small, kills, tokens`)
})

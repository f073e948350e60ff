import { expect, it } from 'vitest'
import { sameBytes } from '../../src/crypto/encoding.ts'

it.each([
  [[], [], true],
  [[1, 2], [1, 2], true],
  [[1, 2], [1, 3], false],
  [[0, 2], [1, 2], false],
  [[1, 0], [1], false],
  [[1], [1, 0], false],
])('%j and %j: %s', (one, other, same) => {
  expect(sameBytes(Uint8Array.from(one), Uint8Array.from(other))).toBe(same)
})

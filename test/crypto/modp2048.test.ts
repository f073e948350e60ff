import { getDiffieHellman } from 'node:crypto'
import { expect, it } from 'vitest'
import { GROUP_BYTES, inverse, modularPower, natural, naturalBytes, ORDER, PRIME } from '../../src/crypto/modp2048.ts'

it('the prime is that of RFC 3526 §3', () => {
  expect(naturalBytes(PRIME, GROUP_BYTES)).toEqual(new Uint8Array(getDiffieHellman('modp14').getPrime()))
})

it('the prime passes the Fermat test as a safe prime', () => {
  expect(modularPower(3n, PRIME - 1n)).toBe(1n)
  expect(modularPower(2n, ORDER)).toBe(1n)
})

it('powers agree with the definition', () => {
  for (const [base, exponent] of [
    [2n, 1n],
    [3n, 5n],
    [2n, 2053n],
    [PRIME - 2n, 301n],
    [7n, 0n],
  ] as const) {
    expect(modularPower(base, exponent)).toBe(base ** exponent % PRIME)
  }
})

it('divides by everything but zero', () => {
  for (const value of [1n, 2n, 12345n, ORDER - 1n, ORDER + 7n, PRIME ** 2n]) expect((inverse(value) * value) % ORDER).toBe(1n)
})

it('takes numbers to bytes and back, in any length', () => {
  expect(natural(new Uint8Array())).toBe(0n)
  expect(natural(Uint8Array.of(0, 1, 2))).toBe(258n)
  expect([...naturalBytes(258n, 4)]).toEqual([0, 0, 1, 2])
  expect([...naturalBytes(0n, 2)]).toEqual([0, 0])
})

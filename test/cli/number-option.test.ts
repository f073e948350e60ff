import { describe, expect, it } from 'vitest'
import { byteCount, positive, wholeFrom } from '../../src/cli/options.ts'

describe('options that are numbers', () => {
  it.each([
    ['1', 1],
    ['500k', 500_000],
    ['2.5M', 2_500_000],
    ['1GB', 1_000_000_000],
    ['0.5k', 500],
  ])('reads %s as so many bytes', (text, bytes) => {
    expect(byteCount(text)).toBe(bytes)
  })

  it.each(['', '0', '-1', 'fast', '1T', '1 M', '1e6', '.5k', '0.1'])('takes "%s" for no number of bytes', (text) => {
    expect(() => byteCount(text)).toThrow('number of bytes')
  })

  it('keeps whole numbers whole, and others positive', () => {
    expect([wholeFrom(0)('0'), wholeFrom(1)('7'), positive('0.5')]).toEqual([0, 7, 0.5])
    for (const text of ['0', '1.5', '-1', '1e3', '']) expect(() => wholeFrom(1)(text)).toThrow('whole number from 1')
    for (const text of ['0', '0.0', '-1', 'x', '']) expect(() => positive(text)).toThrow('positive number')
  })
})

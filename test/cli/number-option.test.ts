import { describe, expect, it } from 'vitest'
import { byteCount, duration, partOf, perSecond, portNumber, seconds, wholeFrom } from '../../src/cli/options.ts'

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

  it('keeps whole numbers whole, and others above 0', () => {
    expect([wholeFrom(0)('0'), wholeFrom(1)('7'), perSecond('0.5')]).toEqual([0, 7, 0.5])
    for (const text of ['0', '1.5', '-1', '1e3', '']) expect(() => wholeFrom(1)(text)).toThrow('whole number from 1')
    for (const text of ['0', '0.0', '-1', 'x', '']) expect(() => perSecond(text)).toThrow('number from 0.000001')
  })

  it.each([
    [wholeFrom(0), '99999999999', 'a whole number from 0 to 999999999'],
    [wholeFrom(1, 99), '100', 'a whole number from 1 to 99'],
    [portNumber, '65536', 'a whole number from 1 to 65535'],
    [perSecond, '1000000.1', 'a number from 0.000001 to 1000000'],
    [perSecond, '9'.repeat(400), 'a number from 0.000001 to 1000000'],
    [seconds, '604801', 'a number from 0.001 to 604800'],
    [seconds, '0.0001', 'a number from 0.001 to 604800'],
    [byteCount, '1000001G', 'a number of bytes from 1 to 1000000G'],
    [duration, '1000001d', 'a duration from 0.001s to 1000000d'],
    [partOf, '1/1000000', 'I/N, such as 1/4, with I from 1 to N and N at most 999999'],
  ])('%o refuses %s with the range that is allowed', (parse, text, range) => {
    expect(() => parse(text)).toThrow(`it must be ${range}`)
  })

  it('accepts the ends of each range', () => {
    expect([perSecond('1000000'), perSecond('0.000001'), wholeFrom(0)('999999999')]).toEqual([1e6, 1e-6, 999_999_999])
    expect([byteCount('1000000G'), byteCount('1'), duration('1000000d'), duration('0.001s')]).toEqual([1e15, 1, 864e11, 1])
  })
})

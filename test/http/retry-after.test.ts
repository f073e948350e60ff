import { describe, expect, it } from 'vitest'
import { retryHint } from '../../src/net/retry.ts'

const NOW = Date.UTC(2026, 0, 1)
const hint = (fields: Readonly<Record<string, string>>) => retryHint(new Headers(fields), NOW)

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    [' 120 ', 120_000],
    ['0.5', 500],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
  ])('%j is a time', (text, expected) => expect(hint({ 'retry-after': text })).toBe(expected))

  it.each([
    '',
    'soon',
    '-1',
    '1e3',
    '0x10',
    '99999999999999',
    '2026-01-01',
    'Thu, 99 Foo 2026 00:00:05 GMT',
    'Wed, 31 Dec 2025 23:00:00 GMT',
  ])('%j is none', (text) => expect(hint({ 'retry-after': text })).toBeUndefined())

  it('Retry-After is undefined without the header', () => expect(hint({})).toBeUndefined())

  it('counts a date from the date of the answer', () => {
    const fields = { 'retry-after': 'Thu, 01 Jan 2026 01:00:05 GMT', date: 'Thu, 01 Jan 2026 01:00:00 GMT' }
    expect(hint(fields)).toBe(5_000)
    expect(hint({ ...fields, date: 'garbage' })).toBe(3_605_000)
  })

  it('gives way to milliseconds', () => expect(hint({ 'retry-after': '9', 'retry-after-ms': '20.5' })).toBe(20.5))
})

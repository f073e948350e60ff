import { describe, expect, it } from 'vitest'
import { retryAfter } from '../../src/http/retry-after.ts'

const NOW = Date.UTC(2026, 0, 1)

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    [' 120 ', 120_000],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
  ])('%j is a time', (text, expected) => expect(retryAfter(text, NOW)).toBe(expected))

  it.each([null, '', 'soon', '-1', '1e3', '99999999999', '2026-01-01', 'Thu, 99 Foo 2026 00:00:05 GMT'])('%j is none', (text) =>
    expect(retryAfter(text, NOW)).toBeUndefined(),
  )
})

import { describe, expect, it } from 'vitest'
import { endingWith, expiryOf } from '../../../src/strategies/signed-url/reuse.ts'

const NOW = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000
const END = NOW + HOUR
const A = 'https://data.example/f'

const policy = (end: unknown) =>
  btoa(JSON.stringify({ Statement: [{ Resource: '?>?>', Condition: { DateLessThan: { 'AWS:EpochTime': end } } }] }))
    .replaceAll('+', '-')
    .replaceAll('=', '_')
    .replaceAll('/', '~')

describe('the end of a signed URL', () => {
  it.each<[string, string, unknown]>([
    ['of Amazon', `${A}?X-Amz-Date=20260101T000000Z&X-Amz-Expires=3600`, {}],
    ['of Google', `${A}?X-Goog-Date=20260101T000000Z&X-Goog-Expires=3600`, {}],
    ['of Azure', `${A}?se=2026-01-01T01%3A00%3A00Z`, {}],
    ['in epoch seconds', `${A}?Expires=${END / 1000}`, {}],
    ['the key behind a signature of Azure', `${A}?se=2026-01-02T00%3A00%3A00Z&ske=2026-01-01T01%3A00%3A00Z`, {}],
    ['a policy of CloudFront', `${A}?Policy=${policy(END / 1000)}&Signature=x`, {}],
    ['msft:expiry', A, { 'msft:expiry': '2026-01-01T01:00:00Z' }],
    ['expires_at as a date', A, { expires_at: '2026-01-01T01:00:00Z' }],
    ['expires_at as a number', A, { expires_at: END / 1000 }],
    ['expires', A, { expires: String(END / 1000) }],
    ['expires_in', A, { expires_in: 3600 }],
    ['expires_in as a text', A, { expires_in: '3600' }],
    ['the earliest of several', `${A}?Expires=${END / 1000 + 9}`, { expires_in: 3600, expires_at: '2027-01-01' }],
  ])('the end of a signed URL is known by %s, and comes with a margin of 30 s', (_name, address, answer) => {
    expect(expiryOf(address, answer, NOW)).toEqual({ value: address, expiresAt: END, refreshAt: END - 30_000 })
  })

  it.each<[string, string, unknown]>([
    ['nothing', A, {}],
    ['a half', `${A}?X-Amz-Date=20260101T000000Z`, {}],
    ['nonsense', `${A}?se=soon&Expires=1e9&X-Amz-Date=x&X-Amz-Expires=y`, { expires: 'later', expires_in: 'abc' }],
    ['a policy that is none', `${A}?Policy=e30_&Expires=x`, {}],
    ['a policy without end', `${A}?Policy=${policy('soon')}`, {}],
    ['other types', A, { expires: {}, expires_at: [], expires_in: null, 'msft:expiry': true }],
    ['a life that is none', A, { expires_in: 0 }],
    ['a negative life', A, { expires_in: -5 }],
    ['NaN', A, { expires_in: Number.NaN, expires: Number.NaN }],
    ['members of the prototype', A, Object.create({ expires_in: 5 })],
  ])('the end of a signed URL is unknown with %s: kept five minutes', (_name, address, answer) => {
    expect(expiryOf(address, answer, NOW)).toEqual({ value: address, refreshAt: NOW + 300_000 })
  })

  it('the end of a signed URL is at most a year away by expires_in', () => {
    expect(expiryOf(A, { expires_in: 1e12 }, NOW).expiresAt).toBe(NOW + 31_536_000_000)
  })

  it('the end of a signed URL that is near is refreshed when half of it has passed', () => {
    expect(expiryOf(A, { expires_in: 20 }, NOW)).toEqual({ value: A, expiresAt: NOW + 20_000, refreshAt: NOW + 10_000 })
  })

  it('the end of a signed URL is that of the asset, where that comes first and is still to come', () => {
    const entry = expiryOf(A, { expires_in: 3600 }, NOW)
    expect(endingWith(entry, { expires: '2026-01-01T00:30:00Z' }, NOW)).toMatchObject({ expiresAt: NOW + HOUR / 2 })
    for (const expires of ['2026-01-01T02:00:00Z', '2025-01-01T00:00:00Z', 'soon', undefined]) {
      expect(endingWith(entry, { expires }, NOW)).toBe(entry)
    }
    expect(endingWith({ value: A }, { expires: '2026-01-01T01:00:00Z' }, NOW)).toMatchObject({ expiresAt: END })
  })
})

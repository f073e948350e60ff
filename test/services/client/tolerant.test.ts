import { expect, it } from 'vitest'
import { asBool, asDecimal, asDuration, asInstant, asInt, decodeRecord } from '../../../src/services/client/rest-resource.ts'

it.each([
  [asBool, [true, 1, '1', 'true'], true],
  [asBool, [false, 0, '0', 'false'], false],
  [asBool, [2, 'yes', '', null, {}], undefined],
  [asDecimal, ['12.50'], '12.50'],
  [asDecimal, [1e21], '1000000000000000000000'],
  [asDecimal, [0.1], '0.1'],
  [asDecimal, [Number.NaN, '1e3', '1,5', '', null], undefined],
  [asInt, [7, '7'], 7],
  [asInt, ['12345678901234567890'], 12345678901234567890n],
  [asInt, [1.5, 2 ** 53, '1.0', '', null], undefined],
  [asDuration, ['01:02:03'], 3_723_000],
  [asDuration, ['100:00:00'], 360_000_000],
  [asDuration, ['1:60:00', '90', 5], undefined],
] as const)('%o reads %o as %o', (read, values, expected) => {
  for (const value of values) expect(read(value)).toEqual(expected)
})

it.each(['2026-01-02T03:04:05+0200', '2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05Z'])('%s is the same instant', (text) => {
  expect(asInstant(text)?.epochMs).toBe(Date.UTC(2026, 0, 2, 1, 4, 5))
})

it('writes an instant with a colon, and refuses what has no zone or no such day', () => {
  expect(asInstant('2026-01-02T03:04:05+0200')?.iso).toBe('2026-01-02T03:04:05+02:00')
  for (const text of ['2026-01-02T03:04:05', '2026-13-02T03:04:05Z', 'today', 5]) expect(asInstant(text)).toBeUndefined()
})

it('leaves unknown fields, null and what does not fit as they came, and reports that', () => {
  const record = decodeRecord({ a: '1', b: null, c: 'maybe', x: { y: 1 } }, { a: asBool, b: asBool, c: asBool, d: asBool })
  expect(record).toEqual({ a: true, b: null, c: 'maybe', x: { y: 1 } })
  expect(record.decodeIssues).toEqual([{ field: 'c', message: 'has an unexpected value of type string' }])
  expect(JSON.stringify(record)).not.toContain('decodeIssues')
})

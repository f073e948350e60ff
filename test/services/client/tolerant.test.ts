import { expect, it } from 'vitest'
import { parseExactly, textOf } from '../../../src/services/client/exact-numbers.ts'
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

it.each([
  ['{"rate":12.30}', '12.30'],
  ['{"rate":0.12345678901234567890}', '0.12345678901234567890'],
  ['{"rate":-0.10,"note":"1.50 \\"0.10"}', '-0.10'],
  ['{"rate":1.5e3}', '1500'],
  ['{"rate":12.3}', '12.3'],
])('a decimal of %s keeps its digits', (json, expected) => {
  const parsed = parseExactly(json) as { readonly rate: unknown }
  expect(parsed).toEqual(JSON.parse(json))
  expect(decodeRecord(parsed, { rate: asDecimal }).rate).toBe(expected)
})

it.each(['90071992547409.93', '1234567.123456789012'])('a long decimal keeps its digits on both sides of the point: %s', (number) => {
  expect(decodeRecord(parseExactly(`{"rate":${number}}`) as object, { rate: asDecimal })).toEqual({ rate: number })
})

it('large ids keep their digits, also in lists, and the text of a service is never taken for a number', () => {
  const json = '[{"id":9007199254740993},{"id":7,"name":"9007199254740993","sizes":[1.0,2]}]'
  const [large, small] = parseExactly(json) as [object, { readonly sizes: object }]
  expect([large, small]).toEqual(JSON.parse(json))
  expect(decodeRecord(large, { id: asInt })).toEqual({ id: 9007199254740993n })
  expect([textOf(small, 'id'), textOf(small, 'name'), textOf(small.sizes, '0')]).toEqual([undefined, undefined, '1.0'])
  expect(() => parseExactly('{"a":1.0,}')).toThrow(SyntaxError)
})

it('a number without a reader stays a number, and is reported if it loses digits', () => {
  const parsed = parseExactly('{"a":9007199254740993,"b":7.50,"c":1e400,"d":0.10000000000000000,"e":100000000000000000000}') as object
  const record = decodeRecord(parsed, {})
  expect(record).toEqual({ a: 9007199254740992, b: 7.5, c: Number.POSITIVE_INFINITY, d: 0.1, e: 1e20 })
  expect(record.decodeIssues).toEqual([
    { field: 'a', message: 'a number cannot have all digits of 9007199254740993' },
    { field: 'c', message: 'a number cannot have all digits of 1e400' },
  ])
})

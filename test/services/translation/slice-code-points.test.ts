import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sliceCodePoints } from '../../../src/services/translation/quality/quality.ts'

describe('a span of code points', () => {
  it.each<[string, [number, number], string]>([
    ['Na 😀 du', [3, 4], '😀'],
    ['Na 😀 du', [5, 7], 'du'],
    ['😀😀', [0, 1], '😀'],
    ['abc', [1, 1], ''],
    ['abc', [1, 9], 'bc'],
    ['abc', [5, 9], ''],
    ['abc', [2, 1], ''],
    ['\ud83d!', [0, 1], '\ud83d'],
  ])('a span of code points of %j at %j is %j', (text, span, part) => {
    expect(sliceCodePoints(text, { start: span[0], end: span[1] })).toBe(part)
  })

  it('a span of code points is what an array of code points gives', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), fc.nat(20), (text, start, length) => {
        expect(sliceCodePoints(text, { start, end: start + length })).toBe([...text].slice(start, start + length).join(''))
      }),
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LastOrigin } from '../../src/http/last-origin.ts'

/** What parsers treat in a way of its own, and much that they leave as it is. */
const piece = fc.constantFrom(
  'a',
  'B',
  '.',
  '..',
  '/',
  '//',
  '%2e',
  '%2E',
  '%41',
  '%',
  '?',
  '#',
  '@',
  ':',
  '\\',
  "'",
  ' ',
  '\t',
  '|',
  'é',
  '"',
  '=1',
  '&',
  '8080',
)

describe('the origin of addresses that come one after the other', () => {
  it('is the one that a parser finds, whatever follows', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('https://a.example', 'http://127.0.0.1:8080', 'https://a.example:444'),
        fc.array(piece),
        (origin, pieces) => {
          const last = new LastOrigin()
          last.of(`${origin}/`)
          const url = origin + pieces.join('')
          if (URL.canParse(url)) expect(last.of(url)).toBe(new URL(url).origin)
          else expect(() => last.of(url)).toThrow(TypeError)
        },
      ),
    )
  })

  it('is given for plain addresses only, which a parser leaves as they are', () => {
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const last = new LastOrigin()
        last.of('https://a.example/')
        const url = `https://a.example/${pieces.join('')}`
        const plain = last.ofPlain(url)
        if (plain === undefined) return
        const { origin, pathname, search } = new URL(url)
        expect([plain, url.slice(plain.length)]).toEqual([origin, pathname + search])
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['https://a.example/items/1.json?limit=2', 'https://a.example'],
    ['https://a.example/a/../b', undefined],
    ['https://a.example/a/%2e%2E/b', undefined],
    ['https://a.example/a?', undefined],
    ['https://a.example/a#b', undefined],
    ['https://a.example.evil/a', undefined],
    ['https://a.example@evil.example/', undefined],
    ['https://a.example:444/', undefined],
  ])('of %s is %s', (url, expected) => {
    const last = new LastOrigin()
    last.of('https://a.example/')
    expect(last.ofPlain(url)).toBe(expected)
  })

  it('is not remembered where there is none', () => {
    const last = new LastOrigin()
    expect([last.of('file:///a'), last.of('s3://bucket/key'), last.of('https://a.example/')]).toEqual(['null', 'null', 'https://a.example'])
  })
})

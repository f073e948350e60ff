import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requestTarget } from '../../src/node/transport/undici-transport.ts'
import { addressPiece } from '../harness/address-piece.ts'
import { caseCount } from '../harness/case-count.ts'

describe('origin and path of a request', () => {
  it('origin and path of a request are those that a parser finds, whether the address is parsed or cut', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('https://a.example', 'http://127.0.0.1:8080', 'https://B.example'),
        fc.array(addressPiece),
        (origin, pieces) => {
          const url = `${origin}/${pieces.join('')}`
          const { origin: expected, pathname, search } = new URL(url)
          expect(requestTarget(url)).toEqual({ origin: expected, path: pathname + search })
        },
      ),
      { numRuns: caseCount(3000, 300) },
    )
  })

  it.each([
    ['https://a.example/items/1.json?limit=2', '/items/1.json?limit=2'],
    ['https://a.example/a/../b', '/b'],
    ['https://a.example/a/%2e%2E/b', '/b'],
    ['https://a.example/a?', '/a'],
    ['https://a.example/a#b', '/a'],
    ["https://a.example/a?b='c'", '/a?b=%27c%27'],
    ['https://a.example', '/'],
  ])('origin and path of a request of %s have the path %s', (url, path) => {
    requestTarget('https://a.example/')
    expect(requestTarget(url)).toEqual({ origin: 'https://a.example', path })
  })

  it.each(['https://a.example.evil/a', 'https://a.example@evil.example/', 'https://a.example:444/'])(
    'origin and path of a request of %s are not those before',
    (url) => {
      requestTarget('https://a.example/')
      expect(requestTarget(url).origin).toBe(new URL(url).origin)
    },
  )
})

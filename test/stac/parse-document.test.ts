import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAuthError } from '../../src/errors.ts'
import { scan, tooDeepAt } from '../../src/stac/json-text.ts'
import { parseDocument } from '../../src/stac/parse-document.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function refusal(source: string | Uint8Array) {
  try {
    parseDocument(source)
  } catch (error) {
    if (isAuthError(error)) return error
    throw error
  }
  throw new Error('the document was accepted')
}

/** `levels` objects inside each other, each under the name `a`. */
const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`

describe('parseDocument', () => {
  it('reads text and bytes, with and without a byte order mark', () => {
    const document = { type: 'Catalog', links: [] }
    const text = JSON.stringify(document)
    for (const source of [text, `\ufeff${text}`, bytes(text), bytes(`\ufeff${text}`)]) expect(parseDocument(source)).toEqual(document)
  })

  it('keeps __proto__ an ordinary member', () => {
    const document = parseDocument('{"auth:schemes":{"__proto__":{"type":"s3"}}}')
    expect(Object.keys(document['auth:schemes'] as object)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>).type).toBeUndefined()
  })

  it('refuses bytes that are not UTF-8', () => {
    expect(refusal(Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d)).code).toBe('DOC_NOT_UTF8')
  })

  it('reports where JSON breaks off, in bytes and lines, and never quotes it', () => {
    const error = refusal(bytes('{\n "ü": "hunter2",\n "links": [1, 2'))
    expect(error.code).toBe('DOC_NOT_JSON')
    expect(error.message).toContain('line 3, column 16 (byte 35)')
    expect(error.message + String(error.cause)).not.toContain('hunter2')
  })

  it('takes a web page for what it is', () => {
    expect(refusal('<!doctype html><html><body>login</body></html>')).toMatchObject({
      code: 'DOC_NOT_JSON',
      hint: expect.stringContaining('login'),
    })
  })

  it.each(['[]', '"x"', '1', 'null'])('refuses %s, which is not an object', (text) => {
    expect(refusal(text).code).toBe('DOC_NOT_JSON')
  })

  it('accepts 64 levels and refuses the 65th, at a pointer cut at the limit', () => {
    expect(parseDocument(nested(64))).toHaveProperty('a')
    expect(refusal(nested(65))).toMatchObject({ code: 'DOC_TOO_DEEP', pointer: '/a'.repeat(64) })
    expect(refusal(`{"l~/":[0,{"x":1},${nested(70)}]}`).pointer).toBe(`/l~0~1/2${'/a'.repeat(62)}`)
  })

  it('refuses 20,000 levels', () => {
    const text = nested(20_000)
    expect(refusal(text).code).toBe('DOC_TOO_DEEP')
  })

  it('refuses too deep text even when it never ends', () => {
    expect(refusal('{"a":'.repeat(100_000)).code).toBe('DOC_TOO_DEEP')
  })

  it('parseDocument holds items to 5 MiB and everything else to 50 MiB of UTF-8', () => {
    const filler = 'x'.repeat(5 * 1024 * 1024)
    expect(parseDocument(JSON.stringify({ type: 'Catalog', filler })).type).toBe('Catalog')
    expect(refusal(JSON.stringify({ type: 'Feature', filler })).code).toBe('DOC_TOO_LARGE')
    expect(refusal(new Uint8Array(50 * 1024 * 1024 + 1)).code).toBe('DOC_TOO_LARGE')
    expect(refusal('ü'.repeat(26 * 1024 * 1024)).code).toBe('DOC_TOO_LARGE')
  })

  it('parseDocument holds each document to 1,000 schemes and 100,000 links', () => {
    const schemes = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, { type: 's3' }]))
    expect(parseDocument(JSON.stringify({ 'auth:schemes': schemes(1000) }))).toHaveProperty('auth:schemes')
    const item = { type: 'Feature', properties: { 'auth:schemes': schemes(1001) } }
    expect(refusal(JSON.stringify(item))).toMatchObject({ code: 'DOC_TOO_MANY', pointer: '/properties/auth:schemes' })
    const wrapper = { type: 'FeatureCollection', features: [{}, item] }
    expect(refusal(JSON.stringify(wrapper)).pointer).toBe('/features/1/properties/auth:schemes')
    const links = Array.from({ length: 100_001 }, () => 0)
    expect(refusal(JSON.stringify({ links }))).toMatchObject({ code: 'DOC_TOO_MANY', pointer: '/links' })
  })

  it('names the URL it was given, without its query', () => {
    expect(() => parseDocument('x', { url: 'https://a.example/i?token=1' })).toThrow(
      expect.objectContaining({ url: 'https://a.example/i' }),
    )
  })
})

describe('firstSyntaxError', () => {
  it.each([
    ['', 0],
    ['  ', 2],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['[1 2]', 3],
    ['[1}', 2],
    ['[01]', 2],
    ['{"a":tru}', 5],
    ['"a\tb"', 2],
    ['"\\x"', 1],
    ['"abc', 4],
    ['{} x', 3],
    ['{}{}', 2],
    ['[1,', 3],
    ['{"a":.5}', 5],
    ['[-]', 1],
    ['\u00a0{}', 0],
  ])('finds the first wrong token of %j', (text, offset) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(scan(text)).toBe(offset)
  })

  it.each(['{', '[[', '{"a":{"b":1', '["a', '{"a":"\\"'])('ends in %j also where containers are passed over', (text) => {
    expect(() => scan(text, { enter: () => false })).not.toThrow()
  })

  it('points into every text that JSON.parse refuses, and past its valid start', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.nat(), fc.constantFrom('', '}', ',', ':', '"', '\\', 'x'), (json, seed, insert) => {
        const at = seed % (json.length + 1)
        const text = json.slice(0, at) + insert + (insert === '' ? '' : json.slice(at))
        try {
          JSON.parse(text)
        } catch {
          const offset = scan(text)
          expect(offset).toBeGreaterThanOrEqual(0)
          expect(offset).toBeLessThanOrEqual(text.length)
        }
      }),
    )
  })
})

describe('tooDeepAt', () => {
  it('agrees with a walk over the parsed value, whatever the strings hold', () => {
    const depth = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 1, max: 5 }), (json, limit) => {
        const found = tooDeepAt(json, limit)
        expect(found !== undefined).toBe(depth(JSON.parse(json)) > limit)
        if (found !== undefined) expect(found.split('/')).toHaveLength(limit + 1)
      }),
    )
  })
})

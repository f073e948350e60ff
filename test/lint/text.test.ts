import { describe, expect, it } from 'vitest'
import { lintText } from '../../src/lint/index.ts'
import { locate } from '../../src/lint/pointer.ts'
import { scan } from '../../src/stac/json-text.ts'
import { caseCount } from '../harness/case-count.ts'
import { EXTENSION } from '../harness/documents.ts'

/** A Catalog whose only link has this `auth:refs` and this scheme map. */
function catalog(schemes: unknown, refs: unknown = ['key']): Record<string, unknown> {
  return {
    type: 'Catalog',
    id: 'root',
    stac_extensions: [EXTENSION],
    'auth:schemes': schemes,
    links: [{ rel: 'item', href: 'https://data.example/', 'auth:refs': refs }],
  }
}

const KEY = { key: { type: 'apiKey', name: 'x-api-key', in: 'header' } }
const only = (source: string | Uint8Array) =>
  lintText(source).map(({ code, severity, pointer, line, column }) => ({ code, severity, pointer, line, column }))

describe('positions', () => {
  it('positions count lines and UTF-16 columns from one, with the end behind the value', () => {
    const text =
      '{\n  "type": "Catalog", "id": "🛰",\r\n  "stac_extensions": ["https://stac-extensions.github.io/authentication/v1.1.0/schema.json"],\n  "auth:schemes": {"k": {"type": "s3"}}, "links": [{"title": "🛰", "href": "s3://b/k", "auth:refs": ["x"]}]\n}'
    const [problem] = lintText(text, { document: 'catalog.json' }).filter(({ code }) => code === 'dangling-ref')
    const line = text.split('\n')[3] ?? ''
    const column = line.indexOf('"x"') + 1
    expect(problem).toEqual({
      rule: 'dangling-ref',
      code: 'dangling-ref',
      severity: 'error',
      message: 'auth:refs names "x", which auth:schemes does not define: define it, or correct the name (did you mean "k"?)',
      document: 'catalog.json',
      id: '🛰',
      pointer: '/links/0/auth:refs/0',
      line: 4,
      column,
      endLine: 4,
      endColumn: column + 3,
      fix: 'suggestion',
    })
  })

  it('positions take the object that lacks a member, and the later one of two', () => {
    const text = '{"a":{"b":1},\n"a":{"c":2}}'
    expect(locate(text, ['/a/c', '/a/missing', '/gone/deep']).get('/a/c')).toEqual({ line: 2, column: 10, endLine: 2, endColumn: 11 })
    expect(locate(text, ['/a/missing']).get('/a/missing')).toEqual({ line: 2, column: 5, endLine: 2, endColumn: 12 })
    expect(locate(text, ['/gone/deep']).get('/gone/deep')).toEqual({ line: 1, column: 1, endLine: 2, endColumn: 13 })
  })

  it('positions read escaped names', () => {
    expect(locate('{"a\\u002fb~":[1]}', ['/a~1b~0/0']).get('/a~1b~0/0')).toMatchObject({ line: 1, column: 15 })
  })

  it('start at the line that the caller names', () => {
    const [problem] = lintText(JSON.stringify(catalog(KEY, 'key')), { line: 7 })
    expect(problem).toMatchObject({ code: 'refs-shape', line: 7, endLine: 7 })
  })
})

describe('bytes', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)

  it('bytes pass over a byte order mark without counting it', () => {
    const text = JSON.stringify(catalog(KEY, ['gone']))
    expect(only(bytes(`\ufeff${text}`))).toEqual(only(text))
    expect(only(`\ufeff${text}`)).toEqual(only(text))
  })

  it('bytes that are no UTF-8 are not JSON', () => {
    expect(lintText(new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]))).toMatchObject([
      { code: 'not-json', message: 'the text is not encoded in UTF-8: save it as UTF-8', line: 1 },
    ])
  })
})

describe('text that is not JSON', () => {
  it.each([
    ['<!doctype html><p>token=abc</p>', 0, 1],
    ['{"type":"Cat', 12, 13],
    ['{"é":1,}', 8, 8],
    ['{} x', 3, 4],
    ['[1,2', 4, 5],
    ['{"a":01}', 6, 7],
    ['"\u0001"', 1, 2],
    ['', 0, 1],
  ])('%j fails at byte %i', (text, byte, column) => {
    const [problem, ...others] = lintText(text)
    expect(others).toEqual([])
    expect(problem).toMatchObject({ code: 'not-json', severity: 'error', pointer: '', line: 1, column })
    expect(problem?.message).toContain(`(at byte ${byte})`)
    expect(problem?.message).not.toContain('token')
  })

  it('text that is not JSON is told by what is wrong with it', () => {
    const said = (text: string) => lintText(text)[0]?.message
    expect(said("{'a': 1}")).toMatch(/names need double quotes.*comments/)
    expect(said('{"a":1}\n{"a":2}\n')).toMatch(/this looks like NDJSON/)
    expect(said('\n<!doctype html>')).toMatch(/this looks like a web page/)
    expect(said('type: Feature\nid: a\n')).toMatch(/YAML and other formats are not read/)
    for (const word of ['NaN', 'Infinity', '-Infinity', '-NaN'])
      expect(said(`{"bbox":[0, ${word}]}`), word).toMatch(/JSON has no NaN and no Infinity/)
    expect(said('{"a":1}\nx')).not.toContain('NDJSON')
    expect(said('\n{"a":1}\n{"a":2}')).not.toContain('NDJSON')
  })

  it('text that is not JSON is refused by the scanner exactly when the parser refuses it', () => {
    const pieces = ['{', '}', '[', ']', ',', ':', '"a"', '"\\u00e9"', '"\\x"', '1', '-', '0.5', '1e', 'true', 'nul', ' ', '\n', '"', '\\']
    let state = 42
    const next = (limit: number) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % limit
    for (let left = caseCount(20_000, 4_000); left > 0; left--) {
      const text = Array.from({ length: 1 + next(9) }, () => pieces[next(pieces.length)]).join('')
      let valid = true
      try {
        JSON.parse(text)
      } catch {
        valid = false
      }
      expect(scan(text) === undefined, text).toBe(valid)
    }
  })
})

describe('limits', () => {
  it.each([
    ['lists', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ])('limits of depth are reported for %s 20,000 deep, with a short pointer', (_, text) => {
    const problems = lintText(text)
    expect(problems).toMatchObject([
      { code: 'document-limit', severity: 'error', message: 'the document is nested deeper than 64 levels, so it was not checked' },
    ])
    expect(problems[0]?.pointer.split('/')).toHaveLength(65)
  })

  it('limits of depth let 64 levels pass', () => {
    const deep = (levels: number) => JSON.stringify({ ...catalog(KEY), x: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) })
    expect(only(deep(63))).toEqual([])
    expect(only(deep(64))).toMatchObject([{ code: 'document-limit' }])
  })

  it('limits of size are those of an Item and of everything else', () => {
    const item = JSON.stringify({ type: 'Feature', properties: {}, title: 'é'.repeat(2.7 * 2 ** 20) })
    expect(only(item)).toMatchObject([{ code: 'document-limit', pointer: '' }])
    expect(only(item.replace('Feature', 'Catalog'))).toEqual([])
    expect(only(' '.repeat(50 * 2 ** 20 + 1))).toMatchObject([{ code: 'document-limit' }])
  })

  it('limits of number stop at 1,000 schemes and 100,000 links', () => {
    const schemes = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`k${index}`, { type: 5 }]))
    expect(only(JSON.stringify(catalog(schemes)))).toMatchObject([{ code: 'document-limit', pointer: '/auth:schemes' }])
    const links = Array.from({ length: 100_001 }, () => ({ href: 'x', 'auth:refs': 'key' }))
    expect(only(JSON.stringify({ ...catalog(KEY), links }))).toMatchObject([{ code: 'document-limit', pointer: '/links' }])
  })

  it('limits of findings keep 1,000 and tell how many there are more', () => {
    const links = Array.from({ length: 5000 }, () => ({ href: 'x', 'auth:refs': 'key' }))
    const problems = lintText(JSON.stringify({ ...catalog(KEY), links }))
    expect(problems).toHaveLength(1000)
    expect(problems.find(({ code }) => code === 'document-limit')).toMatchObject({
      severity: 'error',
      message: '4001 further findings are not listed',
    })
  })
})

describe('names that stand twice', () => {
  it('names that stand twice are reported where the later one stands, which is the one that counts', () => {
    const text = JSON.stringify(catalog({ key: KEY.key, kez: { ...KEY.key, name: 'Cookie' } })).replace('"kez"', '"key"')
    expect(only(text).map(({ code, severity, pointer }) => `${severity} ${code} ${pointer}`)).toEqual([
      'warn duplicate-key /auth:schemes/key',
      'error apikey-name /auth:schemes/key/name',
    ])
  })
})

describe('names of prototypes', () => {
  it('names of prototypes are names like others, and never found by accident', () => {
    const text = JSON.stringify(catalog(KEY, ['toString', 'hasOwnProperty', '__proto__', 'constructor'])).replace('"key":', '"__proto__":')
    expect(only(text).map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      'scheme-name /auth:schemes/__proto__',
      'dangling-ref /links/0/auth:refs/0',
      'dangling-ref /links/0/auth:refs/1',
      'dangling-ref /links/0/auth:refs/3',
    ])
  })
})

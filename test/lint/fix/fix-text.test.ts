import { describe, expect, it } from 'vitest'
import { fixText } from '../../../src/lint/fix/fix-text.ts'
import { JsonText } from '../../../src/stac/json-text.ts'
import { EXTENSION } from '../../harness/documents.ts'

const KEY = { type: 'apiKey', name: 'x-api-key', in: 'header' }

function catalogWith(links: readonly object[], schemes: object = { key: KEY }): object {
  return {
    type: 'Catalog',
    stac_version: '1.1.0',
    stac_extensions: [EXTENSION],
    id: 'root',
    description: '',
    links,
    'auth:schemes': schemes,
  }
}

const linkTo = (...refs: unknown[]) => ({ rel: 'item', href: 'https://data.example/', 'auth:refs': refs })

describe('fixes', () => {
  it('fixes that touch each other are applied one after the other', () => {
    const { text, fixed } = fixText(JSON.stringify(catalogWith([linkTo('key', 'key', 'key', 'key')])))
    expect(JSON.parse(text)).toEqual(catalogWith([linkTo('key')]))
    expect(fixed).toHaveLength(3)
  })

  it('fixes that lead to more errors are taken back, and the others stay', () => {
    // As an API key it would lack two fields; as what it is it has one mistake.
    const schemes = { key: { ...KEY, in: 'Header' }, other: { type: 'apikey' } }
    const { text, fixed } = fixText(JSON.stringify(catalogWith([linkTo('key', 'key'), linkTo('other')], schemes)), { suggestions: true })
    expect(JSON.parse(text)).toEqual(catalogWith([linkTo('key'), linkTo('other')], { key: KEY, other: { type: 'apikey' } }))
    expect(fixed.map(({ code }) => code).sort()).toEqual(['apikey-in', 'duplicate-ref'])
  })

  it('fixes that would change nothing are not said to have been made', () => {
    const flow = (tokenUrl: string) => ({ key: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: {} } } } })
    const fix = (tokenUrl: string) => fixText(JSON.stringify(catalogWith([linkTo('key')], flow(tokenUrl))), { suggestions: true })
    expect(fix('http:token.example/token')).toMatchObject({ fixed: [] })
    expect(fix('http://token.example:80/token')).toMatchObject({ fixed: [{ code: 'insecure-endpoint' }] })
    expect(fix('http://token.example:80/token').text).toContain('"https://token.example/token"')
  })

  it('fixes are made in the object that counts when a name occurs twice', () => {
    const text = JSON.stringify(catalogWith([linkTo('key')])).replace('"auth:refs":["key"]', '"auth:refs":["key","key"],"auth:refs":"key"')
    expect(fixText(text).text).toContain('"auth:refs":["key","key"],"auth:refs":["key"]')
  })

  it('reach documents in documents', () => {
    const page = { type: 'FeatureCollection', features: [], collections: [], links: [] }
    const text = JSON.stringify([catalogWith([linkTo('key', 'key')]), page, catalogWith([linkTo('kye')])])
    expect(JSON.parse(fixText(text, { suggestions: true }).text)).toEqual([
      catalogWith([linkTo('key')]),
      page,
      catalogWith([linkTo('key')]),
    ])
  })

  it.each(['', '{', '[1,2', '"x"', 'null', '{"type":"Catalog"}', '\ufeff{}'])('fixes leave %j unchanged', (text) => {
    expect(fixText(text, { suggestions: true })).toEqual({ text, fixed: [] })
  })

  it('declare the version that has what is used', () => {
    const chained = { key: { ...KEY, 'auth:refs': ['other'] }, other: { type: 'http', scheme: 'bearer' } }
    const declared = (schemes: object) =>
      JSON.parse(fixText(JSON.stringify({ ...catalogWith([linkTo('key')], schemes), stac_extensions: [] })).text)
    expect(declared({ key: KEY }).stac_extensions).toEqual([EXTENSION])
    expect(declared(chained).stac_extensions).toEqual([EXTENSION.replace('1.1.0', '1.2.0')])
    for (const wrong of [EXTENSION.replace('1.1.0', '1.9.0'), EXTENSION.replace('v1.1.0', 'main').replace('https:', 'http:')]) {
      const corrected = (schemes: object) => {
        const document = { ...catalogWith([linkTo('key')], schemes), stac_extensions: [wrong] }
        return JSON.parse(fixText(JSON.stringify(document), { suggestions: true }).text).stac_extensions
      }
      expect(corrected({ key: KEY })).toEqual([EXTENSION])
      expect(corrected(chained)).toEqual([EXTENSION.replace('1.1.0', '1.2.0')])
    }
  })

  it('fixes replace an HTTP authentication scheme that was used as a type', () => {
    const { text } = fixText(JSON.stringify(catalogWith([linkTo('key')], { key: { type: 'bearer' } })), { suggestions: true })
    expect(JSON.parse(text)['auth:schemes'].key).toEqual({ type: 'http', scheme: 'bearer' })
  })
})

describe('unused schemes', () => {
  const document = (links: readonly object[]) =>
    JSON.stringify({ type: 'Catalog', stac_version: '1.1.0', id: 'c', description: 'd', 'auth:schemes': { old: { type: 's3' } }, links })
  const countFixed = (text: string, usedElsewhere?: () => boolean) =>
    fixText(text, { suggestions: true, only: ['unused-scheme'], ...(usedElsewhere && { usedElsewhere }) }).fixed.length

  it('unused schemes stay in a document with others below it, unless those are known not to use them', () => {
    const children = document([{ rel: 'child', href: './a.json' }])
    expect([
      countFixed(document([])),
      countFixed(children),
      countFixed(children, () => false),
      countFixed(document([]), () => true),
    ]).toEqual([1, 0, 1, 0])
  })

  it('the last unused scheme goes with auth:schemes and the declaration, unless references remain', () => {
    const declared = ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json']
    const catalog = { type: 'Catalog', stac_version: '1.1.0', stac_extensions: declared, id: 'c', description: 'd', links: [] }
    const fixedOf = (value: object) => {
      const { text } = fixText(JSON.stringify(value), { suggestions: true, only: ['unused-scheme'] })
      return JSON.parse(text)
    }
    const two = { old: { type: 's3' }, older: { type: 's3' } }
    expect(fixedOf({ ...catalog, 'auth:schemes': two })).toEqual({ ...catalog, stac_extensions: [] })
    const links = [{ rel: 'about', href: './a.html', 'auth:refs': ['new'] }]
    expect(fixedOf({ ...catalog, links, 'auth:schemes': { old: { type: 's3' } } })['auth:schemes']).toEqual({})
    expect(fixedOf({ ...catalog, links, 'auth:schemes': { ...two, new: { type: 's3' } } })['auth:schemes']).toEqual({ new: { type: 's3' } })
  })

  it('unused schemes stay in a text that begins with two byte order marks, which is not JSON', () => {
    expect(countFixed(`\ufeff\ufeff${document([])}`)).toBe(0)
  })
})

describe('edits', () => {
  const edited = (text: string, edit: (json: JsonText) => ReturnType<JsonText['remove']>) =>
    [...(edit(new JsonText(text)) ?? [])]
      .sort((one, other) => other.start - one.start)
      .reduce((result, { start, end, text: put }) => result.slice(0, start) + put + result.slice(end), text)

  it.each([
    ['{"a":1}', '{"a":1,"b":[1,2]}'],
    ['{ "a": 1 }', '{ "a": 1, "b": [1,2] }'],
    ['{}', '{"b":[1,2]}'],
    ['{\n  "a": 1\n}', '{\n  "a": 1,\n  "b": [\n    1,\n    2\n  ]\n}'],
    ['{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"b": [\r\n\t\t1,\r\n\t\t2\r\n\t]\r\n}'],
  ])('edits add a member to %j as its neighbours are written', (text, expected) => {
    expect(edited(text, (json) => json.insert('', 'b', [1, 2]))).toBe(expected)
  })

  it('edits add to what is empty one level deeper', () => {
    expect(edited('{\n    "a": {}\n}\n', (json) => json.insert('/a', 'b', 1))).toBe('{\n    "a": {\n        "b": 1\n    }\n}\n')
    expect(edited('{\n  "a": []\n}\n', (json) => json.push('/a', 'b'))).toBe('{\n  "a": [\n    "b"\n  ]\n}\n')
  })

  it.each([
    ['/a', '{ "b": [1, 2, 3], "c": 1 }'],
    ['/b', '{ "a": { }, "c": 1 }'],
    ['/c', '{ "a": { }, "b": [1, 2, 3] }'],
    ['/b/0', '{ "a": { }, "b": [2, 3], "c": 1 }'],
    ['/b/2', '{ "a": { }, "b": [1, 2], "c": 1 }'],
  ])('edits take out %s with its comma', (pointer, expected) => {
    expect(edited('{ "a": { }, "b": [1, 2, 3], "c": 1 }', (json) => json.remove(pointer))).toBe(expected)
  })

  it('edits take out the only one', () => {
    expect(edited('{"a": [ 1 ]}', (json) => json.remove('/a/0'))).toBe('{"a": []}')
    expect(edited('{ "a": 1 }', (json) => json.remove('/a'))).toBe('{}')
  })

  it('edits refuse what is not there, or there already', () => {
    const json = new JsonText('{"a":{"b":1},"c":[]}')
    expect([json.remove('/x'), json.remove(''), json.rename('/a', 'c'), json.rename('/c/0', 'x'), json.insert('/c', 'x', 1)]).toEqual(
      Array(5).fill(undefined),
    )
    expect([json.insert('/a', 'b', 2), json.push('/a', 1), json.nest('/c', 'x'), json.replace('/x', 1), json.wrap('/x')]).toEqual(
      Array(5).fill(undefined),
    )
  })

  it('edits know names with escapes and slashes', () => {
    expect(edited('{"a/b\\u0063":{"~":1}}', (json) => json.rename('/a~1bc/~0', 'x"'))).toBe('{"a/b\\u0063":{"x\\"":1}}')
  })
})

import { describe, expect, it } from 'vitest'
import { alternateOf, assetOf, findAlternate, findAsset, linkOf, refPointer, type Target, targetsOf } from '../../src/stac/target.ts'
import { asset, catalog, collection, found, item, type Json } from '../harness/documents.ts'
import { thrownBy } from '../harness/failure.ts'

const A = 'https://a.example/f.tif'
const summary = ({ kind, pointer, refs }: Target) => [kind, pointer, refs]
const refsOf = (refs: unknown) => found(assetOf(item({}, { data: asset(A, refs) }), 'data')).refs

describe('the targets of a document', () => {
  it('the targets of a document are assets with alternates, item assets and links, in this order', () => {
    const alternate = { s3: { href: 's3://b/k', 'auth:refs': ['z'] } }
    const document = collection(
      {},
      {
        links: [{ rel: 'self', href: A }, 'odd', { rel: 'next', href: A, 'auth:refs': ['n'] }],
        item_assets: { i: { 'auth:refs': ['i'], alternate } },
        assets: { 'a/b~c': asset(A, ['a'], { alternate }), odd: 5 },
      },
    )
    expect([...targetsOf(document)].map(summary)).toEqual([
      ['asset', '/assets/a~1b~0c', ['a']],
      ['alternate', '/assets/a~1b~0c/alternate/s3', ['z']],
      ['item_asset', '/item_assets/i', ['i']],
      ['item_asset', '/item_assets/i/alternate/s3', ['z']],
      ['link', '/links/0', []],
      ['link', '/links/2', ['n']],
    ])
  })

  it('the targets of a wrapper are its links and those of each document inside, whose parent it is', () => {
    const inner = item({}, { data: asset('f.tif', ['k']) })
    const wrapper = { type: 'FeatureCollection', features: [inner, null, 5], links: [{ rel: 'next', href: A }] }
    const targets = [...targetsOf(wrapper, { url: 'https://a.example/items', parents: [catalog({})] })]
    expect(targets.map(summary)).toEqual([
      ['link', '/links/0', []],
      ['asset', '/features/0/assets/data', ['k']],
    ])
    expect(targets[1]?.scope).toMatchObject({
      at: '/features/0',
      url: 'https://a.example/items',
      parents: [{ document: wrapper }, { document: { type: 'Catalog' } }],
    })
    const collections = { collections: [collection({}, { assets: { c: asset(A) } })] }
    expect([...targetsOf(collections)].map(({ pointer }) => pointer)).toEqual(['/collections/0/assets/c'])
  })

  it.each<Json>([
    {},
    { assets: [], links: {} },
    { type: 'Feature', assets: null },
    { type: 'FeatureCollection' },
    { type: 'FeatureCollection', features: {} },
    { assets: { a: { alternate: [] } } },
  ])('the targets of a document of %j make no trouble', (document) => {
    expect(() => [...targetsOf(document)]).not.toThrow()
  })
})

describe('a look-up', () => {
  const document = item({}, JSON.parse(`{"data":{"href":"${A}","alternate":{"__proto__":{"href":"${A}"}}},"__proto__":{"href":"${A}"}}`), {
    links: [
      { rel: 'a', href: '1' },
      { rel: 'b', href: '2' },
      { rel: 'a', href: '3' },
    ],
  })

  it('finds own members only', () => {
    expect(assetOf(document, 'data')?.href).toBe(A)
    expect(assetOf(document, '__proto__')?.pointer).toBe('/assets/__proto__')
    expect(alternateOf(document, 'data', '__proto__')?.pointer).toBe('/assets/data/alternate/__proto__')
    for (const name of ['toString', 'constructor', 'gone']) {
      expect(thrownBy(() => assetOf(document, name))).toMatchObject({ code: 'TARGET_NOT_FOUND', pointer: `/assets/${name}` })
      expect(thrownBy(() => alternateOf(document, 'data', name))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
      expect(thrownBy(() => alternateOf(document, name, 's3'))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
      expect(findAsset(document, name)).toBeUndefined()
      expect(findAlternate(document, 'data', name)).toBeUndefined()
      expect(findAlternate(document, name, 's3')).toBeUndefined()
    }
  })

  it('names the key that is missing, the keys that exist and the one that was probably meant', () => {
    const scene = item({}, { visual: { href: A }, B04: { href: A, alternate: { archive: { href: A } } } })
    expect(thrownBy(() => assetOf(scene, 'visaul'))).toMatchObject({
      code: 'TARGET_NOT_FOUND',
      message: 'the document has no asset "visaul"; it has visual, B04',
      hint: 'did you mean "visual"?',
    })
    expect(thrownBy(() => alternateOf(scene, 'B04', 'Archive'))).toMatchObject({
      message: 'the document has no alternate of "B04" "Archive"; it has archive',
      hint: 'did you mean "archive"?',
      pointer: '/assets/B04/alternate/Archive',
    })
    expect(thrownBy(() => alternateOf(scene, 'b04', 'archive'))).toMatchObject({
      message: 'the document has no asset "b04"; it has visual, B04',
    })
    const none = thrownBy(() => assetOf(catalog({}), 'x'))
    expect(none).toMatchObject({ message: 'the document has no asset "x"; it has none' })
    expect(none).not.toHaveProperty('hint')
    expect(thrownBy(() => assetOf({ type: 'Item', assets: { B04: {} } }, 'zzz'))).not.toHaveProperty('hint')
    for (const unread of [Promise.resolve(scene), JSON.stringify(scene), new Response(), undefined])
      expect(thrownBy(() => assetOf(unread as object, 'B04'))).toMatchObject({
        code: 'TARGET_NOT_FOUND',
        hint: 'await and parse it first',
      })
    expect(thrownBy(() => assetOf(catalog({}), undefined as never))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
    const many = item({}, Object.fromEntries(Array.from({ length: 12 }, (_, number) => [`B${number}`, { href: A }])))
    expect(thrownBy(() => assetOf(many, 'x'))).toMatchObject({ message: expect.stringContaining('B9, … (12 in all)') })
  })

  it('finds the first link of a relation, or a later one', () => {
    expect(linkOf(document, 'a')).toMatchObject({ kind: 'link', href: '1', pointer: '/links/0' })
    expect(linkOf(document, 'a', { index: 1 })).toMatchObject({ href: '3', pointer: '/links/2' })
    expect(linkOf(document, 'a', { index: 2 })).toBeUndefined()
    expect(linkOf(document, 'gone')).toBeUndefined()
    expect(linkOf(catalog({}, { links: null }), 'a')).toBeUndefined()
  })
})

describe('references', () => {
  it.each<[unknown, readonly string[]]>([
    [undefined, ['k']],
    [[], []],
    ['lone', ['lone']],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [
      ['a', 5, null, 'b', 'a', {}],
      ['a', 'b'],
    ],
    [{ a: 1 }, []],
    [5, []],
    [null, []],
  ])('%j are %j', (refs, expected) => {
    expect(refsOf(refs)).toEqual(expected)
  })

  it('at most 100 references are read', () => {
    expect(refsOf(Array.from({ length: 300_000 }, (_, index) => `r${index}`))).toHaveLength(100)
  })

  it('references have the pointer of their position', () => {
    const alternate = { same: { href: A } }
    const document = item({}, { data: asset(A, ['a', 'b'], { alternate }), lone: asset(A, 'x') })
    expect(refPointer(found(assetOf(document, 'data')), 'b')).toBe('/assets/data/auth:refs/1')
    expect(refPointer(found(alternateOf(document, 'data', 'same')), 'b')).toBe('/assets/data/auth:refs/1')
    expect(refPointer(found(assetOf(document, 'lone')), 'x')).toBe('/assets/lone/auth:refs')
  })
})

describe('an alternate that says nothing', () => {
  it.each<[string, string, string | undefined, readonly string[]]>([
    [A, 'https://a.example/g.tif', undefined, ['k']],
    [A, 'https://A.example:443/g.tif', undefined, ['k']],
    [A, 'https://a.example:8443/g.tif', undefined, []],
    [A, 'http://a.example/g.tif', undefined, []],
    [A, 'https://b.example/f.tif', undefined, []],
    [A, 'https://a.example.evil.example/', undefined, []],
    [A, 's3://a.example/f.tif', undefined, []],
    ['s3://b/k', 's3://b/l', undefined, ['k']],
    ['s3://b/k', 's3://c/k', undefined, []],
    ['f.tif', 'g.tif', 'https://a.example/x', ['k']],
    ['f.tif', A, 'https://a.example/x', ['k']],
    ['f.tif', 'https://b.example/', 'https://a.example/x', []],
    ['f.tif', 'g.tif', undefined, []],
    [A, '', undefined, []],
  ])('an alternate that says nothing of %s at %s (from %s) has the references %j', (href, other, url, refs) => {
    const document = item({}, { data: asset(href, ['k'], { alternate: { o: { href: other } } }) })
    expect(alternateOf(document, 'data', 'o', url ? { url } : {})?.refs).toEqual(refs)
  })

  it('inherits nothing when it says so, or in an item asset', () => {
    const none = { href: A, 'auth:refs': [] }
    expect(alternateOf(item({}, { data: asset(A, ['k'], { alternate: { none } }) }), 'data', 'none')?.refs).toEqual([])
    const document = collection({}, { item_assets: { i: asset(A, ['k'], { alternate: { o: { href: A } } }) } })
    expect([...targetsOf(document)].map(({ refs }) => refs)).toEqual([['k'], []])
  })
})

describe('the base of relative URLs', () => {
  const withSelf = (href: string) => item({}, { data: asset('f.tif') }, { links: [{ rel: 'self', href }] })
  const baseOf = (document: object, url?: string) => assetOf(document, 'data', { url }).scope.url

  it('is the URL from the caller, else the link self of the document', () => {
    expect(baseOf(withSelf(A))).toBe(A)
    expect(baseOf(withSelf(A), 'https://b.example/')).toBe('https://b.example/')
    expect(linkOf(withSelf(A), 'self')?.scope.url).toBe(A)
  })

  it('is unknown when the link self is relative, or missing', () => {
    expect(baseOf(withSelf('./x.json'))).toBeUndefined()
    expect(baseOf(item({}, { data: asset('f.tif') }))).toBeUndefined()
  })

  it.each(['file:///etc/x', 'ftp://a.example/x', 'vscode://file/x'])(
    'is unknown when the link self has a scheme that no href may have: %s',
    (self) => {
      expect(baseOf(withSelf(self))).toBeUndefined()
    },
  )

  it("the base URL is the caller's for each document of a wrapper, else its self link, else the wrapper's", () => {
    const features = [withSelf('https://b.example/1')]
    const basesOf = (wrapper: object) => [...targetsOf(wrapper)].map(({ scope }) => scope.url)
    expect(basesOf({ type: 'FeatureCollection', features })).toEqual(['https://b.example/1', 'https://b.example/1'])
    expect(basesOf({ type: 'FeatureCollection', features, links: [{ rel: 'self', href: A }] })).toEqual([
      A,
      'https://b.example/1',
      'https://b.example/1',
    ])
  })
})

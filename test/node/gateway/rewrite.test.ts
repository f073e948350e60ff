import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HttpResponse } from '../../../src/http/message.ts'
import { mayBeDocument, type RewriteOptions, rewriteHrefs, rewrittenBody } from '../../../src/node/gateway/rewrite.ts'
import { DOCUMENT_LIMITS } from '../../../src/stac/document.ts'
import { caseCount } from '../../harness/case-count.ts'
import { asset, catalog, collection, item, type Json } from '../../harness/documents.ts'

const BASE = 'http://127.0.0.1:8123/capability/'
const SERVED = ['https://api.example/', 'https://data.example/', 's3://eo/', 'https://storage.googleapis.com/eo/']

/** As the gateway maps URLs: the scheme and everything behind it, for what it serves. */
function servedAs(url: string): string | undefined {
  return SERVED.some((origin) => url.startsWith(origin)) ? BASE + url.replace('://', '/') : undefined
}

const urlFor = async (url: string) => servedAs(url)
const at = (url: string, seen = url): RewriteOptions => ({ url, gatewayUrl: `${BASE}${seen.replace('://', '/')}`, urlFor })
const HERE = at('https://api.example/stac/items/1.json')
const rewritten = async (text: string, options = HERE) =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(await rewriteHrefs(bytes(text), options))
const bytes = (text: string) => new TextEncoder().encode(text)
const link = (address: unknown, members: Json = {}) => ({ rel: 'item', href: address, ...members })
const linked = async (address: string, options = HERE) =>
  JSON.parse(await rewritten(JSON.stringify(catalog({}, { links: [link(address)] })), options)).links[0].href

describe('hrefs of a document', () => {
  it('are rewritten in links, assets, item assets and alternates', async () => {
    const href = 'https://data.example/a.tif'
    const alternate = { alternate: { s3: { href: 's3://eo/a.tif' } } }
    const document = { ...item({}, { a: { href, ...alternate } }), item_assets: { b: { href } }, links: [link(href, alternate)] }
    const seen = `${BASE}https/data.example/a.tif`
    const both = { alternate: { s3: { href: `${BASE}s3/eo/a.tif` } } }
    expect(JSON.parse(await rewritten(JSON.stringify(document)))).toEqual({
      ...document,
      assets: { a: { href: seen, ...both } },
      item_assets: { b: { href: seen } },
      links: [link(seen, both)],
    })
  })

  it('are rewritten in every document of a list, and in its own links', async () => {
    const href = 'https://api.example/next'
    const inner = { features: [item({}, { a: asset(href) })], collections: [collection({}, { links: [link(href)] })] }
    for (const [member, documents] of Object.entries(inner)) {
      const text = JSON.stringify({ ...(member === 'features' && { type: 'FeatureCollection' }), [member]: documents, links: [link(href)] })
      expect(await rewritten(text)).toBe(text.replaceAll(href, `${BASE}https/api.example/next`))
    }
  })

  it.each(['catalogs', 'children'])('are rewritten in the %s of an API, and in the links of the list', async (member) => {
    const href = 'https://api.example/next'
    for (const documents of [[catalog({}, { links: [link(href)] })], []]) {
      const text = JSON.stringify({ [member]: documents, links: [link(href), { href }] })
      expect(await rewritten(text)).toBe(text.replaceAll(href, `${BASE}https/api.example/next`))
    }
  })

  it('are looked up once for each URL', async () => {
    const asked: string[] = []
    const options = { ...HERE, urlFor: async (url: string) => void asked.push(url) }
    await rewritten(JSON.stringify(catalog({}, { links: [link('a.tif'), link('./a.tif'), link('a.tif'), link('b.tif')] })), options)
    expect(asked).toEqual(['https://api.example/stac/items/a.tif', 'https://api.example/stac/items/b.tif'])
  })

  it('are rewritten in portions, between which other requests are served', async () => {
    const text = JSON.stringify(catalog({}, { links: Array.from({ length: 1100 }, () => link('https://data.example/a')) }))
    let turns = 0
    let next = setImmediate(function count() {
      turns++
      next = setImmediate(count)
    })
    await rewritten(text)
    clearImmediate(next)
    expect(turns).toBeGreaterThanOrEqual(4)
    expect(turns).toBeLessThan(20)
  })

  it('are rewritten on a page of an API that holds nothing but links', async () => {
    const next = { rel: 'next', method: 'POST', body: { token: 'a', href: 'https://api.example/body' }, href: 'https://api.example/search' }
    const text = JSON.stringify({ type: 'FeatureCollection', features: [], links: [next] })
    expect(await rewritten(text)).toBe(text.replace('https://api.example/search', `${BASE}https/api.example/search`))
  })

  it('stay where the gateway does not serve them', async () => {
    for (const href of [
      'https://other.example/x',
      'https://data.example.evil.example/x',
      's3://other/x',
      'gs://other/x',
      'ftp://data.example/x',
      'mailto:a@b',
    ]) {
      expect(await linked(href)).toBe(href)
    }
  })

  it('stay where they are no URL that anything is sent to', async () => {
    for (const href of [
      '',
      '//data.example/x',
      'https://u:p@data.example/x',
      'https://data.example\\@evil.example/',
      'https://data.example./x',
      'a b.tif',
    ]) {
      expect(await linked(href)).toBe(href)
    }
  })

  it('keep the braces of URL templates, and encoded braces', async () => {
    expect(await linked('https://data.example/{z}/{x}/{y}.png?s={s}')).toBe(`${BASE}https/data.example/{z}/{x}/{y}.png?s={s}`)
    expect(await linked('https://data.example/%7Bz%7D.png')).toBe(`${BASE}https/data.example/%7Bz%7D.png`)
    expect(await linked('https://data.example/{z}/%7By%7D.png')).toBe(`${BASE}https/data.example/%7Bz%7D/%7By%7D.png`)
    expect(await linked('a.tif', at('https://other.example/%7Bx%7D/1.json', 'https://api.example/1.json'))).toBe(
      'https://other.example/%7Bx%7D/a.tif',
    )
  })

  it('are read as their https form where they begin with gs:', async () => {
    expect(await linked('gs://eo/a.tif')).toBe(`${BASE}https/storage.googleapis.com/eo/a.tif`)
  })

  it('are rewritten at every repetition of a member, and under escaped names', async () => {
    const text =
      '{"type":"Catalog","stac_version":"1.1.0","links":[{"href":"https://data.example/1","\\u0068ref":"https:\\/\\/data.example\\/2"}],"links":[{"href":"https://data.example/3"}]}'
    expect(await rewritten(text)).toBe(
      text
        .replace('"https://data.example/1"', `"${BASE}https/data.example/1"`)
        .replace('"https:\\/\\/data.example\\/2"', `"${BASE}https/data.example/2"`)
        .replace('"https://data.example/3"', `"${BASE}https/data.example/3"`),
    )
  })
})

describe('relative references', () => {
  it('stay where the path of the gateway leads to the same file', async () => {
    for (const href of ['a.tif', './a.tif', '../a.tif', '../../a.tif', '?page=2', '#a', 'a/b%2Fc.tif?x=1'])
      expect(await linked(href)).toBe(href)
  })

  it('are rewritten at the root of an origin, and where they climb above it', async () => {
    expect(await linked('/a.tif')).toBe(`${BASE}https/api.example/a.tif`)
    expect(await linked('../../../../a.tif')).toBe(`${BASE}https/api.example/a.tif`)
  })

  it('are rewritten where the document was redirected to another folder', async () => {
    const options = at('https://data.example/store/1.json', 'https://api.example/items/1')
    expect(await linked('a.tif', options)).toBe(`${BASE}https/data.example/store/a.tif`)
    expect(await linked('/store/a.tif', options)).toBe(`${BASE}https/data.example/store/a.tif`)
  })

  it('become the URL that they mean where the gateway does not serve it', async () => {
    const options = at('https://other.example/stac/1.json', 'https://api.example/1.json')
    expect(await linked('a.tif', options)).toBe('https://other.example/stac/a.tif')
  })
})

describe('everything else', () => {
  it('keeps its bytes: order, blanks, escapes, numbers, line ends and byte order mark', async () => {
    const text =
      '\ufeff{ "type" : "Catalog",\r\n\t"stac_version":"1.1.0", "n": 1.0e0, "é": "\\u00e9\\/", "links":[ { "rel":"self" ,"href" : "https://api.example/é" } ] }\r\n'
    expect(await rewritten(text)).toBe(text.replace('https://api.example/é', `${BASE}https/api.example/%C3%A9`))
  })

  it('keeps schemes, references, and the members of links that go along with a request', async () => {
    const schemes = {
      o: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://api.example/token', href: 'https://api.example/x' } } },
    }
    const text = JSON.stringify(
      catalog(schemes, {
        links: [
          link('x', { 'auth:refs': ['o'], headers: { href: 'https://api.example/h' }, body: { links: [link('https://api.example/b')] } }),
        ],
        summaries: { links: [link('https://api.example/s')] },
        href: 'https://api.example/root',
      }),
    )
    expect(await rewritten(text)).toBe(text)
  })

  it('keeps every href that is not that of a link, an asset or an alternate', async () => {
    const target = { href: 'https://data.example/x' }
    const holder = { target, alternate: { a: target } }
    const text = JSON.stringify({
      ...catalog({}),
      links: [{ rel: 'x', headers: { authorization: target }, body: { a: { b: target } }, alternate: [target] }],
      assets: { a: { other: { b: target }, alternate: { c: { nested: target, href: target } } }, href: 'https://data.example/x' },
      item_assets: [{ ...target, alternate: { a: target } }],
      properties: { ...target, links: [target], a: holder },
      other: { a: { ...target, ...holder } },
      features: { 0: { links: [target] }, a: target },
    })
    expect(await rewritten(text)).toBe(text)
    const wrong = JSON.stringify({ ...catalog({}), links: { a: { ...target, ...holder } }, assets: [{ ...target, ...holder }] })
    expect(await rewritten(wrong)).toBe(wrong)
  })

  it('keeps an href that is not a string', async () => {
    const text = JSON.stringify(catalog({}, { links: [5, true, null, ['x'], { href: 'x' }].map((wrong) => link(wrong)) }))
    const more = text.replace('"links":[', '"links":[{"href":"https://data.example/x"},')
    expect(await rewritten(text)).toBe(text)
    expect(await rewritten(more)).toBe(more.replace('https://data.example/x', `${BASE}https/data.example/x`))
  })

  it('is returned as the same object where nothing is rewritten', async () => {
    const same = [
      JSON.stringify(catalog({}, { links: [link('a.json')] })),
      JSON.stringify({ links: [link('https://data.example/x')] }),
      JSON.stringify({ type: 'FeatureCollection', features: [{ type: 'Feature', properties: { href: 'https://data.example/x' } }] }),
      JSON.stringify({ type: 'FeatureCollection', features: [], links: [{ href: 'https://data.example/x' }] }),
      JSON.stringify({ type: 'FeatureCollection', features: [], links: [{ rel: 'next' }, { href: 'https://data.example/x' }] }),
      JSON.stringify({ children: [], links: link('https://data.example/x') }),
      JSON.stringify({ children: {}, links: [link('https://data.example/x')] }),
      JSON.stringify([link('https://data.example/x')]),
      '{"type":"Catalog","stac_version":"1.1.0","links":[{"href":"https://data.example/x"}]',
      '<html>',
      '',
    ]
    for (const text of same) {
      const body = bytes(text)
      expect(await rewriteHrefs(body, HERE)).toBe(body)
    }
  })

  it('passes unchanged what is not UTF-8, and what exceeds the limits of documents', async () => {
    const text = JSON.stringify(item({}, { a: asset('https://data.example/x') }))
    const large = bytes(text + ' '.repeat(DOCUMENT_LIMITS.item))
    const deep = bytes(`${text.slice(0, -1)},"deep":${'['.repeat(100)}${']'.repeat(100)}}`)
    const broken = Uint8Array.from([...bytes(`${text.slice(0, -1)},"x":"`), 0xff, ...bytes('"}')])
    for (const body of [large, deep, broken]) expect(await rewriteHrefs(body, HERE)).toBe(body)
    expect(await rewriteHrefs(bytes(`${text} `), HERE)).not.toEqual(bytes(`${text} `))
  })
})

describe('the body of a response', () => {
  const DOCUMENT = 'https://api.example/stac/items/1.json'
  const context = {
    routes: { allows: async (url: string) => servedAs(url) !== undefined },
    base: BASE,
    gatewayUrl: `${BASE}https/api.example/stac/items/1.json`,
  }
  type Chunks = () => AsyncIterable<Uint8Array>
  const ofText = (text: string): Chunks =>
    async function* () {
      yield bytes(text.slice(0, 7))
      yield bytes(text.slice(7))
    }
  const read = (chunks: Chunks | undefined, { answered = DOCUMENT, requested = DOCUMENT } = {}) => {
    const response = { url: answered, ...(chunks && { chunks }) } as unknown as HttpResponse
    return rewrittenBody(response, { url: requested, signal: new AbortController().signal }, context)
  }
  const document = (...addresses: string[]) => JSON.stringify(catalog({}, { links: addresses.map((address) => link(address)) }))
  const hrefsOf = (body: Uint8Array) => JSON.parse(Buffer.from(body).toString()).links.map((one: Json) => one.href)

  it('may be absent', async () => {
    expect(await read(undefined)).toEqual({ bytes: new Uint8Array(), isRewritten: false })
  })

  it('is rewritten where it has URLs that the gateway serves', async () => {
    const { bytes: body, ...rest } = await read(
      ofText(document('https://data.example/x', 'https://other.example/x', 'ftp://data.example/x')),
    )
    expect(hrefsOf(body)).toEqual([`${BASE}https/data.example/x`, 'https://other.example/x', 'ftp://data.example/x'])
    expect(rest).toEqual({ isRewritten: true })
    const text = document('https://other.example/x')
    expect(await read(ofText(text))).toEqual({ bytes: Buffer.from(text), isRewritten: false })
  })

  it.each([
    [
      'where it came from, if the gateway serves that',
      'https://data.example/moved/1.json?signature=x',
      `${BASE}https/data.example/moved/a`,
    ],
    ['the URL that was requested, if the gateway does not serve the other', 'https://other.example/moved/1.json', 'a'],
    ['the URL that was requested, if it came from an object store', 's3://eo/https:/1.json', 'a'],
  ])('has references relative to %s', async (_what, answered, expected) => {
    const { bytes: body } = await read(ofText(document('a', 'https://data.example/x')), { answered })
    expect(hrefsOf(body)[0]).toBe(expected)
  })

  const padded = (size: number) => document('https://data.example/x').padEnd(size, ' ')

  it('is read while another one of its server is, unless both are larger than a mebibyte', async () => {
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const ended: string[] = []
    const started = (name: string, chunks: Chunks, requested = DOCUMENT) => read(chunks, { requested }).then(() => ended.push(name))
    const first = started('first', async function* () {
      yield bytes(padded(2 ** 20 + 1))
      await held
    })
    const all = [
      first,
      started('small', ofText(padded(2 ** 20))),
      started('of another server', ofText(padded(2 ** 20 + 1)), 'https://data.example/1.json'),
      started('of another path', ofText(padded(2 ** 20 + 1)), 'https://api.example/2.json'),
    ]
    await expect.poll(() => ended.toSorted()).toEqual(['of another server', 'small'])
    letGo()
    await Promise.all(all)
    expect(ended.slice(2)).toEqual(['first', 'of another path'])
  })

  it('is passed on as it comes where it is longer than any document', async () => {
    const longest = Buffer.alloc(DOCUMENT_LIMITS.other, ' ')
    longest.set(bytes(document('https://data.example/x')))
    const whole = await read(async function* () {
      yield longest
    })
    expect([whole.isRewritten, whole.rest]).toEqual([true, undefined])
    const longer = await read(async function* () {
      yield longest
      yield bytes('x')
      yield bytes('rest')
    })
    expect([longer.bytes.length, longer.bytes.at(-1), longer.isRewritten]).toEqual([longest.length + 1, 'x'.charCodeAt(0), false])
    expect(await longer.rest?.next()).toEqual({ done: false, value: bytes('rest') })
  })
})

describe('a response may hold a document', () => {
  it('by its media type, or by the name in its URL where the type says nothing', async () => {
    const url = 'https://data.example/a'
    const yes = [
      'application/json',
      'application/geo+json; charset=utf-8',
      'application/json ; charset=utf-8',
      'Application/JSON',
      'application/vnd.x+json',
      'text/json',
    ]
    for (const type of yes) expect([type, mayBeDocument(type, url)]).toEqual([type, true])
    for (const type of [undefined, '', 'text/plain', 'binary/octet-stream', 'application/octet-stream']) {
      expect([type, mayBeDocument(type, `${url}.json?x=1`), mayBeDocument(type, `${url}.tif?x=.json`)]).toEqual([type, true, false])
      expect([type, mayBeDocument(type, `${url}.json.gz`)]).toEqual([type, false])
    }
    for (const type of ['image/tiff', 'text/html', 'application/x-ndjson', 'application/jsonp', 'x-text/json', 'text/json+x'])
      expect(mayBeDocument(type, `${url}.json`)).toBe(false)
  })
})

/** What a reference means when it is resolved, and what the program must find for it. */
function meaning(address: string, { url }: RewriteOptions): string {
  const target = new URL(address, url).href
  return servedAs(target) ?? target
}

/** The document with each href of a target replaced by what it means, written without the code under test. */
function resolved(document: Json, options: RewriteOptions): unknown {
  const holder = (value: unknown): unknown => {
    const { href, alternate, ...rest } = value as { href: string; alternate?: Json }
    const inner = alternate && { alternate: Object.fromEntries(Object.entries(alternate).map(([name, one]) => [name, holder(one)])) }
    return { ...rest, href: meaning(href, options), ...inner }
  }
  const { links, assets, features, ...rest } = document as { links?: Json[]; assets?: Json; features?: Json[] }
  return {
    ...rest,
    ...(links && { links: links.map(holder) }),
    ...(assets && { assets: Object.fromEntries(Object.entries(assets).map(([name, one]) => [name, holder(one)])) }),
    ...(features && { features: features.map((feature) => resolved(feature, options)) }),
  }
}

const segment = fc.constantFrom('a', 'b.json', 'c%20d', '..', '.', 'é', '{z}', 'x;y', '%2e%2e', '')
const path = fc.array(segment, { maxLength: 6 }).map((segments) => segments.join('/'))
const query = fc.constantFrom('', '?x=1', '?u=https://data.example/&y', '#f')
const href = fc
  .oneof(
    fc.tuple(
      fc.constantFrom(
        'https://api.example/',
        'https://data.example/',
        'https://other.example/',
        'https://DATA.example:443/',
        's3://eo/',
        '/',
      ),
      path,
      query,
    ),
    fc.tuple(fc.constant('./'), path, query),
  )
  .map((parts) => parts.join(''))
  .filter((text) => !text.startsWith('//'))
const key = fc.constantFrom('a', 'B04', 'href', 'links', 'assets', 'alternate', 'x/y', '__proto', 'features', '0')
const target = fc.record({ href, title: fc.string() })
const holding = fc.oneof(target, fc.record({ href, alternate: fc.dictionary(key, target, { maxKeys: 2 }) }))
const stacItem = fc
  .record({
    links: fc.array(holding, { maxLength: 3 }),
    assets: fc.dictionary(key, holding, { maxKeys: 3 }),
    properties: fc.record({ links: fc.array(target, { maxLength: 1 }) }),
  })
  .map((members) => ({ type: 'Feature', stac_version: '1.1.0', ...members }) as Json)
const list = fc.record({ features: fc.array(stacItem, { minLength: 1, maxLength: 3 }), links: fc.array(holding, { maxLength: 2 }) })
const documents = fc.oneof(
  stacItem,
  list.map((members) => ({ type: 'FeatureCollection', ...members }) as Json),
)
const places = fc.constantFrom(
  HERE,
  at('https://data.example/'),
  at('https://data.example/x/y/z', 'https://api.example/r'),
  at('https://other.example/a/b', 'https://api.example/r'),
)

describe('any document', () => {
  it('means the same through the gateway: each href leads to what the gateway serves for it, or to itself', async () => {
    await fc.assert(
      fc.asyncProperty(documents, places, fc.constantFrom(0, 2, '\t'), async (document, options, indent) => {
        const text = JSON.stringify(document, null, indent)
        const read = JSON.parse(await rewritten(text, options)) as Json
        const seen = { ...options, url: options.gatewayUrl }
        const plain = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll('{z}', '%7Bz%7D'))
        expect(plain(resolved(read, seen))).toEqual(plain(resolved(document, options)))
        // What is not an href is the same text: with the old hrefs in the place of the new ones nothing differs.
        expect(withHrefs(await rewritten(text, options))).toBe(withHrefs(text))
      }),
      { numRuns: caseCount(500, 100) },
    )
  })

  it('is never an error, whatever was changed in its text', async () => {
    const noise = fc.array(
      fc.tuple(fc.nat(2000), fc.constantFrom('"', '\\', '{', '[', ']', '}', ',', ':', '\u0000', '\ud800', 'href', '\ufeff', '\\u12')),
      { maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(documents, noise, async (document, changes) => {
        let text = JSON.stringify(document)
        for (const [where, what] of changes) text = text.slice(0, where % text.length) + what + text.slice((where % text.length) + 1)
        expect(await rewriteHrefs(bytes(text), HERE)).toBeInstanceOf(Uint8Array)
      }),
      { numRuns: caseCount(500, 100) },
    )
  })
})

/** The text with the strings of all members called `href` blanked. */
function withHrefs(text: string): string {
  return text.replace(/("href":\s*)"(?:[^"\\]|\\.)*"/g, '$1""')
}

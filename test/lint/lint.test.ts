import { describe, expect, it } from 'vitest'
import type { Levels } from '../../src/lint/config.ts'
import { lint, rules } from '../../src/lint/index.ts'
import { EXTENSION } from '../harness/documents.ts'

const SCHEMES = { key: { type: 'apiKey', name: 'x-api-key', in: 'header' } }

/** An Item that refers to `key`, with its own schemes or without. */
function item(id: string, schemes?: unknown) {
  return {
    type: 'Feature',
    id,
    stac_extensions: schemes ? [EXTENSION] : [],
    properties: schemes ? { 'auth:schemes': schemes } : {},
    assets: { data: { href: 'https://data.example/a.tif', 'auth:refs': ['key'] } },
    links: [],
  }
}

const brief = (problems: ReturnType<typeof lint>) =>
  problems.map(({ severity, code, id, pointer }) => `${severity} ${code} ${id ?? '-'} ${pointer}`)

describe('other extensions', () => {
  const EO = 'https://stac-extensions.github.io/eo/v1.1.0/schema.json'
  const VIEW = 'https://stac-extensions.github.io/view/v1.0.0/schema.json'

  it('other extensions are no mistake beside the one that this one is not declared', () => {
    const document = { ...item('a', SCHEMES), stac_extensions: [EO, VIEW] }
    expect(brief(lint(document))).toEqual(['error undeclared-extension a /stac_extensions'])
  })

  it('other extensions are accepted where the wrapper declares them, and beside an unknown version', () => {
    const wrapper = {
      type: 'FeatureCollection',
      stac_extensions: [EO, EXTENSION],
      features: [{ ...item('a', SCHEMES), stac_extensions: [EO, VIEW] }],
    }
    expect(lint(wrapper)).toEqual([])
    const unknown = { ...item('a', SCHEMES), stac_extensions: [EO, EXTENSION.replace('1.1.0', '1.9.0')] }
    expect(brief(lint(unknown))).toEqual(['warn unknown-extension-version a /stac_extensions/1'])
  })

  it('other extensions are all that a document without it says', () => {
    for (const type of ['Feature', 'Collection', 'Catalog', 'FeatureCollection'])
      expect(lint({ type, id: 'a', stac_extensions: [EO], links: [], properties: {}, features: [] })).toEqual([])
  })
})

describe('a wrapper', () => {
  it('lends its schemes and its declaration, with pointers from the root of what was read', () => {
    const wrapper = {
      type: 'FeatureCollection',
      stac_extensions: [EXTENSION],
      'auth:schemes': SCHEMES,
      features: [item('a', SCHEMES), item('b')],
    }
    expect(brief(lint(wrapper))).toEqual(['warn scheme-outside-document b /features/1/assets/data/auth:refs/0'])
    expect(brief(lint(wrapper, { preset: 'strict' }))).toEqual(['error scheme-outside-document b /features/1/assets/data/auth:refs/0'])
  })

  it('a wrapper without schemes leaves its documents unchanged', () => {
    const found = brief(lint({ collections: [{ ...item('c'), type: 'Collection' }] }))
    expect(found).toEqual(['error missing-schemes c /collections/0', 'error undeclared-extension c /collections/0/stac_extensions'])
  })

  it('a wrapper may be a bare list, which lends nothing', () => {
    expect(brief(lint([item('a', SCHEMES), item('b', { other: SCHEMES.key })]))).toEqual([
      'error dangling-ref b /1/assets/data/auth:refs/0',
      'info unused-scheme b /1/properties/auth:schemes/other',
    ])
  })

  it('a wrapper inside of another is linted with the documents in it', () => {
    const inner = { type: 'FeatureCollection', features: [item('a', SCHEMES), item('b')] }
    expect(brief(lint({ collections: [inner] }))).toEqual([
      'error missing-schemes b /collections/0/features/1/properties',
      'error undeclared-extension b /collections/0/features/1/stac_extensions',
    ])
  })

  it('a wrapper inside of others to no end is over the limit of nesting', () => {
    let nested: object = item('a')
    for (let depth = 0; depth < 100_000; depth++) nested = { collections: [nested] }
    expect(lint(nested).map(({ rule }) => rule)).toContain('document-limit')
  })

  it('deep inside of others gets the first value below the limit, also where a target is that value', () => {
    const document = { ...item('a', SCHEMES), stac_extensions: [EXTENSION], assets: { data: { alternate: { other: {} } } } }
    const within = (levels: number) => {
      let nested: object = document
      for (let level = 0; level < levels; level++) nested = { collections: [nested] }
      return lint(nested).filter(({ code }) => code === 'document-limit')
    }
    expect(within(29)).toEqual([])
    expect(within(30)).toMatchObject([{ pointer: `${'/collections/0'.repeat(30)}/assets/data/alternate/other` }])
    expect(within(31)).toMatchObject([{ pointer: `${'/collections/0'.repeat(31)}/properties/auth:schemes` }])
  })

  it('reports what is in it that is not a document', () => {
    expect(brief(lint({ type: 'FeatureCollection', features: [null, 5, { type: 'Feature', properties: {} }] }))).toEqual([
      'warn unknown-document - /features/0',
      'warn unknown-document - /features/1',
    ])
  })
})

describe('parents', () => {
  it('parents are asked after the wrapper, and are not linted themselves', () => {
    const parent = { type: 'Collection', 'auth:schemes': { ...SCHEMES, bad: 5 } }
    const document = { ...item('a'), stac_extensions: [EXTENSION] }
    expect(brief(lint(document, { parents: [parent] }))).toEqual(['warn scheme-outside-document a /assets/data/auth:refs/0'])
    // Findings with one cause are shown at the parent, where "here" would be wrong.
    expect(lint(document, { parents: [parent] })[0]?.message).toMatch(/is defined in a parent: copy it into the document/)
    expect(brief(lint(document))).toEqual(['error missing-schemes a /properties'])
  })
})

describe('levels', () => {
  it('replace those of the preset; unknown names change nothing', () => {
    const document = item('a', { key: SCHEMES.key, spare: SCHEMES.key })
    expect(brief(lint(document))).toEqual(['info unused-scheme a /properties/auth:schemes/spare'])
    expect(brief(lint(document, { rules: { 'unused-scheme': 'error', 'no-such-rule': 'error' } }))).toEqual([
      'error unused-scheme a /properties/auth:schemes/spare',
    ])
    expect(lint(document, { rules: { 'unused-scheme': 'off' } })).toEqual([])
  })

  it('levels name a rule with all its cases, or a case alone, which goes before its rule', () => {
    const document = item('a', { key: { type: 'apiKey', name: '', in: 'headers' } })
    const codes = (levels: Levels) => brief(lint(document, { rules: levels }))
    const [place, name] = ['apikey-in a /properties/auth:schemes/key/in', 'apikey-name a /properties/auth:schemes/key/name']
    expect(codes({})).toEqual([`error ${place}`, `error ${name}`])
    expect(codes({ 'field-value': 'warn' })).toEqual([`warn ${place}`, `warn ${name}`])
    expect(codes({ 'apikey-in': 'off' })).toEqual([`error ${name}`])
    expect(codes({ 'apikey-in': 'error', 'field-value': 'off' })).toEqual([`error ${place}`])
    expect(lint(document).map(({ rule }) => rule)).toEqual(['field-value', 'field-value'])
  })

  it('levels of the schema preset are those that a JSON Schema can tell', () => {
    const always = rules.flatMap(({ cases }) => cases).filter(({ meta }) => meta.severity.schema !== 'off')
    expect(always.every(({ meta }) => meta.severity.recommended === 'error' || meta.severity.schema === 'error')).toBe(true)
    expect(lint(item('a', { other: SCHEMES.key }), { preset: 'schema' })).toEqual([])
  })
})

describe('values that are no documents', () => {
  it.each([[null], [undefined], [1], ['x'], [true]])('%j gives unknown-document', (value) => {
    expect(brief(lint(value))).toEqual(['warn unknown-document - '])
  })

  it('an empty list gives empty-list', () => {
    expect(brief(lint([]))).toEqual(['error empty-list - '])
    expect(lint([], { skipUnused: true })).toEqual([])
  })

  it('documents without auth fields give nothing', () => {
    expect(lint({ type: 'Feature', id: 'a', properties: {}, links: {}, assets: [] })).toEqual([])
  })
})

describe('a violation of the schema that no rule knows', () => {
  it('a violation of the schema that no rule knows is taken by the last rule', () => {
    expect(rules.at(-1)?.meta.id).toBe('document-shape')
  })
})

describe('one mistake gives one finding', () => {
  const parameter = (p: unknown) => ({
    type: 'signedUrl',
    flows: { f: { method: 'GET', authorizationApi: 'https://sign.example/', responseField: 'url', parameters: { p } } },
  })

  it.each([['s'], [3], [null], [[]]])('one mistake gives one finding when the schema of a parameter is %j', (schema) => {
    const document = item('a', { key: parameter({ in: 'query', required: false, schema }) })
    const at = '/properties/auth:schemes/key/flows/f/parameters/p/schema'
    expect(brief(lint(document))).toEqual([`error parameter-schema a ${at}`])
    const old = { ...document, stac_extensions: [EXTENSION.replace('1.1.0', '1.0.0')] }
    expect(brief(lint(old))).toEqual([`error field-type a ${at}`])
  })
})

describe('a description of an http scheme', () => {
  const rulesOf = (description: string) => lint(item('a', { key: { type: 'http', scheme: 'basic', description } })).map(({ code }) => code)

  it.each([
    ['Open access for all'],
    ['These files are publicly available.'],
    ['No login needed: free access'],
    ['Access without restrictions.'],
  ])('%s: is free', (text) => {
    expect(rulesOf(text)).toEqual(['public-as-http'])
  })

  it.each([['Not publicly available: ask us for an account'], ['There is no anonymous access'], ['Login for the public archive']])(
    '%s: is not',
    (text) => {
      expect(rulesOf(text)).toEqual([])
    },
  )
})

describe('schemes at the root of an Item', () => {
  it('define the references that name them, and no others', () => {
    const document = { ...item('a'), stac_extensions: [EXTENSION], 'auth:schemes': SCHEMES }
    const both = { ...document, assets: { data: { href: 'https://data.example/a.tif', 'auth:refs': ['key', 'other'] } } }
    expect(brief(lint(document))).toEqual(['error misplaced-schemes a /auth:schemes'])
    expect(brief(lint(both))).toEqual(['error dangling-ref a /assets/data/auth:refs/1', 'error misplaced-schemes a /auth:schemes'])
  })
})

describe('levels that do not exist', () => {
  it.each([
    ['warning', { rules: { 'dangling-ref': 'warning' } }],
    ['Strict', { preset: 'Strict' }],
  ])('are refused, because their findings would not be errors: %s', (word, options) => {
    expect(() => lint(item('a', SCHEMES), options as object)).toThrow(word)
  })
})

describe('references where no client reads them', () => {
  const REFS = { 'auth:refs': ['key'] }
  const withAsset = (more: object) => ({
    ...item('a', SCHEMES),
    assets: { data: { href: 'https://data.example/a.tif', ...REFS, ...more } },
  })

  it.each([
    [
      'an alternate of an alternate asset',
      withAsset({ alternate: { s3: { href: 'https://data.example/b', ...REFS, alternate: { x: REFS } } } }),
      '/assets/data/alternate/s3/alternate/x/auth:refs',
    ],
    [
      'an alternate of a link',
      { ...withAsset({}), links: [{ rel: 'next', href: 'https://data.example/', alternate: { x: REFS } }] },
      '/links/0/alternate/x/auth:refs',
    ],
    ['item_assets of an Item', { ...withAsset({}), item_assets: { data: REFS } }, '/item_assets/data/auth:refs'],
    [
      'assets of a FeatureCollection',
      { type: 'FeatureCollection', stac_extensions: [EXTENSION], 'auth:schemes': SCHEMES, assets: { data: REFS }, features: [] },
      '/assets/data/auth:refs',
    ],
  ])('reports references on %s', (_, document, pointer) => {
    expect(lint(document).map((problem) => `${problem.code} ${problem.pointer}`)).toEqual([`misplaced-refs ${pointer}`])
  })
})

describe('the input of a scheme', () => {
  const KEY = { type: 'apiKey', name: 'x-api-key', in: 'header' }
  const signing = { authorizationApi: 'https://sign.example/', method: 'GET', responseField: 'url' }
  const inputOf = (scheme: object, input: object) =>
    lint({
      type: 'Catalog',
      stac_extensions: [EXTENSION.replace('1.1.0', '1.2.0')],
      links: [{ rel: 'item', href: 'https://data.example/', 'auth:refs': ['chained'] }],
      'auth:schemes': { chained: { ...scheme, 'auth:refs': ['input'] }, input },
    }).map(({ code }) => code)

  it('may be a key or a password for a signing API, but no other signature', () => {
    const scheme = { type: 'signedUrl', flows: { sign: signing } }
    expect(inputOf(scheme, KEY)).toEqual([])
    expect(inputOf(scheme, { type: 'http', scheme: 'basic' })).toEqual([])
    expect(inputOf(scheme, { type: 's3' })).toEqual(['chain-input-type'])
    expect(inputOf(scheme, { type: 'signedUrl', flows: { sign: signing } })).toEqual(['chain-input-type'])
  })

  it('may be a login, a key or a password for keys of an object store, but no other signature', () => {
    const forKeys = (input: object) => inputOf({ type: 's3' }, input).filter((code) => code !== 's3-without-storage')
    expect(forKeys({ type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' })).toEqual([])
    expect(forKeys(KEY)).toEqual([])
    expect(forKeys({ type: 'http', scheme: 'basic' })).toEqual([])
    expect(forKeys({ type: 's3' })).toEqual(['chain-input-type'])
  })

  it('must yield a token for a token exchange', () => {
    const scheme = { type: 'oauth2', flows: { tokenExchange: { tokenUrl: 'https://id.example/token', scopes: {} } } }
    expect(inputOf(scheme, { type: 'http', scheme: 'Bearer' })).toEqual(['http-scheme-case'])
    expect(inputOf(scheme, { type: 'http', scheme: 'basic' })).toEqual(['chain-input-type'])
    expect(inputOf(scheme, KEY)).toEqual(['chain-input-type'])
  })
})

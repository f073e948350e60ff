/** Cases of rules that one bad and one good example do not show. */
import { describe, expect, it } from 'vitest'
import { fixText } from '../../src/lint/fix/fix-text.ts'
import { lint, lintText } from '../../src/lint/index.ts'
import { EXTENSION } from '../harness/documents.ts'

const KEY = { type: 'apiKey', name: 'x-api-key', in: 'header' }

function itemOf(over: object = {}, extensions: readonly string[] = [EXTENSION], schemes: object = { key: KEY }) {
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: extensions,
    id: 'scene',
    geometry: null,
    properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': schemes },
    links: [],
    assets: { data: { href: 'https://data.example/a.tif', 'auth:refs': ['key'] } },
    ...over,
  }
}

const brief = (document: unknown, options = {}) => lint(document, options).map(({ code, pointer }) => `${code} ${pointer}`)

describe('names of members', () => {
  const assets = (field: string) => ({ data: { href: 'https://data.example/a.tif', [field]: ['key'] } })

  it.each([
    ['aut:refs', 'auth:refs'],
    ['atuh:refs', 'auth:refs'],
    ['auht:refs', 'auth:refs'],
    ['auth_ref', 'auth:refs'],
    ['auth_refs', 'auth:refs'],
    ['authRefs', 'auth:refs'],
    ['auth:ref', 'auth:refs'],
    ['auth:refss', 'auth:refs'],
    ['auth:reference', 'auth:refs'],
    ['auth:references', 'auth:refs'],
    ['AUTH:REFS', 'auth:refs'],
    ['auth-scheme', 'auth:schemes'],
    ['auth:schmes', 'auth:schemes'],
    ['auth:schema', 'auth:schemes'],
    ['aut:schemes', 'auth:schemes'],
  ])('like %s are near misses of %s', (field, near) => {
    const found = lint(itemOf({ assets: assets(field) })).filter(({ code }) => code === 'misspelt-auth-field')
    expect(found.map(({ pointer, message }) => [pointer, message])).toEqual([
      [`/assets/data/${field}`, expect.stringContaining(`did you mean "${near}"`)],
    ])
  })

  it.each(['aux:refs', 'aux:schemes', 'auto:refs', 'author:refs', 'authn:refs', 'author', 'authority', 'auth_token', 'a:refs', 'auth'])(
    'like %s belong to others, with and without the extension',
    (field) => {
      const properties = { datetime: '2026-01-01T00:00:00Z', [field]: 'x' }
      expect(brief({ ...itemOf({ assets: {} }, []), properties })).toEqual([])
      expect(brief(itemOf({ assets: { data: { href: 'https://data.example/a.tif', 'auth:refs': ['key'], [field]: 'x' } } }))).toEqual([])
    },
  )

  it('names of members that are misspelt use the extension, so that it has to be declared', () => {
    const properties = { datetime: '2026-01-01T00:00:00Z' }
    expect(brief({ ...itemOf({ assets: assets('aut:refs') }, []), properties })).toContain('undeclared-extension /stac_extensions')
  })
})

describe('the URL of the extension', () => {
  it.each([
    'http://stac-extensions.github.io/authentication/v1.1.0/schema.json',
    'https://raw.githubusercontent.com/stac-extensions/authentication/v1.1.0/json-schema/schema.json',
    'https://github.com/stac-extensions/authentication/blob/v1.1.0/json-schema/schema.json',
    'https://stac-extensions.github.io/authentication/v1.1.0/schema.json#',
    'https://stac-extensions.github.io/authentication/v1.1.0/',
  ])('the URL of the extension is reported when it is %s, and nothing else is', (url) => {
    const [problem, ...others] = lint(itemOf({}, [url]))
    expect(others).toEqual([])
    expect(problem).toMatchObject({ rule: 'extension-version', code: 'extension-url', severity: 'warn', pointer: '/stac_extensions/0' })
    const fixed = fixText(JSON.stringify(itemOf({}, [url])), { suggestions: true }).text
    expect(JSON.parse(fixed)).toEqual(itemOf())
  })

  it('the URL of the extension of other extensions is no one’s concern here', () => {
    const others = [
      'http://stac-extensions.github.io/eo/v1.1.0/schema.json',
      'https://raw.githubusercontent.com/x/authentication/main/a.json',
    ]
    expect(brief(itemOf({}, [EXTENSION, ...others]))).toEqual([])
  })
})

it('oauth1 is a type of its own, not a slip for oauth2', () => {
  const found = lint(itemOf({}, [EXTENSION], { key: { type: 'oauth1' } }))
  expect(found).toMatchObject([{ code: 'custom-type', severity: 'info' }])
})

it('a Collection of 1.0.0 may list names of types in its summaries, as the example of that version does', () => {
  const collection = (version: string, summary: unknown) => ({
    type: 'Collection',
    stac_version: '1.0.0',
    stac_extensions: [`https://stac-extensions.github.io/authentication/v${version}/schema.json`],
    id: 'c',
    description: 'd',
    license: 'proprietary',
    extent: { spatial: { bbox: [[0, 0, 1, 1]] }, temporal: { interval: [[null, null]] } },
    'auth:schemes': { key: KEY },
    summaries: { 'auth:schemes': summary },
    links: [{ rel: 'item', href: './item.json', 'auth:refs': ['key'] }],
  })
  expect(brief(collection('1.0.0', ['none', 'key', 's3']))).toEqual([])
  expect(brief(collection('1.1.0', ['none']))).toEqual(['summaries-shape /summaries/auth:schemes/0'])
  expect(brief(collection('1.0.0', 'none'))).toEqual(['summaries-shape /summaries/auth:schemes'])
})

it('a ref that a scheme repeats is reported, and the fix takes it out', () => {
  const url = EXTENSION.replace('1.1.0', '1.2.0')
  const schemes = (refs: readonly string[]) => ({ key: KEY, signed: { type: 'custom', 'auth:refs': refs } })
  const twice = itemOf({}, [url], schemes(['key', 'key']))
  expect(brief(twice)).toContain('duplicate-ref /properties/auth:schemes/signed/auth:refs/1')
  expect(JSON.parse(fixText(JSON.stringify(twice)).text)).toEqual(itemOf({}, [url], schemes(['key'])))
})

describe('a scheme that nothing in its document uses', () => {
  const catalog = (links: readonly object[]) => ({
    type: 'Catalog',
    stac_version: '1.1.0',
    stac_extensions: [EXTENSION],
    id: 'root',
    description: 'd',
    'auth:schemes': { key: KEY },
    links,
  })

  it('only informs where documents below may use it, and is a warning of the strict preset elsewhere', () => {
    expect(lint(catalog([{ rel: 'item', href: './a.json' }]), { preset: 'strict' })).toMatchObject([
      { code: 'unused-scheme', severity: 'info', message: expect.stringContaining('unless a document below uses it') },
    ])
    expect(lint(catalog([]), { preset: 'strict' })).toMatchObject([{ code: 'unused-scheme', severity: 'warn' }])
  })
})

it('the host of a link is compared as a request would take it', () => {
  const link = (href: string) => ({ rel: 'license', href, 'auth:refs': ['key'] })
  const at = (href: string) => brief(itemOf({ links: [link(href)] }), { url: 'https://data.example/scene.json' })
  expect(at('https://d%61ta.example/license')).not.toContain('foreign-host-ref /links/0/auth:refs')
  expect(at('https://sp%64x.org/licenses/MIT')).toContain('foreign-host-ref /links/0/auth:refs')
})

it('a finding is the same from the text', () => {
  const document = itemOf({ assets: { data: { href: 'https://data.example/a.tif', 'atuh:refs': ['key'] } } })
  expect(
    lintText(JSON.stringify(document))
      .map(({ code, pointer }) => `${code} ${pointer}`)
      .sort(),
  ).toEqual(brief(document).sort())
})

it.each([
  ['1.1.0', KEY],
  ['1.0.0', { type: 'planetaryComputer' }],
  ['1.2.0', { type: 's3', 'auth:refs': ['key'] }],
])('a fix that declares the extension takes version %s for %j, the lowest that defines it', (version, scheme) => {
  const url = EXTENSION.replace('1.1.0', version)
  const document = itemOf({ assets: { data: { href: 's3://a/b', 'auth:refs': ['used'] } } }, [], { used: scheme, key: KEY })
  expect(JSON.parse(fixText(JSON.stringify(document)).text).stac_extensions).toEqual([url])
  const unknown = { ...document, stac_extensions: [EXTENSION.replace('1.1.0', '9.9.9')] }
  expect(JSON.parse(fixText(JSON.stringify(unknown), { suggestions: true }).text).stac_extensions).toEqual([url])
})

describe('fields of a scheme', () => {
  const messages = (schemes: object) =>
    lint(itemOf({ assets: {} }, [EXTENSION], schemes), { rules: { 'unused-scheme': 'off' } }).map(({ message }) => message)

  it.each(['region', 'requester_pays', 'requesterPays', 'endpoint_url', 'aws_region'])(
    '%s of an s3 scheme belongs to the storage',
    (field) => {
      expect(messages({ store: { type: 's3', [field]: 'x' } })).toEqual([expect.stringMatching(/"\w+" here: .* in storage:schemes/)])
      expect(messages({ key: { ...KEY, [field]: 'x' } })).toEqual([expect.stringContaining('the extension does not define')])
    },
  )

  it('a flow without scopes may have none', () => {
    const flows = { clientCredentials: { tokenUrl: 'https://id.example/token' } }
    expect(messages({ login: { type: 'oauth2', flows } })).toEqual([expect.stringContaining('"scopes": write {}')])
  })
})

describe('storage:refs of an asset in an object store', () => {
  const withStorage = (properties: object, refs: readonly string[] = ['eu']) =>
    lint({
      ...itemOf({ assets: { data: { href: 's3://bucket/a.tif', 'auth:refs': ['store'], 'storage:refs': refs } } }, [EXTENSION]),
      properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { store: { type: 's3' } }, ...properties },
    })
      .filter(({ code }) => code !== 'unused-scheme')
      .map(({ code, pointer, message }) => `${code} ${pointer}: ${message}`)
  const eu = { type: 'custom-s3', platform: 'https://store.example', region: 'eu-1' }

  it('storage:refs may name what storage:schemes defines', () => {
    expect(withStorage({ 'storage:schemes': { eu } })).toEqual([])
  })

  it.each([
    ['names another storage', { 'storage:schemes': { eu1: eu } }, /which storage:schemes does not define.*did you mean "eu1"/],
    ['names one of none', {}, /no document in reach has storage:schemes/],
  ])('one finding says so when storage:refs %s', (_, properties, message) => {
    const [found, ...others] = withStorage(properties, ['eu', 'eu'])
    expect(found).toMatch(/^dangling-storage-ref \/assets\/data\/storage:refs\/0: /)
    expect(found).toMatch(message)
    expect(others.filter((other) => !other.includes('storage:refs/1'))).toEqual([])
  })

  it.each(['storage:scheme', 'storage:schemas', 'storage:schema', 'storage_schemes', 'storageSchemes', 'strage:schmes'])(
    'storage:schemes that is written %s is the one finding, with the right name',
    (field) => {
      expect(withStorage({ [field]: { eu } }, ['eu', 'us'])).toEqual([
        `dangling-storage-ref /properties/${field}: "${field}" is not a field of the storage extension, so endpoint and region are unknown (did you mean "storage:schemes"?)`,
      ])
    },
  )

  it.each(['storage:ref', 'storage:reference', 'storage-refs', 'Storage:Refs'])(
    'storage:refs that is written %s is the one finding, with the right name, and a fix that renames it',
    (field) => {
      const document = {
        ...itemOf({ assets: { data: { href: 's3://bucket/a.tif', 'auth:refs': ['store'], [field]: ['eu'] } } }, [EXTENSION]),
        properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { store: { type: 's3' } }, 'storage:schemes': { eu } },
      }
      expect(lint(document, { preset: 'strict' }).map(({ code, pointer, fix }) => [code, pointer, fix])).toEqual([
        ['dangling-storage-ref', `/assets/data/${field}`, 'suggestion'],
      ])
      const { text } = fixText(JSON.stringify(document), { suggestions: true })
      expect(JSON.parse(text).assets.data).toEqual({ href: 's3://bucket/a.tif', 'auth:refs': ['store'], 'storage:refs': ['eu'] })
      expect(lint(JSON.parse(text), { preset: 'strict' })).toEqual([])
    },
  )

  it.each(['storage:platform', 'storage:region', 'storage:requester_pays', 'storage:tier', 'store:schemes', 'stac:schemes', 'storage'])(
    'a field like %s is of others or of an older version',
    (field) => expect(withStorage({ 'storage:schemes': { eu }, [field]: 'x' })).toEqual([]),
  )

  it('a misspelt storage:schemes is not looked for where nothing is in an object store', () => {
    const properties = { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { key: KEY }, 'storage:schemas': { eu } }
    const assets = { data: { href: 'https://data.example/a.tif', 'auth:refs': ['key'], 'storage:ref': ['eu'] } }
    expect(brief({ ...itemOf({ assets }, [EXTENSION]), properties })).toEqual([])
  })
})

it('a scheme for free access that nothing refers to has one finding, which says to remove it', () => {
  const none = { type: 'http', scheme: 'basic', description: 'Free access' }
  const found = lint(itemOf({}, [EXTENSION], { key: KEY, none }), { preset: 'strict' }).filter(({ pointer }) => pointer.endsWith('/none'))
  expect(found.map(({ code, message }) => [code, message])).toEqual([
    ['public-as-http', 'free access needs no scheme, and nothing refers to "none": remove it'],
  ])
})

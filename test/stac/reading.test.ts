import { describe, expect, it } from 'vitest'
import {
  declarationsOf,
  isObject,
  kindOf,
  own,
  ownObject,
  ownString,
  pointer,
  schemePlaces,
  versionOfDocument,
  wrappedMember,
} from '../../src/stac/document.ts'
import {
  isApiKeyScheme,
  isHttpScheme,
  isOAuth2Scheme,
  isOpenIdConnectScheme,
  isPublicType,
  isS3Scheme,
  isSignedUrlScheme,
  modernScheme,
} from '../../src/stac/scheme.ts'
import { storagesOf } from '../../src/stac/storage.ts'
import { assetOf } from '../../src/stac/target.ts'
import { nearMiss } from '../../src/text/suggest.ts'
import { asset, catalog, collection, found, item, type Json, scheme } from '../harness/documents.ts'

describe('JSON of strangers', () => {
  const object = JSON.parse('{"a":"x","o":{"b":1},"__proto__":{"c":1},"toString":1}')

  it('untrusted JSON is read by own properties only', () => {
    expect([own(object, 'a'), own(object, 'toString'), own(object, 'valueOf'), own({}, '__proto__')]).toEqual([
      'x',
      1,
      undefined,
      undefined,
    ])
    expect(own(object, '__proto__')).toEqual({ c: 1 })
    expect([ownString(object, 'a'), ownString(object, 'o'), ownObject(object, 'o'), ownObject(object, 'a')]).toEqual([
      'x',
      undefined,
      { b: 1 },
      undefined,
    ])
    for (const odd of [null, undefined, 5, 'text', [1]]) expect(own(odd, 'length')).toBeUndefined()
  })

  it('objects in untrusted JSON are neither arrays nor null', () => {
    expect([{}, Object.create(null), [], null, 'x', undefined].map(isObject)).toEqual([true, true, false, false, false, false])
  })

  it('JSON Pointers follow RFC 6901', () => {
    expect(pointer('', 'a/b', 'm~n', '', 0, '~1')).toBe('/a~1b/m~0n//0/~01')
    expect(pointer('/x')).toBe('/x')
  })
})

describe('the kind of a document', () => {
  it.each<[unknown, string]>([
    [{ type: 'Feature' }, 'item'],
    [{ type: 'Collection' }, 'collection'],
    [{ type: 'Catalog' }, 'catalog'],
    [{ type: 'FeatureCollection' }, 'wrapper'],
    [{ collections: [] }, 'wrapper'],
    [{ collections: {} }, 'unknown'],
    [{ type: 'feature' }, 'unknown'],
    [null, 'unknown'],
    [[], 'unknown'],
  ])('%j is %s', (document, kind) => {
    expect(kindOf(document)).toBe(kind)
  })

  it('reports where its schemes stand, nearest first', () => {
    const both = { ...item({ a: 1 }), 'auth:schemes': { b: 2 } }
    expect(schemePlaces(both)).toEqual([
      { schemes: { a: 1 }, pointer: '/properties/auth:schemes' },
      { schemes: { b: 2 }, pointer: '/auth:schemes' },
    ])
    expect(schemePlaces(catalog({ c: 3 }))).toEqual([{ schemes: { c: 3 }, pointer: '/auth:schemes' }])
    expect(schemePlaces({ properties: null })).toEqual([])
    expect([wrappedMember({ features: [] }), wrappedMember({ collections: [] })]).toEqual(['features', 'collections'])
  })
})

describe('the version of the extension', () => {
  const url = (version: string) => `https://stac-extensions.github.io/authentication/v${version}/schema.json`
  const declaring = (...urls: unknown[]) => ({ stac_extensions: urls })

  it.each<[unknown, string]>([
    [declaring(url('1.0.0')), '1.0.0'],
    [declaring(url('1.1.0'), url('1.0.0')), '1.1.0'],
    [declaring(`${url('1.0.0')}#`), '1.0.0'],
    [declaring(url('9.9.9')), '1.2.0'],
    [declaring('https://other.example/schema.json', 5), '1.2.0'],
    [{}, '1.2.0'],
    [{ stac_extensions: 'x' }, '1.2.0'],
  ])('the version of the extension of %j is %s', (document, version) => {
    expect(versionOfDocument(document)).toBe(version)
  })

  it("the version of the extension is the wrapper's where a document says nothing", () => {
    expect(versionOfDocument({}, declaring(url('1.0.0')))).toBe('1.0.0')
    expect(versionOfDocument(declaring(url('1.1.0')), declaring(url('1.0.0')))).toBe('1.1.0')
    expect(declarationsOf(declaring('x', url('1.0.0'), url('7')))).toMatchObject([
      { index: 1, version: '1.0.0' },
      { index: 2, version: undefined },
    ])
  })
})

describe('a scheme', () => {
  it('a scheme is recognized by its type and required members', () => {
    const all: readonly [(value: unknown) => boolean, Json, Json][] = [
      [isHttpScheme, scheme.basic, { type: 'http' }],
      [isApiKeyScheme, scheme.key(), { type: 'apiKey', name: 'a', in: 'body' }],
      [isOAuth2Scheme, scheme.oauth2({}), { type: 'oauth2', flows: { a: 1 } }],
      [isOpenIdConnectScheme, scheme.oidc('x'), { type: 'openIdConnect', openIdConnectUrl: 1 }],
      [isSignedUrlScheme, scheme.signed('x'), { type: 'signedUrl', flows: [] }],
      [isS3Scheme, { type: 's3' }, { type: 'S3' }],
    ]
    for (const [is, good, bad] of all) {
      expect([is(good), is(bad), is(null), is([]), is(Object.create(good))]).toEqual([true, false, false, false, false])
    }
  })

  it('a scheme of 1.0.0 is read into the model', () => {
    expect(modernScheme({ type: 'earthdata' })).toEqual({ type: 'http', scheme: 'bearer' })
    expect(modernScheme({ type: 'planetaryComputer' })).toMatchObject({
      type: 'signedUrl',
      flows: { planetaryComputer: { method: 'GET', responseField: 'href' } },
    })
    expect(modernScheme({ type: 'x', a: 1 })).toEqual({ type: 'x', a: 1 })
  })

  it.each([
    ['none', true],
    ['PUBLIC', true],
    ['anonymous', true],
    ['Open', true],
    ['opened', false],
    ['', false],
  ])('a scheme of type %j is public: %s', (type, expected) => {
    expect(isPublicType(type)).toBe(expected)
  })
})

describe('a near name', () => {
  it.each<[string, readonly string[], string | undefined]>([
    ['apiKey', ['api-key', 'x'], 'api-key'],
    ['Bearer', ['bearer'], 'bearer'],
    ['tokne', ['token'], 'token'],
    ['oauth', ['oauth2'], 'oauth2'],
    ['openIdConect', ['openIdConnect'], 'openIdConnect'],
    ['abc', ['xyz'], undefined],
    ['abcd', ['ab'], undefined],
    ['same', ['same'], undefined],
    ['__proto__', ['http'], undefined],
    ['a'.repeat(65), [`${'a'.repeat(65)}b`], undefined],
  ])('a near name of %s among %j is %s', (name, candidates, expected) => {
    expect(nearMiss(name, candidates)).toBe(expected)
  })
})

describe('storage', () => {
  const of = (document: Json, parents: readonly Json[] = []) => storagesOf(found(assetOf(document, 'data', { parents })))
  const data = (members: Json = {}) => ({ data: asset('s3://b/k', ['s'], members) })
  const schemes = {
    'storage:schemes': {
      aws: { type: 'aws-s3', platform: 'https://{bucket}.s3.{region}.amazonaws.com', region: 'us-west-2', requester_pays: true },
      odd: 5,
    },
  }

  it('storage of version 2 comes in the order of the references, from the document or the caller', () => {
    const known = {
      key: 'aws',
      type: 'aws-s3',
      platform: 'https://{bucket}.s3.{region}.amazonaws.com',
      region: 'us-west-2',
      requesterPays: true,
    }
    expect(of(item({}, data({ 'storage:refs': ['gone', 'odd', 5, 'aws'] }), { properties: schemes }))).toEqual([known])
    expect(of(item({}, data({ 'storage:refs': ['aws'] })), [collection({}, schemes)])).toEqual([known])
    expect(of(item({}, data({ 'storage:refs': ['toString'] }), { properties: schemes }))).toEqual([])
    expect(of(item({}, data({ 'storage:refs': [] }), { properties: { 'storage:region': 'x' } }))).toEqual([])
  })

  it('storage of version 1 stands on the asset or in the properties', () => {
    const properties = { 'storage:platform': 'AWS', 'storage:region': 'eu-central-1', 'storage:requester_pays': 'yes' }
    expect(of(item({}, data({ 'storage:region': 'us-east-2' }), { properties }))).toEqual([
      { type: 'AWS', region: 'us-east-2', requesterPays: false },
    ])
    expect(of(item({}, data()))).toEqual([])
  })
})

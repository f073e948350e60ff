import { describe, expect, it } from 'vitest'
import { claimsStac, likelyType, usesExtension } from '../../src/stac/document.ts'
import { EXTENSION } from '../harness/documents.ts'

const refs = { 'auth:refs': ['key'] }

describe('usesExtension', () => {
  it.each([
    [{ stac_extensions: [EXTENSION] }],
    [{ 'auth:schemes': {} }],
    [{ properties: { 'auth:schemes': {} } }],
    [{ summaries: { 'auth:schemes': [] } }],
    [{ assets: { a: refs } }],
    [{ item_assets: { a: refs } }],
    [{ assets: { a: { alternate: { s3: refs } } } }],
    [{ links: [null, refs] }],
  ])('usesExtension is true for %j', (document) => expect(usesExtension(document)).toBe(true))

  it.each([
    [{ stac_extensions: ['https://stac-extensions.github.io/storage/v2.0.0/schema.json'] }],
    [{ $schema: 'http://json-schema.org/draft-07/schema#', properties: { 'auth:schemes': {} } }],
    [{ auths: { 'host.example': {} }, auth_token: 'x', author: 'x' }],
    [{ components: { schemas: { 'auth:schemes': {} } } }],
    [{ assets: [refs], links: refs }],
  ])('usesExtension is false for %j', (document) => expect(usesExtension(document)).toBe(false))
})

describe('likelyType', () => {
  it.each([
    ['Feature', { type: 'Item', links: [] }],
    ['Feature', { type: 'feature', links: [] }],
    ['Feature', { properties: {}, geometry: null }],
    ['Feature', { assets: {} }],
    ['Collection', { type: 'collection' }],
    ['Collection', { type: 'dataset', extent: {}, assets: {} }],
    ['Collection', { license: 'other' }],
    ['Catalog', { type: 'Catalogue', license: 'other' }],
    ['Catalog', { type: 7, links: [] }],
    ['FeatureCollection', { type: 'featurecollection' }],
    ['FeatureCollection', { features: [] }],
  ])('likelyType is %s for %j', (type, document) => expect(likelyType({ ...document, 'auth:schemes': {} })).toBe(type))

  it('likelyType is that of a list whose documents use the extension', () => {
    expect(likelyType({ features: [{ type: 'Feature', assets: { a: refs } }] })).toBe('FeatureCollection')
  })

  it('likelyType is undefined for what has a right type or does not use the extension', () => {
    expect(likelyType({ type: 'Catalog', 'auth:schemes': {} })).toBeUndefined()
    expect(likelyType({ type: 'Item', assets: {} })).toBeUndefined()
    expect(likelyType({ collections: [{ 'auth:schemes': {} }] })).toBeUndefined()
  })
})

describe('claimsStac', () => {
  it.each([
    [{ type: 'Feature', stac_version: '1.0.0' }],
    [{ type: 'Feature', assets: {} }],
    [{ type: 'Catalog', links: [] }],
    [{ stac_version: '0.6.0' }],
    [{ type: 'Item', assets: { a: refs } }],
    [[{ stac_version: '1.0.0' }]],
    [{ type: 'FeatureCollection', features: [{ type: 'Feature', stac_version: '1.0.0' }] }],
    [{ collections: [{ type: 'Collection', links: [] }] }],
  ])('claimsStac is true for %j', (value) => expect(claimsStac(value)).toBe(true))

  it.each([
    [null],
    [[1]],
    [{ name: 'x' }],
    [{ type: 'Feature', geometry: null, properties: {} }],
    [{ type: 'FeatureCollection', features: [{ type: 'Feature', properties: {} }] }],
    [{ type: 'Collection', totalItems: 0 }],
    [{ collections: ['a'] }],
  ])('claimsStac is false for %j', (value) => expect(claimsStac(value)).toBe(false))

  it('does not depend on how deep lists are nested in lists', () => {
    expect(claimsStac(JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)))).toBe(false)
    expect(claimsStac(JSON.parse(`${'{"features":['.repeat(20_000)}${']}'.repeat(20_000)}`))).toBe(false)
  })
})

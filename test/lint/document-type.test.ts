import { describe, expect, it } from 'vitest'
import { lint, lintText } from '../../src/lint/index.ts'
import { EXTENSION } from '../harness/documents.ts'

const schemes = { key: { type: 'apiKey', in: 'header', name: 'X-Key' } }
const members = {
  stac_version: '1.0.0',
  stac_extensions: [EXTENSION],
  id: 'x',
  properties: { 'auth:schemes': schemes },
  assets: { data: { href: 'https://data.example/f', 'auth:refs': ['gone', 'key'] } },
  links: [],
}
const found = (document: unknown) => lint(document).map(({ code, pointer }) => `${code} ${pointer}`)

describe('a document that uses the extension', () => {
  it.each([
    ['Item', '/type', 'type is "Item": this looks like an Item, which has "type": "Feature"'],
    [7, '/type', 'type is not a string: this looks like an Item, which has "type": "Feature"'],
    [undefined, '', 'type is missing: this looks like an Item, which has "type": "Feature"'],
  ])('a document that uses the extension with the type %j is checked as what it looks like', (type, pointer, message) => {
    const problems = lintText(JSON.stringify({ type, ...members }))
    expect(problems.map(({ code }) => code)).toEqual(['wrong-document-type', 'dangling-ref'])
    expect(problems[0]).toMatchObject({ rule: 'document-type', severity: 'error', pointer, message, line: 1, id: 'x' })
  })

  it('only by its declaration is an error too', () => {
    expect(found({ stac_extensions: [EXTENSION], id: 'x', links: [] })).toEqual(['missing-schemes ', 'wrong-document-type '])
  })

  it('only by a reference is an error too', () => {
    expect(found({ id: 'x', type: 'catalog', links: [{ href: 'https://data.example/', 'auth:refs': ['key'] }] })).toContain(
      'wrong-document-type /type',
    )
  })

  it('a document that uses the extension is checked as a Collection by its extent', () => {
    const { properties: _, ...others } = members
    const collection = { ...others, extent: {}, license: 'other', 'auth:schemes': schemes }
    expect(found(collection)).toEqual(['wrong-document-type ', 'dangling-ref /assets/data/auth:refs/0'])
  })

  it('a document that uses the extension in a list without a type is checked there', () => {
    const list = {
      features: [
        { type: 'Feature', ...members },
        { type: 'feature', ...members },
      ],
    }
    expect(found(list)).toEqual([
      'wrong-document-type ',
      'dangling-ref /features/0/assets/data/auth:refs/0',
      'dangling-ref /features/1/assets/data/auth:refs/0',
      'wrong-document-type /features/1/type',
    ])
  })

  it('loses no repeated name', () => {
    const text = JSON.stringify(members).replace('"id":"x"', '"id":"x","id":"x"')
    expect(lintText(text).map(({ code }) => code)).toContain('duplicate-key')
  })
})

it('reports nothing about the type of what does not use the extension', () => {
  expect(found({ type: 'Item', assets: {}, auth_token: 'x' })).toEqual(['unknown-document '])
  expect(found({ $schema: 'https://json-schema.org/draft-07/schema#', properties: { 'auth:schemes': {} } })).toEqual(['unknown-document '])
})

it('says which types there are for a Catalog of a version of STAC before 1.0, which has none', () => {
  const catalog = { stac_version: '0.9.0', id: 'root', description: 'x', links: [] }
  const message = 'not a STAC document: it has no type, not Feature, Collection, Catalog or FeatureCollection'
  expect(lint(catalog)).toMatchObject([{ code: 'unknown-document', severity: 'warn', message }])
})

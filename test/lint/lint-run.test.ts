import { describe, expect, it } from 'vitest'
import { LintRun, lint, lintText } from '../../src/lint/index.ts'
import { EXTENSION } from '../harness/documents.ts'

function itemOf(id: string, scheme: object): string {
  const properties = { datetime: null, 'auth:schemes': { key: scheme } }
  const assets = { data: { href: 'https://data.example/a', 'auth:refs': ['key'] } }
  return JSON.stringify({
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: [EXTENSION],
    id,
    geometry: null,
    properties,
    links: [],
    assets,
  })
}

const header = { type: 'apiKey', name: 'x-api-key', in: 'header' }
const query = { type: 'apiKey', name: 'key', in: 'query' }

function findings(texts: readonly string[], run = new LintRun()): readonly string[] {
  return texts.flatMap((text) => lintText(text, { run, document: 'x.json' })).map(({ code, message, id }) => `${id}: ${code}: ${message}`)
}

describe('a run of several documents', () => {
  it('reports a name that is defined twice, at the later one', () => {
    expect(findings([itemOf('a', header), itemOf('b', query), itemOf('c', header), itemOf('d', query)])).toEqual([
      'b: conflicting-scheme: the scheme "key" differs from that in a (x.json): use one definition or two names',
    ])
  })

  it('takes the order of members and the description for the same definition', () => {
    const other = { description: 'for everyone', in: 'header', type: 'apiKey', name: 'x-api-key' }
    expect(findings([itemOf('a', header), itemOf('b', other)])).toEqual([])
  })

  it('compares the documents of one site, and those without a URL of their own', () => {
    const at = (id: string, scheme: object, self: string) =>
      JSON.stringify({ ...JSON.parse(itemOf(id, scheme)), links: [{ rel: 'self', href: `https://${self}/${id}.json` }] })
    const texts = [
      at('a', header, 'stac.one.example'),
      at('b', query, 'two.example'),
      at('c', query, 'data.one.example'),
      itemOf('d', header),
    ]
    const run = new LintRun({ siteOf: (host) => host.split('.').slice(-2).join('.') })
    expect(findings(texts, run)).toEqual([
      'c: conflicting-scheme: the scheme "key" differs from that in a (x.json): use one definition or two names',
    ])
  })

  it('forgets what earlier runs have seen', () => {
    const rules = {}
    expect(lintText(itemOf('a', header), { rules })).toEqual([])
    const run = new LintRun()
    expect(lintText(itemOf('b', query), { rules, run })).toEqual([])
    expect(lintText(itemOf('a', header), { rules, run }).map(({ code }) => code)).toEqual(['conflicting-scheme'])
  })

  describe('a run of several documents with a Collection whose schemes only Items refer to', () => {
    const collection = {
      type: 'Collection',
      stac_version: '1.1.0',
      stac_extensions: [EXTENSION],
      id: 'c',
      description: 'd',
      license: 'MIT',
      extent: {},
      'auth:schemes': { key: header, spare: query },
      links: [],
    }
    const { 'auth:schemes': _, ...bare } = JSON.parse(itemOf('a', header)).properties
    const borrower = { ...JSON.parse(itemOf('a', header)), properties: bare }
    const unused = (problems: readonly { code: string; pointer: string }[]) =>
      problems.filter(({ code }) => code === 'unused-scheme').map(({ pointer }) => pointer)

    it('finds them used, in any order, and the others unused', () => {
      for (const order of [
        [collection, borrower],
        [borrower, collection],
      ]) {
        const run = new LintRun()
        const all = order.flatMap((document) => lint(document, { run }))
        expect(unused(run.settled(all))).toEqual(['/auth:schemes/spare'])
      }
    })

    it('finds them used within a list too', () => {
      expect(unused(lint([collection, borrower]))).toEqual(['/0/auth:schemes/spare'])
      expect(unused(lintText(JSON.stringify([borrower, collection])))).toEqual(['/1/auth:schemes/spare'])
    })

    it('finds them unused when each Item refers to a definition of its own, and in a document by itself', () => {
      expect(unused(lint([collection, JSON.parse(itemOf('a', header))]))).toEqual(['/0/auth:schemes/key', '/0/auth:schemes/spare'])
      expect(unused(lint(collection))).toEqual(['/auth:schemes/key', '/auth:schemes/spare'])
    })

    it('does not take the scheme of an Item for used by another Item', () => {
      const spare = JSON.parse(itemOf('b', header))
      expect(unused(lint([{ ...spare, assets: {} }, borrower]))).toEqual(['/0/properties/auth:schemes/key'])
    })

    it('sees a lone name, and the refs of schemes', () => {
      const lone = { ...borrower, assets: { data: { href: 'https://data.example/a', 'auth:refs': 'spare' } } }
      expect(unused(lint([collection, lone, borrower]))).toEqual([])
      const chained = JSON.parse(itemOf('a', { type: 'oauth2', flows: {}, 'auth:refs': ['spare', 'key'] }))
      expect(unused(lint([collection, chained]))).toEqual(['/0/auth:schemes/key'])
    })

    it('takes every scheme for used above the limit of names, whatever comes first', () => {
      const many = Array.from({ length: 10_001 }, (_none, index) => `n${index}`)
      const stranger = { ...borrower, assets: { data: { href: 'https://data.example/a', 'auth:refs': many } } }
      expect(unused(lint([collection, stranger]))).toEqual([])
      expect(unused(lint([stranger, borrower, collection]))).toEqual([])
    })
  })
})

import { describe, expect, it } from 'vitest'
import { LintRun, lintText } from '../../src/lint/index.ts'

const EXTENSION = 'https://stac-extensions.github.io/authentication/v1.1.0/schema.json'

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
  it('tells a name that is defined twice, at the later one', () => {
    expect(findings([itemOf('a', header), itemOf('b', query), itemOf('c', header), itemOf('d', query)])).toEqual([
      'b: conflicting-scheme: the scheme "key" differs from the one in a: use the same definition or another name',
    ])
  })

  it('takes the order of members and the description for the same definition', () => {
    const other = { description: 'for everyone', in: 'header', type: 'apiKey', name: 'x-api-key' }
    expect(findings([itemOf('a', header), itemOf('b', other)])).toEqual([])
  })

  it('forgets what earlier runs have seen', () => {
    const rules = {}
    expect(lintText(itemOf('a', header), { rules })).toEqual([])
    const run = new LintRun()
    expect(lintText(itemOf('b', query), { rules, run })).toEqual([])
    expect(lintText(itemOf('a', header), { rules, run }).map(({ code }) => code)).toEqual(['conflicting-scheme'])
  })

  it('does not take what is clean under some rules for clean under others', () => {
    const run = new LintRun()
    const doubled = itemOf('a', header).replace('["key"]', '["key","key"]')
    expect(lintText(doubled, { run, rules: { 'duplicate-ref': 'off' } })).toEqual([])
    expect(lintText(doubled, { run }).map(({ code }) => code)).toEqual(['duplicate-ref'])
  })
})

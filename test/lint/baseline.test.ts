import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { type Baseline, Comparison, isBaseline, withFingerprint } from '../../src/lint/baseline.ts'
import { lintText, type Problem } from '../../src/lint/index.ts'
import { EXTENSION } from '../harness/documents.ts'

function itemOf(refs: readonly string[], links: readonly object[] = []) {
  const properties = { 'auth:schemes': { key: { type: 'apiKey', name: 'x-api-key', in: 'header' } } }
  const assets = { data: { href: 'https://data.example/a', 'auth:refs': refs } }
  return { type: 'Feature', stac_version: '1.1.0', stac_extensions: [EXTENSION], id: 'scene', geometry: null, properties, links, assets }
}

const found = (value: unknown, document = 'a.json') => lintText(JSON.stringify(value), { document, complete: withFingerprint })
const names = (problems: readonly Problem[]) => problems.map(({ fingerprint }) => fingerprint)

describe('fingerprints', () => {
  it('fingerprints name rule, document and place, with refs and relations instead of numbers', () => {
    const link = { rel: 'license', href: 'https://spdx.org/x?token=abc', 'auth:refs': ['key'] }
    expect(names(found(itemOf(['key', 'gone'], [link])))).toContain('dangling-ref scene /assets/data/auth:refs/gone')
    expect(names(found(itemOf(['key', 'gone'], [{ rel: 'self' }, link])))).toContain('foreign-host-ref scene /links/license/auth:refs')
    expect(JSON.stringify(names(found(itemOf(['key'], [link]))))).not.toContain('abc')
  })

  it('fingerprints stay when lines move, elements change places, or the document is one of many', () => {
    const alone = names(found(itemOf(['key', 'gone'])))
    expect(names(found(itemOf(['gone', 'key']), 'b.json'))).toEqual(alone)
    expect(names(found({ type: 'FeatureCollection', features: [itemOf(['key']), itemOf(['key', 'gone'])] }))).toEqual(alone)
  })

  it('fingerprints go by the name of a document that has no id', () => {
    expect(names(lintText('{', { document: 'a.json', complete: withFingerprint }))).toEqual(['not-json a.json '])
  })
})

describe('a baseline', () => {
  const compared = (problems: readonly Problem[], before: Baseline = { version: 1, findings: {} }) => {
    const comparison = new Comparison(before)
    return { comparison, news: comparison.news(problems) }
  }
  const known = found(itemOf(['key', 'gone', 'gone']))
  const baseline = compared(known).comparison.updated()

  it('a baseline is a table of counts that its schema knows', () => {
    const schema = JSON.parse(readFileSync(new URL('../../schemas/lint-baseline.json', import.meta.url), 'utf8'))
    expect(baseline.findings).toEqual({
      'dangling-ref scene /assets/data/auth:refs/gone': 2,
      'duplicate-ref scene /assets/data/auth:refs/gone': 1,
    })
    expect(new Ajv({ strict: true }).validate(schema, baseline)).toBe(true)
    expect([
      isBaseline(baseline),
      isBaseline({ ...baseline, version: 2 }),
      isBaseline({ version: 1, findings: { x: 0 } }),
      isBaseline([]),
    ]).toEqual([true, false, false, false])
  })

  it('covers as many findings as it counted, tells what is more, and what is gone', () => {
    const same = compared(known, baseline)
    expect([same.news, same.comparison.known, same.comparison.gone()]).toEqual([[], 3, []])
    const more = compared(found(itemOf(['gone', 'gone', 'gone'])), baseline)
    expect([more.news.length, more.comparison.known, more.comparison.gone()]).toEqual([3, 3, []])
    const other = compared(found(itemOf(['key', 'other'])), baseline)
    expect([other.comparison.known, other.comparison.gone()]).toEqual([0, Object.keys(baseline.findings)])
  })

  it('a baseline is the same for findings that come one by one', () => {
    const comparison = new Comparison(baseline)
    const news = found(itemOf(['gone', 'gone', 'gone'])).flatMap((problem) => comparison.news([problem]))
    expect(news).toEqual(compared(found(itemOf(['gone', 'gone', 'gone'])), baseline).news)
    expect([comparison.total, comparison.known]).toEqual([6, 3])
  })

  it('covers the codes of rules as it covered rules that had their names', () => {
    const [problem] = known
    expect(
      withFingerprint({ ...problem, rule: 'family', code: 'dangling-ref' } as Problem, { document: undefined, at: '', near: undefined })
        .fingerprint,
    ).toMatch(/^dangling-ref scene /)
  })

  it('loses what is gone when it is pruned, and gains nothing', () => {
    const { comparison } = compared(found(itemOf(['gone', 'other'])), baseline)
    expect(comparison.pruned().findings).toEqual({ 'dangling-ref scene /assets/data/auth:refs/gone': 1 })
  })
})

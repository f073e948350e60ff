import { describe, expect, it } from 'vitest'
import { withFingerprint } from '../../src/lint/baseline.ts'
import { lint, lintText, type Problem } from '../../src/lint/index.ts'
import { PLACES, Repeats, withoutRepeats } from '../../src/lint/reporters/report.ts'
import { EXTENSION } from '../harness/documents.ts'

const DECLARED = { stac_extensions: [EXTENSION] }
const KEY = { type: 'apiKey', name: 'x-api-key', in: 'header' }

function itemOf(id: string, refs: readonly string[], schemes?: object) {
  const properties = { datetime: null, ...(schemes && { 'auth:schemes': schemes }) }
  const assets = Object.fromEntries(['a', 'b'].map((name) => [name, { href: `https://data.example/${name}`, 'auth:refs': refs }]))
  return { type: 'Feature', stac_version: '1.1.0', stac_extensions: [EXTENSION], id, geometry: null, properties, links: [], assets }
}

const pageOf = (count: number, refs: readonly string[], around: object = {}, schemes?: object) => ({
  type: 'FeatureCollection',
  features: Array.from({ length: count }, (_, index) => itemOf(`i${index}`, refs, schemes)),
  ...around,
})
const told = (value: unknown, indent?: number) => withoutRepeats(lintText(JSON.stringify(value, null, indent), { document: 'page.json' }))

describe('findings of a document that has more than are listed', () => {
  it('a document with too many findings lists errors before infos, and each different error', () => {
    const schemes = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, KEY]))
    const assets = Object.fromEntries(
      Array.from({ length: 1500 }, (_, index) => [`a${index}`, { href: 'https://data.example/a', 'auth:refs': ['gone'] }]),
    )
    const item = {
      ...itemOf('one', ['lost'], schemes),
      assets: { ...assets, last: { href: 'https://data.example/a', 'auth:refs': ['lost'] } },
    }
    const problems = lint(item)
    expect(problems).toHaveLength(1000)
    expect(new Set(problems.map(({ severity }) => severity))).toEqual(new Set(['error']))
    expect(problems.some(({ message }) => message.includes('"lost"'))).toBe(true)
    expect(problems.find(({ rule }) => rule === 'document-limit')).toMatchObject({
      severity: 'error',
      message: '562 further findings are not listed',
    })
  })
})

describe('repeated findings', () => {
  it('repeated findings are one finding at the page without schemes, with their number and the first', () => {
    const page = pageOf(250, ['gone'], { numberReturned: 250 })
    const [problem, ...others] = told(page, 1)
    expect(others).toEqual([])
    expect(problem).toMatchObject({
      rule: 'missing-schemes',
      severity: 'error',
      document: 'page.json',
      pointer: '',
      line: 1,
      column: 1,
      count: 250,
    })
    expect(problem).not.toHaveProperty('id')
    expect(problem).not.toHaveProperty('cause')
    expect(problem?.places).toHaveLength(PLACES)
    expect(problem?.places?.[1]).toEqual({
      id: 'i1',
      pointer: '/features/1/properties',
      line: expect.any(Number),
      column: expect.any(Number),
    })
  })

  it('repeated findings are one finding at the schemes of the page that do not define a name', () => {
    const page = pageOf(3, ['gone'], { ...DECLARED, 'auth:schemes': { key: KEY } })
    expect(told(page)).toMatchObject([{ rule: 'dangling-ref', pointer: '/auth:schemes', count: 6 }])
  })

  it('repeated findings are one finding at the scheme that only the page defines', () => {
    const page = pageOf(3, ['key'], { ...DECLARED, 'auth:schemes': { key: KEY } })
    expect(told(page)).toMatchObject([{ rule: 'scheme-outside-document', pointer: '/auth:schemes/key', count: 6, fix: 'suggestion' }])
  })

  it('repeated findings stay where they are when only one document has the mistake', () => {
    const page = { ...pageOf(1, ['gone']), features: [itemOf('one', ['gone']), itemOf('two', ['key'], { key: KEY })] }
    const problems = told(page)
    expect(problems).toMatchObject([{ rule: 'missing-schemes', id: 'one', pointer: '/features/0/properties' }])
    expect(problems[0]).not.toHaveProperty('count')
    expect(problems[0]).not.toHaveProperty('cause')
  })

  it('repeated findings stay at their first place when the documents have schemes of their own', () => {
    const problems = told(pageOf(4, ['gone'], {}, { gane: KEY })).filter(({ severity }) => severity === 'error')
    expect(problems).toMatchObject([{ rule: 'dangling-ref', id: 'i0', pointer: '/features/0/assets/a/auth:refs/0', count: 8 }])
  })

  it('repeated findings are reported with the mistake of the page itself', () => {
    const links = [{ rel: 'next', href: 'https://data.example/2', 'auth:refs': ['gone'] }]
    const page = pageOf(2, ['gone'], { ...DECLARED, links, 'auth:schemes': { key: KEY } })
    expect(told(page)).toMatchObject([{ rule: 'dangling-ref', pointer: '/auth:schemes', count: 5 }])
  })

  it('repeated findings are several when rule, message, severity or scheme differ', () => {
    const item = itemOf('one', ['gone', 'lost', 'one', 'two'], { one: { type: 'http' }, two: { type: 'http' } })
    const problems = told(item)
    expect(problems.map(({ message }) => message).filter((message) => /gone|lost/.test(message))).toHaveLength(2)
    expect(problems.filter(({ pointer }) => /auth:schemes\/(?:one|two)/.test(pointer))).toHaveLength(2)
  })

  it('repeated findings of one scheme in many documents are one', () => {
    expect(told(pageOf(3, ['key'], {}, { key: { ...KEY, in: 'headers' } })).filter(({ severity }) => severity === 'error')).toMatchObject([
      { pointer: '/features/0/properties/auth:schemes/key/in', count: 3 },
    ])
  })

  it('repeated findings add up when they are put together again', () => {
    const all = lint(pageOf(9, ['gone'], {}, { gane: KEY }))
    const halves = [withoutRepeats(all.slice(0, 7)), withoutRepeats(all.slice(7))]
    expect(withoutRepeats(halves.flat())).toEqual(withoutRepeats(all))
  })

  it('repeated findings that come in parts are the same as those that come at once', () => {
    const all = lint(pageOf(9, ['gone'], { 'auth:schemes': { key: KEY } }))
    const repeats = new Repeats()
    for (const problem of all) repeats.add([problem])
    expect(repeats.take()).toEqual(withoutRepeats(all))
    expect(repeats.size).toBe(0)
  })

  it('repeated findings have a fix only when all of them have it, and are safe to fix only when all are', () => {
    const one: Problem = { rule: 'r', code: 'r', severity: 'warn', message: 'm', pointer: '/assets/a' }
    const fixes = (...all: readonly Problem['fix'][]) => withoutRepeats(all.map((fix) => ({ ...one, ...(fix && { fix }) })))[0]?.fix
    expect([fixes('safe', 'safe'), fixes('safe', 'suggestion'), fixes('suggestion', 'safe'), fixes('safe', undefined)]).toEqual([
      'safe',
      'suggestion',
      'suggestion',
      undefined,
    ])
  })

  it('repeated findings have a fingerprint that does not depend on the Items of a page', () => {
    const names = (page: object) =>
      withoutRepeats(lint(page, { document: 'page.json', complete: withFingerprint })).map(({ fingerprint }) => fingerprint)
    expect(names(pageOf(3, ['gone']))).toEqual(['missing-schemes page.json '])
    expect(names({ ...pageOf(3, ['gone']), features: pageOf(5, ['gone']).features.slice(2) })).toEqual(names(pageOf(3, ['gone'])))
  })
})

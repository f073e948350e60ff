import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { caseOf, RULE_NAMES } from '../../src/lint/config.ts'
import { lintText, type Problem, rules } from '../../src/lint/index.ts'
import { locate } from '../../src/lint/pointer.ts'
import { pages } from '../../src/lint/rules/pages.ts'

interface RuleFixture {
  readonly pointer: string
  readonly bad?: unknown
  readonly good?: unknown
  readonly badText?: string
  readonly goodText?: string
}

const FIXTURES = new URL('../../fixtures/rules/', import.meta.url)
const SOURCES = new URL('../../src/lint/rules/', import.meta.url)
const EVERYTHING = Object.fromEntries(rules.map(({ meta }) => [meta.id, 'error'] as const))
const cases = rules.flatMap(({ meta: { id: rule, section }, cases: all }) => all.map(({ meta }) => ({ rule, section, ...meta })))

function fixture(id: string): RuleFixture {
  return JSON.parse(readFileSync(new URL(`${id}.json`, FIXTURES), 'utf8'))
}

const textOf = (document: unknown, text?: string) => text ?? JSON.stringify(document, null, 2)
const found = (problems: readonly Problem[], id: string) => problems.filter(({ code }) => code === id)

/** What is found by asking is tested where documents are served. */
const inDocuments = cases.filter(({ section }) => section !== 'crawl' && section !== 'online')

describe.each(inDocuments)('$code', ({ rule, code, messages, severity }) => {
  const { pointer, bad, good, badText, goodText } = fixture(code)

  it('reports the bad example once, at its position', () => {
    const text = textOf(bad, badText)
    const problems = found(lintText(text, { rules: EVERYTHING }), code)
    expect(problems.map((problem) => [problem.rule, problem.pointer])).toEqual([[rule, code === 'not-json' ? '' : pointer]])
    if (code === 'not-json') return
    expect(problems[0]).toMatchObject({ ...locate(text, [pointer]).get(pointer) })
  })

  it('does not report the good example', () => {
    expect(found(lintText(textOf(good, goodText), { rules: EVERYTHING }), code)).toEqual([])
  })

  it('reports nothing when it is off, and has the level of its preset', () => {
    const text = textOf(bad, badText)
    expect(found(lintText(text, { rules: { ...EVERYTHING, [code]: 'off' } }), code)).toEqual([])
    expect(found(lintText(text, { rules: { ...EVERYTHING, [rule]: 'off' } }), code)).toEqual([])
    for (const preset of ['recommended', 'strict', 'schema'] as const) {
      const levels = found(lintText(text, { preset }), code).map((problem) => problem.severity)
      expect(new Set(levels)).toEqual(new Set(severity[preset] === 'off' ? [] : [severity[preset]]))
    }
  })

  it('has a page and short messages without an end mark', () => {
    const { why = '', repair = [] } = pages[code] ?? {}
    for (const sentence of [why, ...repair]) expect(sentence).toMatch(/^[^\s].{10,}[.}\]]$/)
    expect(repair.length).toBeGreaterThan(0)
    for (const message of Object.values(messages)) expect(message).toMatch(/^.{3,120}[^.]$/)
  })
})

it('a case that no document alone can break has a page too', () => {
  const others = cases.filter((one) => !inDocuments.includes(one))
  expect(others.map(({ code }) => code)).toEqual([
    's3-public-bucket',
    'endpoint-unreachable',
    'endpoint-answer',
    'endpoint-metadata',
    'scope-unlisted',
    'endpoint-cors',
    'unreachable',
    'self-mismatch',
  ])
  for (const { code } of others) expect(pages[code]?.why).toMatch(/\.$/)
})

describe('the catalogue', () => {
  const ids = rules.map(({ meta }) => meta.id)
  const codes = cases.map(({ code }) => code)

  it('lists every rule file and every fixture once', () => {
    const names = (folder: URL, end: string) => readdirSync(folder).map((name) => name.replace(end, ''))
    expect(names(SOURCES, '.ts').sort()).toEqual([...ids, 'index', 'pages'].sort())
    expect(names(FIXTURES, '.json').sort()).toEqual([...codes].sort())
    expect(new Set(ids).size).toBe(ids.length)
    expect(new Set(codes).size).toBe(codes.length)
  })

  it('reads a long misspelt field in linear time', () => {
    const field = `auth${':'.repeat(500_000)}\n`
    const text = JSON.stringify({ type: 'Feature', stac_version: '1.1.0', assets: { a: { href: 'a', [field]: 1 } } })
    expect(() => lintText(text)).not.toThrow()
  })

  it('gives no name to a rule and to one of several cases: a configuration would mean both', () => {
    for (const { meta, cases: all } of rules) {
      const own = all.map((one) => one.meta.code)
      if (own.length === 1) expect(own).toEqual([meta.id])
      else expect(codes).not.toContain(meta.id)
    }
  })

  it('knows the name of each case to itself, so that reports and fixes can distinguish them', () => {
    for (const { cases: all } of rules) for (const { meta } of all) expect(caseOf(meta.code)?.[1].meta).toBe(meta)
    expect(RULE_NAMES).toEqual(expect.arrayContaining([...ids, ...codes]))
  })

  it('shows no example twice, on one page or on two', () => {
    const examples = codes.flatMap((code) => {
      const { bad, badText, good, goodText } = fixture(code)
      return [textOf(bad, badText), textOf(good, goodText)]
    })
    expect(examples.filter((text, index) => examples.indexOf(text) !== index)).toEqual([])
  })

  it('reports no error for a good example', () => {
    const noisy = codes.filter((code) => {
      const { good, goodText } = fixture(code)
      return lintText(textOf(good, goodText), { preset: 'recommended' }).some(({ severity }) => severity === 'error')
    })
    expect(noisy).toEqual([])
  })
})

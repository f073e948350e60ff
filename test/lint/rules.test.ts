import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { lintText, type Problem, rules } from '../../src/lint/index.ts'
import { locate } from '../../src/lint/locate.ts'
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

function fixture(id: string): RuleFixture {
  return JSON.parse(readFileSync(new URL(`${id}.json`, FIXTURES), 'utf8'))
}

const textOf = (document: unknown, text?: string) => text ?? JSON.stringify(document, null, 2)
const found = (problems: readonly Problem[], id: string) => problems.filter(({ rule }) => rule === id)

/** What is found by asking is tested where documents are served. */
const inDocuments = rules.map(({ meta }) => meta).filter(({ section }) => section !== 'crawl' && section !== 'online')

describe.each(inDocuments)('$id', ({ id, messages, severity }) => {
  const { pointer, bad, good, badText, goodText } = fixture(id)

  it('is found once in the bad example, at its place', () => {
    const text = textOf(bad, badText)
    const problems = found(lintText(text, { rules: EVERYTHING }), id)
    expect(problems.map((problem) => problem.pointer)).toEqual([id === 'not-json' ? '' : pointer])
    if (id === 'not-json') return
    expect(problems[0]).toMatchObject({ ...locate(text, [pointer]).get(pointer) })
  })

  it('is not found in the good example', () => {
    expect(found(lintText(textOf(good, goodText), { rules: EVERYTHING }), id)).toEqual([])
  })

  it('is silent when it is off, and never louder than its preset says', () => {
    const text = textOf(bad, badText)
    expect(found(lintText(text, { rules: { ...EVERYTHING, [id]: 'off' } }), id)).toEqual([])
    for (const preset of ['recommended', 'strict', 'schema'] as const) {
      const levels = found(lintText(text, { preset }), id).map((problem) => problem.severity)
      expect(new Set(levels)).toEqual(new Set(severity[preset] === 'off' ? [] : [severity[preset]]))
    }
  })

  it('has a page and short messages without an end mark', () => {
    expect(pages[id]).toMatch(/\.$/)
    for (const message of Object.values(messages)) expect(message).toMatch(/^.{3,120}[^.]$/)
  })
})

it('a rule that no document alone can break has a page too', () => {
  const others = rules.filter(({ meta }) => !inDocuments.includes(meta))
  expect(others.map(({ meta }) => meta.id)).toEqual(['s3-public-bucket', 'unreachable', 'self-mismatch'])
  for (const { meta } of others) expect(pages[meta.id]).toMatch(/\.$/)
})

describe('the catalogue', () => {
  const ids = rules.map(({ meta }) => meta.id)

  it('lists every rule file and every fixture once', () => {
    const sources = readdirSync(SOURCES).filter((name) => name !== 'index.ts' && name !== 'pages.ts')
    expect(sources.map((name) => name.replace('.ts', '')).sort()).toEqual([...ids].sort())
    expect(
      readdirSync(FIXTURES)
        .map((name) => name.replace('.json', ''))
        .sort(),
    ).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('reports nothing at all for most good examples in the strict preset but what they cannot avoid', () => {
    const noisy = ids.filter((id) => {
      const { good, goodText } = fixture(id)
      return lintText(textOf(good, goodText), { preset: 'recommended' }).some(({ severity }) => severity === 'error')
    })
    expect(noisy).toEqual([])
  })
})

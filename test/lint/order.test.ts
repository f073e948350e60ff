/** What a document says does not depend on what was linted before it. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { lintText, type Problem } from '../../src/lint/index.ts'
import { caseCount } from '../harness/case-count.ts'
import { randomFrom } from './damaged.ts'

interface RuleFixture {
  readonly bad?: unknown
  readonly good?: unknown
  readonly badText?: string
}

const FIXTURES = new URL('../../fixtures/rules/', import.meta.url)
const fixtures: readonly RuleFixture[] = readdirSync(FIXTURES).map((name) => JSON.parse(readFileSync(new URL(name, FIXTURES), 'utf8')))

/** JSON as programs write it. */
const SERIALIZATIONS: Readonly<Record<string, (document: unknown) => string>> = {
  compact: (document) => JSON.stringify(document),
  pretty: (document) => JSON.stringify(document, null, 2),
  'with a blank before each colon': (document) => spaced(document, ', ', ' : '),
  'with ASCII only': (document) =>
    spaced(document, ', ', ': ').replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'with sorted names': (document) => JSON.stringify(sorted(document)),
}

function spaced(value: unknown, comma: string, colon: string): string {
  if (Array.isArray(value)) return `[${value.map((element) => spaced(element, comma, colon)).join(comma)}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}${colon}${spaced(inner, comma, colon)}`)
  return `{${members.join(comma)}}`
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  )
}

const told = (problems: readonly Problem[]) =>
  problems
    .map(({ code, severity, message, pointer, line, column }) => `${code} ${severity} ${pointer} ${line}:${column} ${message}`)
    .join('\n')

/** Findings of a text that is the first one ever: a table of levels of its own has rules of its own. */
const alone = (text: string) => told(lintText(text, { preset: 'strict', rules: {} }))

/** Like the document, with another id: the relatives of a document in a folder of one producer. */
function relatives(document: unknown, count: number): unknown[] {
  return Array.from({ length: count }, (_, index) =>
    typeof document === 'object' && document !== null && !Array.isArray(document) ? { ...document, id: `relative-${index}` } : document,
  )
}

/** Neighbours in the shuffled order, over all serializations. */
const PAIRS = caseCount(100_000, 3_000)

describe.each(Object.entries(SERIALIZATIONS))('documents written %s', (_, serialize) => {
  it('have the same findings alone as among 50 clean documents', () => {
    const families = fixtures.flatMap(({ bad, good, badText }) => [
      ...(good === undefined ? [] : [relatives(good, 50).map(serialize)]),
      ...(bad === undefined ? [] : [relatives(bad, 3).map(serialize)]),
      ...(badText === undefined ? [] : [[badText]]),
    ])
    const expected = new Map<string, string>()
    for (const family of families) {
      const [first = ''] = family
      const found = alone(first)
      // A relative differs in its id only: without a finding there is no position that depends on it.
      for (const text of family) expected.set(text, found === '' || text === first ? found : alone(text))
    }
    const texts = families.flat()
    expect([...expected.values()].filter((problems) => problems !== '').length).toBeGreaterThan(200)
    const random = randomFrom(texts.length)
    const rules = {}
    let pairs = 0
    while (pairs < PAIRS / Object.keys(SERIALIZATIONS).length) {
      for (const text of shuffled(texts, random)) {
        const found = told(lintText(text, { preset: 'strict', rules }))
        if (found !== expected.get(text)) expect(found, text).toBe(expected.get(text))
        pairs++
      }
    }
  })

  it('report a duplicate name, whatever was linted before', () => {
    const rules = {}
    for (const { good } of fixtures) {
      if (typeof good !== 'object' || good === null || Array.isArray(good)) continue
      const texts = relatives(good, 50).map(serialize)
      for (const text of texts) lintText(text, { rules })
      for (const text of texts.slice(0, 3)) {
        const repeated = text.replace('{', '{"stac_version" : "1.1.0",')
        const isRepeated = lintText(repeated, { rules }).some(({ code }) => code === 'duplicate-key')
        expect(isRepeated, repeated).toBe('stac_version' in good)
      }
    }
  })
})

function shuffled<T>(list: readonly T[], random: (limit: number) => number): T[] {
  const copy = [...list]
  for (let index = copy.length - 1; index > 0; index--) {
    const other = random(index + 1)
    const [one, two] = [copy[index], copy[other]]
    if (one === undefined || two === undefined) continue
    copy[index] = two
    copy[other] = one
  }
  return copy
}

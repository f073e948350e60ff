import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { lint, lintText } from '../../src/lint/index.ts'
import type { StacDocument } from '../../src/stac/document.ts'

interface Case {
  readonly id: string
  readonly verdict: 'valid' | 'invalid'
  readonly rules: readonly string[]
  readonly document: unknown
  readonly parents?: readonly StacDocument[]
}

const cases: readonly Case[] = JSON.parse(readFileSync(new URL('../../fixtures/verdicts.json', import.meta.url), 'utf8'))

describe.each(cases)('$id', ({ verdict, rules, document, parents }) => {
  const problems = lint(document, { parents })

  it(`is ${verdict}`, () => {
    expect(problems.some(({ severity }) => severity === 'error')).toBe(verdict === 'invalid')
  })

  it('returns the findings that are listed, and besides them only infos', () => {
    const found = new Set(problems.map(({ code }) => code))
    expect(rules.filter((code) => !found.has(code))).toEqual([])
    expect(problems.filter(({ code, severity }) => severity !== 'info' && !rules.includes(code))).toEqual([])
  })

  it('reports no place twice by one rule, and the same from text and value', () => {
    const places = problems.map(({ code, pointer }) => `${code} ${pointer}`)
    expect(new Set(places).size).toBe(places.length)
    const fromText = lintText(JSON.stringify(document), { parents }).map(({ code, pointer }) => `${code} ${pointer}`)
    expect(fromText.sort()).toEqual(places.sort())
  })
})

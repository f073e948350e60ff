import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fixText } from '../../../src/lint/fix/fix-text.ts'
import { fixes } from '../../../src/lint/fix/fixes.ts'
import { lint, lintText, rules } from '../../../src/lint/index.ts'

const FIXTURES = new URL('../../../fixtures/rules/', import.meta.url)
const mendable = rules.flatMap(({ cases }) => cases.flatMap(({ meta }) => (meta.fix ? [meta] : [])))

describe('the table of fixes', () => {
  it('the table of fixes has a fix for each case that promises one, and no other', () => {
    expect(Object.keys(fixes).sort()).toEqual(mendable.map(({ code }) => code).sort())
  })
})

describe.each(mendable)('$code', ({ code: id, fix }) => {
  const { bad } = JSON.parse(readFileSync(new URL(`${id}.json`, FIXTURES), 'utf8'))
  const text = `${JSON.stringify(bad, null, 3)}\n`.replaceAll('\n', '\r\n')
  const only = [id]
  const levels = { [id]: 'error' } as const
  const fixed = fixText(`\ufeff${text}`, { suggestions: true, only, rules: levels })
  const lines = new Set(text.split('\r\n'))

  it('fixes its bad example, and once is enough', () => {
    expect(fixed.fixed.map(({ code }) => code)).toContain(id)
    expect(lintText(fixed.text, { rules: levels }).filter((problem) => problem.code === id && problem.fix)).toEqual([])
    expect(fixText(fixed.text, { suggestions: true, only, rules: levels })).toEqual({ text: fixed.text, fixed: [] })
  })

  it('leaves no more errors than there were', () => {
    const errors = (value: unknown) => lint(value).filter(({ severity }) => severity === 'error').length
    expect(errors(JSON.parse(fixed.text.slice(1)))).toBeLessThanOrEqual(errors(bad))
  })

  it('keeps the byte order mark, line ends, indentation and every other line', () => {
    expect(fixed.text).toMatch(/^\ufeff\{\r\n {3}"/)
    expect(fixed.text.replaceAll('\r\n', '')).not.toContain('\n')
    expect(fixed.text).toMatch(/\}\r\n$/)
    const written = JSON.stringify(JSON.parse(fixed.text.slice(1)), null, 3).split('\n')
    const changed = fixed.text
      .slice(1)
      .split('\r\n')
      .filter((line) => !lines.has(line))
    for (const line of changed) expect(line === '' || written.includes(line) || /\[".*"\],?$/.test(line), line).toBe(true)
  })

  it('works on one line too', () => {
    const flat = fixText(JSON.stringify(bad), { suggestions: true, only, rules: levels }).text
    expect(flat).not.toContain('\n')
    expect(JSON.parse(flat)).toEqual(JSON.parse(fixed.text.slice(1)))
  })

  it(`is ${fix}: applied when that is asked for`, () => {
    const safely = fixText(text, { only, rules: levels })
    expect(safely.fixed.length > 0).toBe(lintText(text, { rules: levels }).some((problem) => problem.code === id && problem.fix === 'safe'))
  })
})

import { describe, expect, it } from 'vitest'
import { codeFiles, projectFiles } from './files.ts'
import { sourceRules } from './source-rules.ts'

const files = [
  ...codeFiles('src', 'test', 'scripts', 'examples', 'bench'),
  ...projectFiles().filter(({ path }) => /^[^/]*\.ts$/.test(path)),
]

describe.each(sourceRules)('$name', ({ applies, check, bad, good }) => {
  it('holds', () => {
    const concerned = files.filter(({ path }) => applies(path))
    expect(concerned.length).toBeGreaterThan(0)
    expect(concerned.flatMap(({ path, text }) => check(text).map((problem) => `${path}: ${problem}`))).toEqual([])
  })

  it('can fail', () => {
    expect(check(bad)).toHaveLength(1)
    expect(check(good)).toEqual([])
  })
})

import { beforeAll, describe, expect, it } from 'vitest'
import { codeFiles, projectFiles } from './files.ts'
import { sourceRules } from './source-rules.ts'

const files = [
  ...codeFiles('src', 'test', 'scripts', 'examples', 'bench'),
  ...projectFiles().filter(({ path }) => /^[^/]*\.ts$/.test(path)),
]

/** By rule. Each file is parsed once for all of them. */
const problems = new Map(sourceRules.map(({ name }) => [name, { files: 0, found: [] as string[] }]))

beforeAll(() => {
  for (const { path, text } of files) {
    for (const { name, applies, check } of sourceRules) {
      const ofRule = problems.get(name)
      if (!ofRule || !applies(path)) continue
      ofRule.files++
      ofRule.found.push(...check(text).map((problem) => `${path}: ${problem}`))
    }
  }
})

describe.each(sourceRules)('$name', ({ name, check, bad, good }) => {
  it('holds', () => {
    expect(problems.get(name)?.files).toBeGreaterThan(0)
    expect(problems.get(name)?.found).toEqual([])
  })

  it('can fail', () => {
    expect(check(bad)).toHaveLength(1)
    expect(check(good)).toEqual([])
  })
})

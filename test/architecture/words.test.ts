import { describe, expect, it } from 'vitest'
import { codeFiles, projectFiles } from './files.ts'
import { replacedName, replacedPhrases, replacedWords } from './words.ts'

const sources = codeFiles('src')
/** But for the tests of these words, which hold them all. */
const tests = codeFiles('test').filter(({ path }) => !path.startsWith('test/architecture/words'))
const texts = projectFiles().filter(({ path }) => /^(?:src|docs|examples)\/|^[A-Z]+\.md$/.test(path) && /\.(?:ts|md)$/.test(path))

describe('the words of the glossary', () => {
  it('the words of the glossary are used by the identifiers of src and test', () => {
    expect(sources.length).toBeGreaterThan(300)
    expect(tests.length).toBeGreaterThan(300)
    expect([...sources, ...tests].flatMap(({ path, text }) => replacedWords(path, text).map((problem) => `${path}: ${problem}`))).toEqual(
      [],
    )
  })

  it('the words of the glossary are used by the names of files and folders', () => {
    expect(sources.flatMap(({ path }) => (replacedName(path) ? [`${path}: ${replacedName(path)}`] : []))).toEqual([])
  })

  it('the words of the glossary are used by comments, messages and documentation', () => {
    expect(texts.length).toBeGreaterThan(300)
    expect([...texts, ...tests].flatMap(({ path, text }) => replacedPhrases(text).map((problem) => `${path} ${problem}`))).toEqual([])
  })
})

describe('the check of words', () => {
  it.each([
    ['src/auth/strategy.ts', 'const oneLeg = 1', 'oneLeg: say step instead of leg'],
    ['src/auth/strategy.ts', 'interface Legs {}', 'Legs: say steps instead of legs'],
    ['src/auth/strategy.ts', 'const a = { LAST_LEG: 1 }', 'LAST_LEG: say step instead of leg'],
    ['src/services/client/a.ts', 'class Governor {}', 'Governor: say service limits instead of governor'],
    ['src/auth/strategy.ts', 'function parseGrant() {}', 'parseGrant: say URL pattern instead of grant'],
    ['src/auth/strategy.ts', 'function entryForm() {}', 'entryForm: say credential instead of entry'],
    ['src/cli/flow.ts', 'const fullWorld = 1', 'fullWorld: say context instead of world'],
  ])('finds in %s: %s', (path, text, problem) => {
    expect(replacedWords(path, text)).toEqual([problem])
  })

  it.each([
    ['src/strategies/oauth2/grants.ts', 'const deviceGrant = 1'],
    ['src/services/translation/glossaries.ts', 'class GlossaryEntry {}'],
    ['src/auth/a.ts', 'Object.fromEntries(a); const legacy = elegant'],
    ['src/auth/a.ts', "const text = 'one leg' // a leg"],
  ])('accepts in %s: %s', (path, text) => {
    expect(replacedWords(path, text)).toEqual([])
  })

  it('finds words in names of files', () => {
    expect(replacedName('src/services/client/governor.ts')).toMatch(/service limits/)
    expect(replacedName('src/auth/one-leg.ts')).toMatch(/step/)
    expect(replacedName('src/strategies/oauth2/grant.ts')).toBeUndefined()
    expect(replacedName('src/crypto/legacy-digests.ts')).toBeUndefined()
  })

  it('finds phrases in texts, and not names in code', () => {
    expect(replacedPhrases('a\n/** The governor waits. */')).toEqual(['line 2: say service limits in "/** The governor waits. */"'])
    expect(replacedPhrases('the first leg\nthe legs')).toHaveLength(2)
    expect(replacedPhrases('| `Leg` | `governor` | `limits` |')).toEqual([])
  })
})

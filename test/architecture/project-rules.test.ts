import { describe, expect, it } from 'vitest'
import { codeFiles, projectFiles } from './files.ts'
import { foreignWords, nameProblem } from './project-rules.ts'

const code = codeFiles('src', 'test', 'scripts', 'bench')

describe('names', () => {
  it('names of files are in kebab-case and describe their content', () => {
    expect(code.flatMap(({ path }) => (nameProblem(path) ? [`${path}: ${nameProblem(path)}`] : []))).toEqual([])
  })

  it.each(['src/utils/a.ts', 'src/http/helpers.ts', 'src/auth/session-x/Manager.ts', 'src/handler.ts', 'src/createAuth.ts', 'src/a_b.ts'])(
    'names are refused: %s',
    (path) => expect(nameProblem(path)).toBeDefined(),
  )

  it.each(['src/auth/create-auth.ts', 'test/s3/sigv4.test.ts', 'src/http/message.ts'])('names are accepted: %s', (path) =>
    expect(nameProblem(path)).toBeUndefined(),
  )
})

describe('the project', () => {
  it('speaks of itself alone', () => {
    const found = projectFiles().flatMap(({ path, text }) => {
      const words = foreignWords(text)
      return words ? [`${path} ${words}`] : []
    })
    expect(found).toEqual([])
  })

  it.each([
    ['..', 'shared', 'spec'].join('/'),
    `read ${['', 'work', 'main'].join('/')}`,
    `see ${['', 'root', 'x'].join('/')}`,
    ['', 'home', 'ada', 'x'].join('/'),
    `as ${'Issue'} 2 says`,
    `as ${['trust', 'md'].join('.')} says`,
    `https://${['registry', 'npmjs', 'org'].join('.')}/`,
    `"${'resolved'}": "https://packages.example/a.tgz"`,
    `${'<'.repeat(7)} HEAD`,
  ])('would notice %s', (text) => expect(foreignWords(`first\n${text}`)).toMatch(/^line 2: /))

  it.each(['https://data.example/work/a', 'a/root/b', 'this issue is open', '"/properties/auth:schemes/root/x"'])(
    'the project has nothing against %s',
    (text) => expect(foreignWords(text)).toBeUndefined(),
  )
})

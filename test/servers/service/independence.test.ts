import { expect, it } from 'vitest'
import { codeFiles } from '../../architecture/files.ts'
import { importsOf } from '../../architecture/imports.ts'

/** What a judge may not lean on: the library, packages, other servers of ours. */
const leans = (path: string, text: string) =>
  importsOf(text)
    .map(({ specifier }) => specifier ?? 'a computed import')
    .filter((specifier) => !/^(?:node:|\.\/|\.\.\/service\/)/.test(specifier))
    .map((specifier) => `${path}: ${specifier}`)

it('judges import nothing but Node and themselves', () => {
  const judges = /^test\/servers\/(?:chaos|service|translation|time-tracking|rest)\//
  const files = codeFiles('test').filter(({ path }) => judges.test(path) && !path.endsWith('.test.ts'))
  expect(files.length).toBeGreaterThan(50)
  expect(files.flatMap(({ path, text }) => leans(path, text))).toEqual([])
})

it('would notice the library', () => {
  expect(leans('a.ts', "import { a } from '../../../src/index.ts'\nimport 'undici'")).toEqual([
    'a.ts: ../../../src/index.ts',
    'a.ts: undici',
  ])
})

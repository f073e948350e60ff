import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generators } from '../../scripts/generators.ts'
import { root } from './files.ts'

const textOf = (name: string) => readFileSync(`${root}scripts/${name}`, 'utf8')
const WRITTEN = /emit\(new URL\('\.\.\/(src\/[^']+)'/g

it('a generator that writes a module of src runs before those that import it, so that one run of all is enough', () => {
  const names = generators()
  const written = names.flatMap((name, at) => [...textOf(name).matchAll(WRITTEN)].map(([, path]) => ({ path, at })))
  expect(written.length).toBeGreaterThan(1)
  const early = written.flatMap(({ path, at }) => names.slice(0, at).filter((name) => textOf(name).includes(`'../${path}'`)))
  expect(early).toEqual([])
})

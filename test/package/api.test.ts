/** The documentation of what the package exports. `npm run generate` writes docs/api.md and test/types/api-report.txt from the same. */
import { expect, it } from 'vitest'
import { type ExportedName, surfaces } from '../../scripts/api-surface.ts'

const all = surfaces()
const once: readonly ExportedName[] = [...new Map(all.flatMap(({ names }) => names.map((name) => [name.origin, name] as const))).values()]
const callable = once.filter(({ kind, isError }) => kind === 'function' || (kind === 'class' && !isError))

it('every exported name has a sentence', () => {
  expect(once.length).toBeGreaterThan(400)
  expect(once.filter(({ summary }) => summary === '').map(({ name, origin }) => `${name} (${origin})`)).toEqual([])
})

it('sentences do not repeat the name', () => {
  const empty = once.filter(({ name, summary }) => summary.replace(/[^a-z]/gi, '').toLowerCase() === name.toLowerCase())
  expect(empty.map(({ name }) => name)).toEqual([])
})

it('every member has a comment', () => {
  expect(once.flatMap(({ name, members }) => members.missing.map((member) => `${name}.${member}`))).toEqual([])
})

it('every function and class has an example', () => {
  expect(callable.length).toBeGreaterThan(100)
  expect(callable.filter(({ examples }) => examples.length === 0).map(({ name, origin }) => `${name} (${origin})`)).toEqual([])
})

// This may only get better: lower it with what you export or inline.
it('types in declarations that cannot be imported do not get more', () => {
  expect(new Set(once.flatMap(({ hidden }) => hidden)).size).toBeLessThanOrEqual(73)
})

/** The documentation of what the package exports. `npm run generate` writes docs/api.md and test/types/api-report.txt from the same. */
import { expect, it } from 'vitest'
import { type ExportedName, surfaces } from '../../scripts/api-surface.ts'

const all = surfaces()
const once: readonly ExportedName[] = [...new Map(all.flatMap(({ names }) => names.map((name) => [name.origin, name] as const))).values()]
const callable = once.filter(({ kind, isError }) => kind === 'function' || (kind === 'class' && !isError))

it('exports what programs call', () => {
  const entries = new Set(all.map(({ entry }) => entry.name.replace(/(adapters)\/.*/, '$1')))
  expect(entries.size).toBeLessThanOrEqual(20)
  expect(once.length).toBeGreaterThan(200)
  expect(all.flatMap(({ names }) => names).length).toBeLessThanOrEqual(300)
})

it('every exported name has a sentence', () => {
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
  expect(callable.length).toBeGreaterThan(80)
  expect(callable.filter(({ examples }) => examples.length === 0).map(({ name, origin }) => `${name} (${origin})`)).toEqual([])
})

// This may only get better: lower it with what you comment.
it('members of the types within declarations do not lack more comments', () => {
  const parts = all.flatMap((surface) => surface.parts)
  expect(parts.length).toBeGreaterThan(200)
  expect(parts.flatMap(({ members }) => members.missing).length).toBeLessThanOrEqual(49)
})

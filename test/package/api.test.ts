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

// These may only get better: raise them with what you add.
it('members with a comment, examples, and types that can be imported do not get fewer', () => {
  const sum = (of: (name: ExportedName) => number) => once.reduce((total, name) => total + of(name), 0)
  const documented = sum(({ members }) => members.documented) / sum(({ members }) => members.all)
  expect(documented).toBeGreaterThanOrEqual(0.78)
  expect(callable.filter(({ examples }) => examples.length > 0).length / callable.length).toBeGreaterThanOrEqual(0.8)
  expect(new Set(once.flatMap(({ hidden }) => hidden)).size).toBeLessThanOrEqual(91)
})

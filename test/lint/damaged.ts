/** Documents that somebody broke, the same ones in every run. */
import { readdirSync, readFileSync } from 'node:fs'

const FIXTURES = new URL('../../fixtures/rules/', import.meta.url)
/** The examples of all rules. */
export const documents: readonly unknown[] = readdirSync(FIXTURES)
  .map((name) => JSON.parse(readFileSync(new URL(name, FIXTURES), 'utf8')))
  .flatMap(({ bad, good }) => [bad, good])
  .filter((document) => document !== undefined)

/** Values of every JSON type, and names that mislead careless look-ups. */
const ODD = [
  null,
  true,
  0,
  Number.MAX_VALUE,
  -1,
  '',
  'x',
  '__proto__',
  'https://',
  'http://a/?sig=1',
  [],
  [null],
  [[]],
  {},
  { type: 'oauth2' },
  { 'auth:refs': ['x'] },
  ['toString', 'constructor'],
]
const NAMES = ['auth:refs', 'auth:schemes', 'Auth:Refs', 'type', 'flows', 'href', 'alternate', '__proto__', 'constructor', '']

/** Numbers from 0 to below `limit`, by a seed. */
export function randomFrom(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** Replaces, removes, adds or renames one member somewhere in the value. */
export function damage(value: unknown, random: (limit: number) => number): unknown {
  if (typeof value !== 'object' || value === null || random(6) === 0) return ODD[random(ODD.length)]
  if (Array.isArray(value)) {
    const index = random(value.length + 1)
    return Object.assign([...value], { [index]: damage(value[index], random) })
  }
  const names = Object.keys(value)
  const name = names[random(names.length)] ?? 'auth:refs'
  const members = Object.entries(value)
  if (random(8) === 0) return Object.fromEntries(members.filter(([key]) => key !== name))
  if (random(8) === 0) return Object.fromEntries([...members, [NAMES[random(NAMES.length)] ?? '', ODD[random(ODD.length)]]])
  return Object.fromEntries(members.map(([key, inner]) => [key, key === name ? damage(inner, random) : inner]))
}

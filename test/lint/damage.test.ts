import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { lint, lintText } from '../../src/lint/index.ts'

const FIXTURES = new URL('../../fixtures/rules/', import.meta.url)
const documents = readdirSync(FIXTURES)
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

function randomFrom(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** Replaces, removes, adds or renames one member somewhere in the value. */
function damage(value: unknown, random: (limit: number) => number): unknown {
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

const sound = (problems: readonly { rule: string; message: string; pointer: string }[]) =>
  problems.every(
    ({ rule, message, pointer }) => rule && message && !/\{\S/.test(message) === !/\{\w+\}/.test(message) && /^(?:\/.*)?$/s.test(pointer),
  )

describe('damaged documents', () => {
  it('never make it throw, and every finding has a message and a pointer', () => {
    const random = randomFrom(20261120)
    for (let round = 0; round < 6000; round++) {
      let document: unknown = documents[random(documents.length)]
      for (let times = 1 + random(4); times > 0; times--) document = damage(document, random)
      const text = JSON.stringify(document) ?? 'null'
      const problems = lint(JSON.parse(text), { preset: 'strict' })
      expect(sound(problems), text).toBe(true)
      expect(
        lintText(text, { preset: 'strict' })
          .map(({ rule, pointer }) => `${rule} ${pointer}`)
          .sort(),
        text,
      ).toEqual(problems.map(({ rule, pointer }) => `${rule} ${pointer}`).sort())
    }
    expect(Object.prototype).not.toHaveProperty('auth:refs')
  })

  it('give the same findings whether clean documents like them were seen before or not', () => {
    const clean = catalogItem()
    expect(lintText(JSON.stringify(clean), { preset: 'strict' })).toEqual([])
    const random = randomFrom(7)
    for (let round = 0; round < 3000; round++) {
      const text = JSON.stringify(damage(clean, random)) ?? 'null'
      const seen = lintText(text, { preset: 'strict' }).map(({ rule, pointer }) => `${rule} ${pointer}`)
      const fresh = lintText(text, { preset: 'strict', rules: {} }).map(({ rule, pointer }) => `${rule} ${pointer}`)
      expect(seen, text).toEqual(fresh)
    }
  })
})

/** An Item that has a bit of everything and nothing wrong with it. */
function catalogItem() {
  const refs = { 'auth:refs': ['oidc', 'key'] }
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
    id: 'scene',
    geometry: { type: 'Point', coordinates: [1, 2] },
    properties: {
      datetime: '2026-01-01T00:00:00Z',
      'auth:schemes': {
        oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' },
        key: { type: 'apiKey', name: 'x-api-key', in: 'header' },
        store: { type: 's3' },
      },
    },
    links: [
      { rel: 'self', href: 'https://data.example/item.json', ...refs },
      { rel: 'license', href: 'https://spdx.org/licenses/MIT' },
    ],
    assets: {
      data: {
        href: 'https://data.example/a.tif',
        roles: ['data'],
        ...refs,
        alternate: { s3: { href: 's3://bucket/a.tif', 'auth:refs': ['store'], 'storage:refs': ['eu'] } },
      },
      thumbnail: { href: 'https://data.example/a.png' },
    },
  }
}

import { expect, it } from 'vitest'
import { siteOf } from '../../src/cli/lint/linter.ts'
import { EXTENSION } from '../harness/documents.ts'
import { put, temporaryFolder } from './folder.ts'
import { run } from './run.ts'

const folder = await temporaryFolder()

/** An Item at one host whose link of relation `license` leads to another one and asks for a credential. */
const itemOf = (home: string, licence: string) => ({
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: [EXTENSION],
  id: 'x',
  geometry: null,
  properties: { datetime: null, 'auth:schemes': { key: { type: 'http', scheme: 'bearer' } } },
  links: [
    { rel: 'self', href: `https://${home}/item.json` },
    { rel: 'license', href: `https://${licence}/licence`, 'auth:refs': ['key'] },
  ],
  assets: {},
})

it.each([
  ['a.co.uk', 'b.co.uk', true],
  ['ada.github.io', 'eve.github.io', true],
  ['eo.example.org', 'other.org', true],
  ['data.example.org', 'auth.example.org', false],
  ['data.archive.co.uk', 'www.archive.co.uk', false],
  ['192.0.2.1', '192.0.2.2', true],
])('finds that a licence of %s at %s is of another site: %s', async (home, licence, isForeign) => {
  const file = await put(folder, 'item.json', itemOf(home, licence))
  const { stdout } = await run(['lint', '--format', 'json', file])
  const codes = JSON.parse(stdout).problems.map(({ code }: { code: string }) => code)
  expect(codes).toEqual(isForeign ? ['foreign-host-ref'] : [])
})

it.each([
  ['data.example.co.uk', 'example.co.uk'],
  ['tiles.ada.github.io', 'ada.github.io'],
  ['192.0.2.1', '192.0.2.1'],
  ['localhost', 'localhost'],
])('returns the registrable domain of %s: %s', (host, site) => {
  expect(siteOf(host)).toBe(site)
})

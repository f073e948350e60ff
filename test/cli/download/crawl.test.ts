import { expect, it, vi } from 'vitest'
import { temporaryFolder } from '../folder.ts'
import { run } from '../run.ts'
import { type Answer, body, serve } from '../server.ts'
import { downloaded, filesIn, itemOf, startArchive, TOKEN } from './fixture.ts'

const archive = await startArchive()
const json = (value: object): Answer => body(JSON.stringify(value))
const itemFor = (id: string) => itemOf(id, { data: { href: `${archive.origin}/private/${id}-20.tif`, 'auth:refs': ['token'] } })
const catalog = (id: string, links: object[]) => ({ type: 'Catalog', stac_version: '1.0.0', id, description: id, links })
const page = (ids: readonly string[], next?: string) => ({
  type: 'FeatureCollection',
  features: ids.map(itemFor),
  links: next === undefined ? [] : [{ rel: 'next', href: next }],
})
const server = await serve({
  '/catalog.json': json(
    catalog('root', [
      { rel: 'child', href: './north.json' },
      { rel: 'item', href: './a.json' },
      { rel: 'item', href: './gone.json' },
    ]),
  ),
  '/north.json': json(catalog('north', [{ rel: 'item', href: './b.json' }])),
  '/a.json': json(itemFor('a')),
  '/b.json': json(itemFor('b')),
  '/search': json(page(['p', 'q'], './search-2')),
  '/search-2': json(page(['r'])),
})

it('follows a catalog, and reports what could not be read', async () => {
  const { code, stderr, files } = await downloaded(archive, [`${server.origin}catalog.json`, '--crawl', '--retries', '1'])
  expect([code, Object.keys(files)]).toEqual([5, ['a/a-20.tif', 'b/b-20.tif']])
  expect(stderr).toMatch(/^error HTTP_404: .*gone.json/)
})

it('reports what it did not follow without being asked to', async () => {
  const list = await downloaded(archive, [`${server.origin}search`])
  expect([list.code, Object.keys(list.files), list.stderr]).toEqual([
    0,
    ['p/p-20.tif', 'q/q-20.tif'],
    `warning CRAWL_LIMIT: ${server.origin}search has further pages: --crawl reads them too\n`,
  ])
  const root = await downloaded(archive, [`${server.origin}catalog.json`])
  expect([root.code, root.stdout, root.stderr]).toEqual([
    2,
    '',
    expect.stringMatching(/^warning CRAWL_LIMIT: .*--crawl.*\nerror TARGET_NOT_FOUND: nothing to download: no document has an asset\n$/),
  ])
})

it('reads all pages of a list, or as many as are wanted', async () => {
  const all = await downloaded(archive, [`${server.origin}search`, '--crawl'])
  expect([all.code, Object.keys(all.files), all.stderr]).toEqual([0, ['p/p-20.tif', 'q/q-20.tif', 'r/r-20.tif'], ''])
  const some = await downloaded(archive, [`${server.origin}search`, '--crawl', '--max-pages', '1'])
  expect([some.code, Object.keys(some.files)]).toEqual([0, ['p/p-20.tif', 'q/q-20.tif']])
})

it('gives other hosts no credentials', async () => {
  vi.stubEnv('STAC_AUTH_TOKEN', TOKEN)
  const folder = await temporaryFolder()
  const env = { STAC_AUTH_TOKEN: TOKEN, STAC_AUTH_TOKEN_FOR: 'https://elsewhere.example/' }
  const { code, stderr } = await run(['download', `${server.origin}a.json`, '-d', folder], { env })
  expect([code, await filesIn(folder)]).toEqual([4, {}])
  expect(stderr).toMatch(/CREDENTIAL_TARGET_UNTRUSTED|URL_ADDRESS_FORBIDDEN|URL_INSECURE/)
})

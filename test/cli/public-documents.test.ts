/** A credential whose secret cannot be read does not close public documents, and opens no protected one. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { lastError, run } from './run.ts'

let folder = ''
let server: AnsweringServer
let credentials: readonly string[] = []

beforeAll(async () => {
  folder = await temporaryFolder()
  server = await startAnswering(({ path }) => {
    if (path === '/private/item.json') return { status: 401, headers: { 'www-authenticate': 'Bearer' } }
    if (path === '/catalog.json') return json(catalogOf('./item.json'))
    return json(itemOf(`${server.origin}/file`))
  })
  const portal = { id: 'portal', type: 'http', scheme: 'bearer', token: { env: 'UNSET_TOKEN' }, sendTo: [`${server.origin}/`] }
  await writeFile(join(folder, 'credentials.json'), JSON.stringify({ version: 1, credentials: [portal] }), { mode: 0o600 })
  credentials = ['--credentials', join(folder, 'credentials.json')]
})
afterAll(() => server.close())

const json = (document: object) => ({ status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(document) })

const itemOf = (href: string) =>
  itemWith({ data: { href, 'auth:refs': ['portal'] } }, { schemes: { portal: { type: 'http', scheme: 'bearer' } } })

const catalogOf = (href: string) => ({
  type: 'Catalog',
  stac_version: '1.0.0',
  id: 'root',
  description: 'All scenes',
  links: [{ rel: 'item', href }],
})

const WARNING = /^warning CREDENTIAL_SOURCE: .*"portal".*UNSET_TOKEN is not set.*Public documents are read without this credential$/m

it.each([
  ['lint', (url: string) => ['lint', `${url}/item.json`]],
  ['lint --crawl', (url: string) => ['lint', '--crawl', `${url}/catalog.json`]],
  ['explain', (url: string) => ['explain', `${url}/item.json`]],
  ['download --dry-run', (url: string) => ['download', '--dry-run', `${url}/item.json`]],
])('%s reads a public document and warns once about the credential', async (_name, argv) => {
  const { code, stderr } = await run([...argv(server.origin), ...credentials])
  expect(stderr).toMatch(WARNING)
  expect(stderr.match(/warning/g)).toHaveLength(1)
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')])
  expect(server.exchanges.every(({ request }) => request.headers.authorization === undefined)).toBe(true)
})

it('reports the credential, not the refusal, for a document that is not public', async () => {
  const outcome = await run(['explain', '--json', `${server.origin}/private/item.json`, ...credentials])
  expect(outcome.code).toBe(3)
  expect(lastError(outcome)).toMatchObject({ code: 'CREDENTIAL_SOURCE', credential: 'portal' })
})

it('does not fetch an asset or a URL without the credential that it needs', async () => {
  const before = server.exchanges.length
  const asset = await run(['fetch', `${server.origin}/item.json`, '--asset', 'data', ...credentials])
  expect([asset.code, asset.stderr]).toEqual([3, expect.stringMatching(/^error CREDENTIAL_SOURCE/m)])
  const url = await run(['fetch', `${server.origin}/file`, ...credentials])
  expect([url.code, url.stderr]).toEqual([3, expect.stringMatching(/^error CREDENTIAL_SOURCE/m)])
  expect(server.exchanges.slice(before).map(({ request }) => request.path)).toEqual(['/item.json'])
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startS3Server } from '../servers/s3-server.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemAt } from './items.ts'
import { run } from './run.ts'
import { body, KEY, serve } from './server.ts'

/** A catalog of an archive that protects everything and knows no authentication extension. */
const item = (assets: Readonly<Record<string, unknown>>, links: object[] = []) => ({ ...itemAt(assets), links })
const archive = await serve({
  '/private/data.tif': body('II*\0data'),
  '/private/catalog.json': body(
    JSON.stringify({
      type: 'Catalog',
      stac_version: '1.0.0',
      id: 'c',
      description: 'd',
      links: [{ rel: 'item', href: 'item.json' }],
    }),
  ),
  '/private/item.json': body(JSON.stringify(item({ data: { href: 'data.tif' } }, [{ rel: 'via', href: 'data.tif' }]))),
})
const folder = await temporaryFolder()
const portal = {
  id: 'portal',
  type: 'apiKey',
  in: 'header',
  name: 'x-api-key',
  value: { env: 'STAC_AUTH_TEST_KEY' },
  sendTo: [`${archive.origin}private/`],
}
const credentials = await put(folder, 'credentials.json', { version: 1, credentials: [portal] })
const opted = await put(folder, 'opted.json', { version: 1, credentials: [{ ...portal, use: 'by-address' }] })
const document = `${archive.origin}private/item.json`
const DATA = `${archive.origin}private/data.tif`

beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_KEY', KEY))
afterEach(() => vi.unstubAllEnvs())

describe.each([
  ['--by-address', [credentials, '--by-address']],
  ['"use": "by-address"', [opted]],
])('%s', (_name, [file = '', ...options]) => {
  const command = (...argv: string[]) => run([...argv, '--credentials', file, ...options])

  it('authorizes an asset and a link without references', async () => {
    for (const choice of [
      ['--asset', 'data'],
      ['--link', 'via'],
    ]) {
      const { code, stdout } = await command('authorize', document, ...choice, '--as', 'json')
      expect([code, JSON.parse(stdout)]).toMatchObject([0, { url: DATA, headers: { 'x-api-key': KEY }, credential: 'portal' }])
      expect(JSON.parse(stdout)).not.toHaveProperty('ref')
    }
  })

  it('fetches it', async () => {
    const { code, stdout, stderr } = await command('fetch', document, '--asset', 'data')
    expect([code, stdout, stderr]).toEqual([0, 'II*\0data', expect.stringContaining('credential "portal"')])
  })

  it('downloads it, and reports that beforehand', async () => {
    const into = join(folder, `into${options.length}`)
    const planned = await command('download', document, '-d', into, '--dry-run')
    expect([planned.code, planned.stdout]).toEqual([0, `+ x/data.tif  ${DATA}  with "portal"\n1 file of unknown size\n`])
    const { code } = await command('download', `${archive.origin}private/catalog.json`, '--crawl', '-d', into)
    expect([code, await readFile(join(into, 'x/data.tif'), 'utf8')]).toEqual([0, 'II*\0data'])
  })

  it('explains it', async () => {
    const { code, stdout } = await command('explain', document)
    expect([code, stdout]).toEqual([0, expect.stringContaining('2 targets: /assets/data, /links/0\n  + by its URL: portal\n')])
    const { stdout: json } = await command('explain', document, '--asset', 'data', '--json')
    expect(JSON.parse(json)).toEqual([
      { pointer: '/assets/data', href: 'data.tif', refs: [], byAddress: { used: true, credential: 'portal' } },
    ])
  })
})

describe('without it', () => {
  it('reports that a credential covers the URL, and how to use it', async () => {
    const { code, stdout } = await run(['explain', document, '--credentials', credentials])
    expect([code, stdout]).toEqual([
      0,
      'this document declares no authentication\n\n' +
        '"portal" may be sent to the URLs of 2 of them: use --by-address, or set "use": "by-address" in the credential\n',
    ])
    const one = await run(['explain', document, '--asset', 'data', '--json', '--credentials', credentials])
    expect(JSON.parse(one.stdout)).toMatchObject([{ refs: [], byAddress: { credential: 'portal', used: false } }])
  })

  it('sends nothing, and names the option when the server refuses', async () => {
    const { code, stderr } = await run(['fetch', document, '--asset', 'data', '--credentials', credentials])
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('--by-address sends the credential whose sendTo matches the URL: stac-auth fetch '),
    ])
    expect(archive.requests.at(-1)).toEqual({ path: '/private/data.tif', key: undefined })
  })
})

it('exits as the chosen target does when its link requires to choose the request', async () => {
  const path = await put(folder, 'post.json', item({}, [{ rel: 'next', href: DATA, method: 'POST' }]))
  const command = (...argv: string[]) => run(['explain', path, ...argv, '--by-address', '--credentials', credentials])
  expect((await command()).code).toBe(0)
  const { code, stdout } = await command('--link', 'next')
  expect([code, stdout]).toEqual([4, expect.stringContaining('x by its URL: LINK_REQUEST_FORBIDDEN /links/0/method')])
})

it('lists a folder of a bucket that no reference protects', async () => {
  const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' }
  const server = await startS3Server({ objects: { 'eo/a.zarr/0': 'chunk' }, keys: [keys], region: 'eu-central-1' })
  onTestFinished(() => server.close())
  vi.stubEnv('KEY_ID', keys.accessKeyId)
  vi.stubEnv('SECRET', keys.secretAccessKey)
  const sources = { accessKeyId: { env: 'KEY_ID' }, secretAccessKey: { env: 'SECRET' } }
  const store = { id: 'eo', type: 's3', ...sources, region: 'eu-central-1', endpoint: server.url, sendTo: ['s3://eo/'] }
  const file = await put(folder, 's3.json', { version: 1, credentials: [store, portal] })
  const path = await put(folder, 'zarr.json', item({ zarr: { href: 's3://eo/a.zarr' }, web: { href: `${DATA}/` } }))
  const list = (...argv: string[]) => run(['list', path, ...argv, '--credentials', file])
  expect(await list('--asset', 'zarr', '--by-address')).toMatchObject({ code: 0, stdout: '           5  0\n' })
  expect((await list('--asset', 'zarr')).code).toBe(3)
  expect(await list('--asset', 'web', '--by-address')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('its credential "portal" is not for s3'),
  })
})

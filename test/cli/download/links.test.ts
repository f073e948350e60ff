import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startS3Server } from '../../servers/s3-server.ts'
import { put, temporaryFolder } from '../folder.ts'
import { itemWith } from '../items.ts'
import { lastError, run } from '../run.ts'
import { filesIn } from './fixture.ts'

const KEYS = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' }
const objects = { 'eo/P.SAFE/manifest.safe': '<xfdu/>', 'eo/P.SAFE/GRANULE/x.jp2': 'jp2', 'open/o/a.txt': 'a', 'eo/Q.SAFE/q': 'q' }
const server = await startS3Server({ objects, keys: [KEYS], public: ['open'] })
const folder = await temporaryFolder()
const credential = {
  id: 'store',
  type: 's3',
  accessKeyId: { env: 'STAC_AUTH_TEST_KEY' },
  secretAccessKey: { env: 'STAC_AUTH_TEST_SECRET' },
  endpoint: server.url,
  sendTo: ['s3://eo/'],
}
const credentials = await put(folder, 'credentials.json', { version: 1, credentials: [credential] })
const product = (id: string, name: string) => ({
  ...itemWith(
    { a: { href: 'https://data.example/a' } },
    {
      schemes: { s3: { type: 's3' } },
      links: [
        { rel: 'self', href: `https://data.example/${id}.json` },
        { rel: 'enclosure', href: `s3://eo/${name}/`, type: 'application/x-directory', 'auth:refs': ['s3'] },
      ],
    },
  ),
  id,
})

beforeEach(() => {
  vi.stubEnv('STAC_AUTH_TEST_KEY', KEYS.accessKeyId)
  vi.stubEnv('STAC_AUTH_TEST_SECRET', KEYS.secretAccessKey)
})
afterEach(() => vi.unstubAllEnvs())

async function download(...argv: string[]) {
  const into = await temporaryFolder()
  const outcome = await run(['download', ...argv, '-d', into, '--credentials', credentials])
  return { ...outcome, files: Object.keys(await filesIn(into)) }
}

describe('download --link', () => {
  it('downloads the folder that a link names, of each document of a list', async () => {
    const list = { type: 'FeatureCollection', features: [product('one', 'P.SAFE'), product('two', 'Q.SAFE')], links: [] }
    const { code, files, stderr } = await download(await put(folder, 'list.json', list), '--link', 'enclosure')
    expect([code, stderr]).toEqual([0, ''])
    expect(files).toEqual(['one/P.SAFE/GRANULE/x.jp2', 'one/P.SAFE/manifest.safe', 'two/Q.SAFE/q'])
  })

  it('names the relations of a document without such a link', async () => {
    const path = await put(folder, 'one.json', product('one', 'P.SAFE'))
    const outcome = await download(path, '--link', 'enclosures', '--json')
    expect(outcome.code).toBe(2)
    expect(lastError(outcome)).toMatchObject({ code: 'TARGET_NOT_FOUND', hint: 'the relations are: self, enclosure' })
  })

  it('is refused beside options that select assets', async () => {
    const path = await put(folder, 'one.json', product('one', 'P.SAFE'))
    expect(await download(path, '--link', 'enclosure', '--asset', 'a')).toMatchObject({ code: 2, files: [] })
  })

  it('shows the folder in a dry run', async () => {
    const path = await put(folder, 'one.json', product('one', 'P.SAFE'))
    const { code, stdout } = await download(path, '--link', 'enclosure', '--dry-run')
    expect([code, stdout.split('\n')[0]]).toEqual([0, '+ one/P.SAFE/  s3://eo/P.SAFE  with "store"'])
  })
})

describe('download of an s3:// URL', () => {
  it('downloads the folder with the credential that allows it', async () => {
    const { code, files } = await download('s3://eo/P.SAFE/')
    expect([code, files]).toEqual([0, ['eo/P.SAFE/GRANULE/x.jp2', 'eo/P.SAFE/manifest.safe']])
  })

  it('downloads a single object', async () => {
    expect(await download('s3://eo/P.SAFE/manifest.safe')).toMatchObject({ code: 0, files: ['eo/manifest.safe'] })
  })

  it('sends no signature where no credential allows the bucket', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url)
    const before = server.log.length
    const { code, files } = await download('s3://open/o/')
    expect([code, files]).toEqual([0, ['open/a.txt'].map((name) => name.replace('open/', 'open/o/'))])
    expect(server.log.slice(before).every(({ headers }) => headers.authorization === undefined)).toBe(true)
  })

  it('is never a whole bucket', async () => {
    expect(await download('s3://eo')).toMatchObject({ code: 4, files: [] })
  })
})

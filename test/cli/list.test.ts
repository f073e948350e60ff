import { Writable } from 'node:stream'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startS3Server } from '../servers/s3-server.ts'
import { put, temporaryFolder } from './folder.ts'
import { run } from './run.ts'

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' }
const objects = {
  'eo/store.zarr/zarr.json': '{}',
  'eo/store.zarr/c/0/0': 'chunk',
  'eo/odd/a\u001b[2J\n+é': 'odd',
  'eo/other': 'o',
  'free/a': 'a',
}
const server = await startS3Server({ objects, keys: [KEYS], region: 'eu-central-1', public: ['free'] })
afterAll(() => server.close())

const folder = await temporaryFolder()
const credentialsWith = (secret: string) => {
  const keys = { accessKeyId: { env: 'KEY_ID' }, secretAccessKey: { env: secret } }
  const entry = { id: 'eo', type: 's3', ...keys, region: 'eu-central-1', endpoint: server.url, sendTo: ['s3://eo/'] }
  return put(folder, `${secret}.json`, { version: 1, credentials: [entry] })
}
const good = await credentialsWith('SECRET')
const item = await put(folder, 'item.json', {
  type: 'Feature',
  properties: { 'auth:schemes': { store: { type: 's3' } } },
  assets: { zarr: { href: 's3://eo/store.zarr', 'auth:refs': ['store'] }, odd: { href: 's3://eo/odd/', 'auth:refs': ['store'] } },
})

const list = (...argv: string[]) => run(['list', ...argv, '--credentials', good])

beforeEach(() => {
  vi.stubEnv('KEY_ID', KEYS.accessKeyId)
  vi.stubEnv('SECRET', KEYS.secretAccessKey)
  vi.stubEnv('WRONG', 'wrong')
})
afterEach(() => vi.unstubAllEnvs())

describe('list', () => {
  it('prints what lies in the folder of an asset', async () => {
    const { code, stdout, stderr } = await list(item, '--asset', 'zarr')
    expect([code, stdout, stderr]).toEqual([0, '           5  c/0/0\n           2  zarr.json\n', '2 objects, 7 bytes\n'])
  })

  it('prints JSON for programs', async () => {
    const { stdout } = await list(item, '--asset', 'zarr', '--json', '--limit', '1')
    expect(JSON.parse(stdout)).toMatchObject({ key: 'store.zarr/c/0/0', path: 'c/0/0', size: 5, url: 's3://eo/store.zarr/c/0/0' })
    expect(stdout).toMatch(/^\{.*\}\n$/)
  })

  it('ends quietly in 130 when its reader goes before the end', async () => {
    const gone = Object.assign(new Error(), { code: 'EPIPE' })
    const stdout = new Writable({ write: (chunk, _encoding, done) => done(String(chunk).includes('zarr.json') ? gone : null) })
    expect(await run(['list', item, '--asset', 'zarr', '--credentials', good], { stdout })).toMatchObject({ code: 130, stderr: '' })
  })

  it('says that a URL without objects below it may be that of a file', async () => {
    const { code, stderr } = await list('s3://eo/store.zarr/zarr.json')
    expect([code, stderr]).toEqual([0, '0 objects, 0 bytes; if this is a file, stac-auth fetch sends it\n'])
  })

  it('reports when there may be more', async () => {
    expect((await list('s3://eo/', '--limit', '2')).stderr).toMatch(/^2 objects, \d+ bytes; there may be more: see --limit\n$/)
  })

  it('lets no name move the cursor or begin a line', async () => {
    expect((await list(item, '--asset', 'odd')).stdout).toBe('           3  a\\u{1b}[2J\\u{a}+é\n')
    const { stdout } = await list(item, '--asset', 'odd', '--json')
    expect(stdout).not.toContain('\u001b')
    expect(JSON.parse(stdout)).toMatchObject({ key: 'odd/a\u001b[2J\n+é', url: 's3://eo/odd/a%1B%5B2J%0A%2B%C3%A9' })
  })

  it('ends like every command when it is refused or its arguments are invalid', async () => {
    const wrong = await credentialsWith('WRONG')
    const refused = await run(['list', item, '--asset', 'zarr', '--credentials', wrong])
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('SignatureDoesNotMatch')])
    expect(await list(item)).toMatchObject({ code: 2, stderr: expect.stringContaining('no target is selected') })
    expect(await list('https://data.example/x/')).toMatchObject({ code: 4, stderr: expect.stringContaining('SCHEME_UNSUPPORTED') })
    for (const limit of ['0', '-1', '1.5', 'x']) expect((await list(item, '--asset', 'zarr', `--limit=${limit}`)).code).toBe(2)
  })

  it('lists a bucket without a credential as anybody would', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url)
    expect(await list('s3://free/')).toMatchObject({ code: 0, stdout: '           1  a\n' })
    const { code, stderr } = await list('s3://closed/')
    expect([code, stderr]).toEqual([3, expect.stringContaining('refuses requests without keys')])
    expect(server.log.at(-1)?.headers.authorization).toBeUndefined()
  })
})

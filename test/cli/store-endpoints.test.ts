import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startS3Server } from '../servers/s3-server.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { run } from './run.ts'

const server = await startS3Server({ objects: { 'open/o/a.txt': 'the object' }, keys: [], public: ['open'] })
const other = await startS3Server({ objects: { 'open/o/a.txt': 'another' }, keys: [], public: ['open'] })
const folder = await temporaryFolder()
const none = await put(folder, 'none.json', { version: 1, credentials: [] })
const item = await put(folder, 'open.json', itemWith({ a: { href: 's3://open/o/a.txt' } }, { schemes: {} }))

/** An Item with one asset, these schemes and properties of the storage extension. */
function stored(asset: object, schemes: object, storage: object): object {
  const document = itemWith({ a: asset }, { schemes }) as { readonly properties: object }
  return { ...document, properties: { ...document.properties, ...storage } }
}

afterEach(() => vi.unstubAllEnvs())

describe('an endpoint of object stores that the environment names', () => {
  it.each(['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL', 'CLOUD_ENDPOINT_URL_S3', 'CLOUD_ENDPOINT_URL'])(
    'in %s is asked for public buckets, also on loopback',
    async (variable) => {
      vi.stubEnv(variable, server.url)
      const fetched = await run(['fetch', item, '--asset', 'a', '--credentials', none])
      expect([fetched.code, fetched.stdout]).toEqual([0, 'the object'])
      expect((await run(['list', 's3://open/o/', '--credentials', none])).code).toBe(0)
    },
  )

  it('does not allow a document to name another origin on loopback', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url)
    const before = other.log.length
    const storage = { 'storage:schemes': { elsewhere: { type: 'custom-s3', platform: other.url } } }
    const asset = { href: 's3://open/o/a.txt', 'storage:refs': ['elsewhere'] }
    const path = await put(folder, 'elsewhere.json', stored(asset, {}, storage))
    const { code } = await run(['fetch', path, '--asset', 'a', '--credentials', none])
    expect([code, other.log.length - before]).toEqual([4, 0])
  })

  it('is ignored with AWS_IGNORE_CONFIGURED_ENDPOINT_URLS, and refused unless encrypted or on loopback', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_S3', 'http://store.example')
    const refused = await run(['fetch', item, '--asset', 'a', '--credentials', none])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('AWS_ENDPOINT_URL_S3 must be an https URL')])
    vi.stubEnv('AWS_IGNORE_CONFIGURED_ENDPOINT_URLS', 'true')
    expect((await run(['explain', item, '--credentials', none])).code).toBe(0)
  })
})

describe('the hint of a bucket without a credential', () => {
  beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_KEY', 'k'))
  const credentials = (entry: object) =>
    put(folder, 'keys.json', {
      version: 1,
      credentials: [
        {
          id: 'mine',
          type: 's3',
          accessKeyId: { env: 'STAC_AUTH_TEST_KEY' },
          secretAccessKey: { env: 'STAC_AUTH_TEST_KEY' },
          sendTo: ['s3://other/'],
          ...entry,
        },
      ],
    })
  const archive = (more: object = {}) => {
    const stores = { 'storage:schemes': { cdse: { type: 'custom-s3', platform: 'https://eodata.example' } } }
    return put(folder, 'archive.json', stored({ href: 's3://eodata/a', 'auth:refs': ['s3'], ...more }, { s3: { type: 's3' } }, stores))
  }

  it('names the service of the document', async () => {
    const { stdout } = await run(['explain', await archive({ 'storage:refs': ['cdse'] }), '--credentials', none])
    expect(stdout).toContain(
      'if you trust s3://eodata at https://eodata.example/, add this credential to the credential file: {"id":"s3","type":"s3","endpoint":"https://eodata.example/","sendTo":["s3://eodata/"]}',
    )
  })

  it.each([
    ['the document names another service', { 'storage:refs': ['cdse'] }, {}],
    ['the document names no service', {}, {}],
  ])('proposes another credential beside that of another service where %s', async (_where, more, entry) => {
    const { code, stdout } = await run(['explain', await archive(more), '--credentials', await credentials(entry)])
    expect([code, stdout]).toEqual([4, expect.stringContaining('CREDENTIAL_TARGET_UNTRUSTED')])
    expect(stdout).toContain('"mine" is for another service or bucket. If you trust s3://eodata')
    expect(stdout).toContain('add another credential to the credential file: {"id":"s3-eodata","type":"s3",')
    expect(stdout).not.toContain('credentials trust')
  })

  it('proposes to allow the bucket where the credential is for the service that the document names', async () => {
    const path = await archive({ 'storage:refs': ['cdse'] })
    const { stdout } = await run(['explain', path, '--credentials', await credentials({ endpoint: 'https://eodata.example' })])
    expect(stdout).toContain('stac-auth credentials trust mine s3://eodata/')
  })
})

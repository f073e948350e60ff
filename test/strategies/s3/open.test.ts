import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import type { HttpRequest, Transport } from '../../../src/http/message.ts'
import { undiciTransport } from '../../../src/node/transport/undici-transport.ts'
import { gdal } from '../../../src/outputs/gdal.ts'
import { assetOf } from '../../../src/stac/target.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { type S3Server, startS3Server } from '../../servers/s3-server.ts'

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'canary-secret' }

let store: S3Server
beforeEach(async () => {
  for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_ENDPOINT_URL_S3']) vi.stubEnv(name, undefined)
  store = await startS3Server({ objects: { 'open/a b': 'hello', 'closed/k': 'secret' }, keys: [KEYS], public: ['open'] })
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await store.close()
})

/** An item that asks for nothing; its storage is at that place. */
const item = (href: string, storage: object | null = { platform: store.url }) => ({
  type: 'Feature',
  properties: storage ? { 'storage:schemes': { main: { type: 'custom-s3', ...storage } } } : {},
  assets: { data: { href, ...(storage && { 'storage:refs': ['main'] }) } },
})
const asset = (href: string, storage?: object | null) => assetOf(item(href, storage), 'data')
const engine = (credential?: CredentialInput) => createAuth({ credentials: credential ? [credential] : [], typed: [store.url] })

describe('an s3:// asset that requests nothing', () => {
  it("an s3:// asset that requests nothing is fetched from its document's URL without a signature", async () => {
    const response = await engine().fetch(asset('s3://open/a%20b'), { headers: { range: 'bytes=1-3' } })
    expect([response.status, await response.text()]).toEqual([206, 'ell'])
    expect(store.log[0]?.headers).not.toHaveProperty('authorization')
  })

  it('stays closed where the bucket is, with keys at hand that were not requested', async () => {
    const entry = { type: 's3', ...KEYS, region: 'us-east-1', endpoint: store.url, sendTo: 's3://closed/' }
    const response = await engine(unchecked(entry)).fetch(asset('s3://closed/k'))
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('AccessDenied')])
    expect(store.log.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it('a public s3:// asset is read from the endpoint of the credential for its bucket', async () => {
    const entry = { type: 's3', ...KEYS, endpoint: store.url, sendTo: 's3://open/' }
    const target = assetOf(item('s3://open/a%20b', null), 'data')
    expect(await (await engine(unchecked(entry)).fetch(target)).text()).toBe('hello')
  })

  it('a public s3:// asset is read from Amazon by default', async () => {
    const target = assetOf(item('s3://open/a%20b', null), 'data')
    expect(await engine().authorize(target)).toMatchObject({ url: 'https://open.s3.us-east-1.amazonaws.com/a%20b', headers: {} })
  })

  it('an s3:// asset that requests nothing is opened by GDAL without a signature', async () => {
    const lines = gdal(await engine().authorize(asset('s3://open/a%20b', { platform: store.url, region: 'eu-central-1' }))).split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        'AWS_NO_SIGN_REQUEST=YES',
        'CLOUD_NO_SIGN_REQUEST=YES',
        `AWS_S3_ENDPOINT=${store.url.replace('http://', '')}`,
        'AWS_REGION=eu-central-1',
        'AWS_DEFAULT_REGION=eu-central-1',
        'AWS_VIRTUAL_HOSTING=FALSE',
        'AWS_HTTPS=NO',
        'GDAL_PATH=/vsis3/open/a b',
      ]),
    )
    expect(lines.filter((line) => /KEY|TOKEN/.test(line))).toEqual([])
  })

  it('an s3:// asset that requests nothing is not looked for at a loopback URL of the document', async () => {
    const auth = createAuth({ credentials: [] })
    expect(await failureOf(auth.fetch(asset('s3://open/a%20b')))).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
    expect(store.log).toEqual([])
  })

  it.each([
    ['http://169.254.169.254/latest', 'URL_ADDRESS_FORBIDDEN'],
    ['https://{bucket}.10.0.0.1', 'URL_ADDRESS_FORBIDDEN'],
    ['https://{bucket}.[::1]', 'URL_ADDRESS_FORBIDDEN'],
    ['https://{bucket}.store.internal', 'URL_ADDRESS_FORBIDDEN'],
    ['https://store.example.', 'URL_INVALID'],
  ])('an s3:// asset that requests nothing is not at %s, for any transport or for other programs', async (platform, code) => {
    const sent: string[] = []
    const transport: Transport = async ({ url }) => {
      sent.push(url)
      throw new Error('sent')
    }
    const auth = createAuth({ credentials: [], transport })
    const target = asset('s3://open/k', { platform })
    const failures = await Promise.all([auth.authorize(target), auth.fetch(target)].map(failureOf))
    for (const failure of failures) expect(failure).toMatchObject({ code, pointer: '/assets/data/href' })
    expect(sent).toEqual([])
  })

  it('a public s3:// asset is not requested over plain http when its document says that it is protected', async () => {
    const open = { ...item('s3://open/k', { platform: 'http://store.example' }), 'auth:schemes': { free: { type: 'none' } } }
    const target = assetOf({ ...open, assets: { data: { ...open.assets.data, 'auth:refs': ['free'] } } }, 'data')
    expect(await failureOf(engine().authorize(target))).toMatchObject({ code: 'URL_INSECURE' })
  })

  it('an s3:// asset that requests nothing is refused where its key is not a text', async () => {
    const failures = [engine().authorize(asset('s3://open/%ff')), engine().fetch(asset('s3://open/%ff'))]
    for (const failure of await Promise.all(failures.map(failureOf))) expect(failure).toMatchObject({ code: 'URL_INVALID' })
  })

  it('an s3:// asset that requests nothing is refused where its URL is none of an object', async () => {
    const arn = 's3://arn:aws:s3:eu-west-1:123456789012:accesspoint/mine/k'
    expect(await failureOf(engine().fetch(asset(arn)))).toMatchObject({
      code: expect.stringMatching(/^(?:SCHEME_UNSUPPORTED|URL_INVALID)$/),
    })
  })
})

describe('a bucket of Amazon’s', () => {
  /** Amazon's hosts, served by the store: the first label of the host becomes the bucket. */
  function amazon(home: string): { readonly transport: Transport; readonly asked: string[] } {
    const asked: string[] = []
    const send = undiciTransport({ env: {} })
    const transport = async (request: HttpRequest) => {
      const { host, pathname } = new URL(request.url)
      asked.push(host)
      const response = await send({ ...request, url: `${store.url}/${host.split('.')[0]}${pathname}` }, { allowPrivateNetwork: true })
      if (host.includes(`.${home}.`)) return response
      const headers = { get: (name: string) => (name === 'x-amz-bucket-region' ? home : null) }
      return { ...response, status: 301, url: request.url, headers, discard: () => response.discard() } as typeof response
    }
    return { transport, asked }
  }

  it('a bucket of Amazon’s is asked in the region that Amazon names', async () => {
    const { transport, asked } = amazon('eu-west-3')
    const auth = createAuth({ credentials: [], transport })
    expect(await (await auth.fetch(assetOf(item('s3://open/a%20b', null), 'data'))).text()).toBe('hello')
    expect(asked).toEqual(['open.s3.us-east-1.amazonaws.com', 'open.s3.eu-west-3.amazonaws.com'])
  })
})

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../src/auth/credential.ts'
import type { Send } from '../../src/http/message.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { type ListOptions, listObjects } from '../../src/objects/list-objects.ts'
import { assetOf, type Target } from '../../src/stac/target.ts'
import { found, item, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { type S3Server, type S3ServerOptions, startS3Server } from '../servers/s3-server.ts'

const KEYS = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG', sessionToken: 'token/+==' }
const ODD = ['a b', 'a+b', 'a%20b', 'ä/日本.tif', '<&>"\'', 'x//y', "!*'()~", 'x?y=1&z#w', 'dots/../up', 'last\n line', 'plus + and %2B']
const STORE: Record<string, string> = { 'zarr.json': '{"zarr_format":3}', 'temp/zarr.json': '{}', 'temp/c/0/0': 'chunk' }

let server: S3Server
let close: () => Promise<unknown> = async () => {}

function contents(prefix: string, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [prefix + key, key]))
}

async function serve(options: Partial<S3ServerOptions> = {}): Promise<void> {
  await close()
  const zarr = Object.fromEntries(Object.entries(STORE).map(([key, text]) => [`eo/store.zarr/${key}`, text]))
  const many = contents(
    'eo/many/',
    Array.from({ length: 2345 }, (_, index) => `${index}`.padStart(6, '0')),
  )
  const objects = { ...zarr, ...many, ...contents('eo/odd/', ODD), 'eo/store.zarr2/secret': 's', 'eo/store': 's', 'far/x/a': 'far' }
  server = await startS3Server({ objects, keys: [KEYS], region: 'eu-central-1', ...options })
  close = server.close
}

beforeEach(() => serve())
afterEach(() => close())

const folder = (href: string) => target({ type: 's3' }, href)

function engine(entry: Partial<CredentialInput> = {}, now = Date.now) {
  const base = { id: 'mine', type: 's3', ...KEYS, region: 'eu-central-1', endpoint: server.url, sendTo: ['s3://eo/', 's3://far/'] }
  return createAuth({ credentials: { ...base, ...entry } as CredentialInput, clock: { now } })
}

async function all(from: Target | string | undefined, options?: ListOptions, auth = engine()) {
  const objects = []
  for await (const object of listObjects(auth, from, options)) objects.push(object)
  return objects
}

const asked = () => server.log.map(({ url }) => new URLSearchParams(url.split('?')[1]))

describe('a folder', () => {
  it('a folder that is not in the document is reported as by other calls', async () => {
    expect(await failureOf(all(undefined))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
    expect(server.log).toEqual([])
  })

  it('a folder is listed to its boundary, with what is known of each object', async () => {
    for (const href of ['s3://eo/store.zarr/', 's3://eo/store.zarr', `${server.url}/eo/store.zarr`]) {
      const objects = await all(folder(href))
      expect(objects.map(({ path, size }) => [path, size])).toEqual([
        ['temp/c/0/0', 5],
        ['temp/zarr.json', 2],
        ['zarr.json', 17],
      ])
      const root = href.startsWith('s3:') ? 's3://eo' : `${server.url}/eo`
      expect(objects[0]).toEqual({
        key: 'store.zarr/temp/c/0/0',
        path: 'temp/c/0/0',
        url: `${root}/store.zarr/temp/c/0/0`,
        size: 5,
        etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
        lastModified: '2026-01-02T03:04:05.000Z',
        storageClass: 'STANDARD',
      })
    }
  })

  it('returns URLs that fetchFor opens, as readers of Zarr stores do', async () => {
    const store = folder('s3://eo/store.zarr')
    const auth = engine()
    const open = auth.fetchFor(store)
    const read: Record<string, string> = {}
    for (const { path, url } of await all(store, {}, auth)) read[path] = await (await open(found(url))).text()
    expect(read).toEqual(STORE)
    const chunk = await open('s3://eo/store.zarr/temp/c/0/0', { headers: { range: 'bytes=1-2' } })
    expect([chunk.status, await chunk.text()]).toEqual([206, 'hu'])
    expect((await open('s3://eo/store.zarr/temp/c/9/9')).status).toBe(404)
    const outside = await Promise.all(
      ['s3://other/store.zarr/zarr.json', 'https://evil.example/zarr.json'].map((url) => failureOf(open(url))),
    )
    expect(outside.map((error) => (error as { code?: string }).code)).toEqual([
      'CREDENTIAL_TARGET_UNTRUSTED',
      'CREDENTIAL_TARGET_UNTRUSTED',
    ])
  })

  it.each([undefined, { space: '%20' }, { plainNames: true }] as const)('a folder may have any names (%j)', async (lists) => {
    await serve({ lists })
    const auth = engine()
    const odd = folder('s3://eo/odd/')
    const objects = await all(odd, {}, auth)
    expect(objects.map(({ path }) => path).sort()).toEqual([...ODD].sort())
    for (const { path, url } of objects) {
      if (path.includes('..')) expect(url).toBeUndefined()
      else expect(await (await auth.fetchFor(odd)(found(url))).text()).toBe(path)
    }
  })

  it('a folder is requested page by page, as far as it is wanted', async () => {
    expect(await all(folder('s3://eo/many/'))).toHaveLength(2345)
    expect(asked().map((query) => query.has('continuation-token'))).toEqual([false, true, true])
    const some = await all(folder('s3://eo/many/'), { pageSize: 7, limit: 16 })
    expect(some.map(({ path }) => Number(path))).toEqual(Array.from({ length: 16 }, (_, index) => index))
    expect(
      asked()
        .slice(3)
        .map((query) => query.get('max-keys')),
    ).toEqual(['7', '7', '2'])
    const rest = await all(folder('s3://eo/many/'), { startAfter: 'many/002342' })
    expect(rest.map(({ path }) => path)).toEqual(['002343', '002344'])
    expect(await all(folder('s3://eo/many/'), { limit: 0 })).toEqual([])
  })

  it('a folder may be empty, or a whole bucket', async () => {
    expect(await all(folder('s3://eo/none'))).toEqual([])
    expect((await all(folder('s3://far'))).map(({ key, path }) => [key, path])).toEqual([['x/a', 'x/a']])
  })

  it('a folder is listed where sendTo allows it, and nothing beside it', async () => {
    const narrow = engine({ sendTo: 's3://eo/store.zarr/' })
    expect(await all(folder('s3://eo/store.zarr'), {}, narrow)).toHaveLength(3)
    const requests = server.log.length
    for (const href of ['s3://eo/store.zarr2/', 's3://eo/', 's3://eo/odd/'])
      expect(await failureOf(all(folder(href), {}, narrow))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
    expect(server.log).toHaveLength(requests)
  })

  it('a folder is listed by its URL, and without keys where anybody may', async () => {
    expect(await all('s3://eo/store.zarr/')).toHaveLength(3)
    expect(await failureOf(all('https://data.example/a/'))).toMatchObject({ code: 'SCHEME_UNSUPPORTED' })
    const bearer = createAuth({ credentials: { type: 'http', scheme: 'bearer', token: 't', sendTo: 'https://data.example/' } })
    const web = target({ type: 'http', scheme: 'bearer' }, 'https://data.example/folder/')
    expect(await failureOf(all(web, {}, bearer))).toMatchObject({ code: 'SCHEME_UNSUPPORTED', message: expect.stringContaining('http') })
  })

  it('a folder is listed and opened when a URL pattern has characters that are signed percent-encoded', async () => {
    const folders = { 'eo/year=2026/a+b (1)/x': 'x' }
    await serve({ objects: folders })
    for (const grant of ['s3://eo/year=2026/', 's3://eo/year%3D2026/a+b%20(1)/']) {
      const auth = engine({ sendTo: grant })
      const hive = folder('s3://eo/year=2026/a+b%20(1)')
      const [object] = await all(hive, {}, auth)
      expect(await (await auth.fetchFor(hive)(found(object?.url))).text()).toBe('x')
      expect(await (await auth.fetch(folder('s3://eo/year=2026/a+b%20(1)/x'))).text()).toBe('x')
    }
  })

  it.each(['https://s3.waw3-1.archive.example', 'https://eodata.archive.example'])(
    'a folder of the public on %s needs no keys',
    async (origin) => {
      await serve({ public: ['far'] })
      const send = undiciTransport()
      const transport: Send = ({ url, ...request }, options) =>
        send({ ...request, url: url.replace(origin, server.url) }, { ...options, allowPrivateNetwork: true })
      const auth = createAuth({ credentials: [], transport })
      const schemes = { archive: { type: 'custom-s3', platform: 'https://eodata.archive.example' } }
      const asset = (href: string) =>
        found(assetOf(item(undefined, { data: { href, 'storage:refs': ['archive'] } }, { 'storage:schemes': schemes }), 'data'))
      expect((await all(asset(`${origin}/far/x/`), {}, auth)).map(({ url }) => url)).toEqual([`${origin}/far/x/a`])
      expect(await failureOf(all(asset(`${origin}/eo/odd/`), {}, auth))).toMatchObject({
        code: 'AUTH_REJECTED',
        message: expect.stringContaining('403 AccessDenied'),
      })
    },
  )
})

describe('what is corrected for a single object', () => {
  it('what is corrected for a single object is corrected for a list: region, clock, and who pays', async () => {
    await serve({ regions: { far: 'ap-south-1' }, now: () => Date.now() + 3_600_000, requesterPays: ['far'] })
    expect(await all(folder('s3://far/x/'), {}, engine({ requesterPays: true }))).toHaveLength(1)
    expect(server.log.map(({ code }) => code)).toEqual(['PermanentRedirect', 'RequestTimeTooSkewed', undefined])
    const poor = await failureOf(all(folder('s3://far/x/')))
    expect(poor).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining('AccessDenied') })
  })

  it('what is corrected for a single object is refused for a list: wrong secrets', async () => {
    const refused = await failureOf(all(folder('s3://eo/odd/'), {}, engine({ secretAccessKey: 'wrong' })))
    expect(refused).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining('SignatureDoesNotMatch') })
    expect(await failureOf(all(folder('s3://eo/odd/'), {}, engine({ sessionToken: 'other' })))).toMatchObject({ code: 'AUTH_REJECTED' })
  })

  it('reports other refusals with the code of the service', async () => {
    const entry = { sendTo: 's3://nobodys/' }
    expect(await failureOf(all(folder('s3://nobodys/x/'), {}, engine(entry)))).toMatchObject({
      code: 'HTTP_404',
      message: expect.stringContaining('404 NoSuchBucket'),
    })
  })
})

describe('a service that is broken or lies', () => {
  const liars: Server[] = []
  afterEach(() => {
    for (const liar of liars.splice(0)) liar.close()
  })

  /** Lists of a service that gives these bodies in turn, the last one again and again. */
  async function told(...bodies: readonly string[]) {
    let count = 0
    const liar = createServer((_, response) => response.end(bodies[Math.min(count++, bodies.length - 1)]))
    liars.push(liar)
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`
    return failureOf(all(folder('s3://eo/a/'), {}, engine({ endpoint })))
  }
  const list = (inner: string) => `<ListBucketResult xmlns="x">${inner}</ListBucketResult>`
  const one = (key: string, size = '1') => `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`
  const more = (token: string) => `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`
  const invalid = (why: string) => ({ code: 'RESPONSE_INVALID', message: expect.stringContaining(why) })

  it.each([
    ['<html>login</html>', 'not a ListBucketResult'],
    ['', 'not a ListBucketResult'],
    [`<!DOCTYPE x [<!ENTITY a "b">]>${list(one('a/&a;'))}`, 'not a ListBucketResult'],
    [list(`<!-- ${one('a/x')} -->`), 'not a ListBucketResult'],
    [list(one('a/x')).slice(0, -5), 'not a ListBucketResult'],
    [list('<Contents><Key>a/x</Key>'), 'inside an object'],
    [list(one('a/x', '-1')), 'no size'],
    [list(one('a/x', '99999999999999999999')), 'no size'],
    [list(one('')), 'no key'],
    [list(`<EncodingType>url</EncodingType>${one('a/%FF')}`), 'no key'],
    [list(one('b/x')), 'outside the requested folder'],
    [list('<IsTruncated>true</IsTruncated>'), 'no continuation token'],
  ])('reports a malformed list: %s', async (body, why) => {
    expect(await told(body)).toMatchObject(invalid(why))
  })

  it('ends when pages without objects follow each other', async () => {
    expect(await told(list(one('a/x') + more('same')))).toMatchObject(invalid('consecutive pages contain none'))
    const pages = Array.from({ length: 200 }, (_, index) => list(more(`t${index}`)))
    expect(await told(...pages)).toMatchObject(invalid('consecutive pages contain none'))
    expect(await told(`<ListBucketResult>${' '.repeat(9_000_000)}</ListBucketResult>`)).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  })

  it('costs no more time than its answer is long', async () => {
    expect(await told(list('<Contents>'.repeat(700_000)))).toMatchObject(invalid('inside an object'))
    expect(await told(list('<Contents><Key>'.repeat(400_000)))).toMatchObject(invalid('inside an object'))
    expect(await told(' '.repeat(7_000_000))).toMatchObject(invalid('not a ListBucketResult'))
  })
})

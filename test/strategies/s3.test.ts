import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../src/auth/credential.ts'
import { isAuthError } from '../../src/errors.ts'
import { assetOf, type Target } from '../../src/stac/target.ts'
import { refusedBy } from '../../src/strategies/s3/refusal.ts'
import { s3 } from '../../src/strategies/s3/s3.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type S3Server, type S3ServerOptions, startS3Server } from '../servers/s3-server.ts'

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' }
const TEMPORARY = { ...KEYS, accessKeyId: 'ASIAEXAMPLE', sessionToken: 'token/+==' }
const ODD = "a/x y+z(1)~é!'*%25//k.tif"

let server: S3Server
let close: () => Promise<void> = async () => {}

async function serve(options: Partial<S3ServerOptions> = {}): Promise<void> {
  await close()
  const objects = { 'eo/a.tif': 'hello world', [`eo/${ODD}`]: 'odd', 'far/a.tif': 'far away', 'costly/a.tif': 'paid' }
  server = await startS3Server({ objects, keys: [KEYS, TEMPORARY], region: 'eu-central-1', ...options })
  close = server.close
}

beforeEach(() => serve())
afterEach(() => close())

/** An asset that asks for `s3`, with what its item says besides. */
function asset(href: string, properties: object = {}, fields: object = {}): Target {
  const schemes = { store: { type: 's3' } }
  const document = {
    type: 'Feature',
    properties: { 'auth:schemes': schemes, ...properties },
    assets: { data: { href, 'auth:refs': ['store'], ...fields } },
  }
  const target = assetOf(document, 'data')
  if (!target) throw new Error('no asset')
  return target
}

function auth(credential: Partial<CredentialInput> = {}, options: Partial<Parameters<typeof createAuth>[0]> = {}) {
  const base = {
    id: 'mine',
    type: 's3',
    ...KEYS,
    region: 'eu-central-1',
    endpoint: server.url,
    sendTo: ['s3://eo/', 's3://far/', 's3://costly/'],
  }
  return createAuth({ strategies: [s3], credentials: unchecked([{ ...base, ...credential }]), ...options })
}

async function failure(promise: Promise<unknown>) {
  const error = await promise.then(
    () => undefined,
    (error) => error,
  )
  if (!isAuthError(error)) throw error ?? new Error('nothing was thrown')
  return error
}

const statuses = () => server.log.map(({ status }) => status)

describe('a signed request', () => {
  it('gets the object', async () => {
    const response = await auth().fetch(asset('s3://eo/a.tif'))
    expect([response.status, await response.text()]).toEqual([200, 'hello world'])
    expect(server.log[0]?.headers.authorization).toContain(
      '/eu-central-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date,',
    )
  })

  it('gets objects with odd keys, written as s3:// or https://', async () => {
    const path = ODD.split('/').map(encodeURIComponent).join('/')
    expect(await (await auth().fetch(asset(`s3://eo/${path}`))).text()).toBe('odd')
    expect(await (await auth().fetch(asset(`${server.url}/eo/${path}`))).text()).toBe('odd')
  })

  it('leaves Range to the caller', async () => {
    const response = await auth().fetch(asset('s3://eo/a.tif'), { headers: { range: 'bytes=6-' } })
    expect([response.status, await response.text()]).toEqual([206, 'world'])
  })

  it('carries the token of temporary keys', async () => {
    expect((await auth(TEMPORARY).fetch(asset('s3://eo/a.tif'))).status).toBe(200)
    expect(await failure(auth({ ...TEMPORARY, sessionToken: 'other' }).fetch(asset('s3://eo/a.tif')))).toMatchObject({
      code: 'AUTH_REJECTED',
    })
    expect(server.log.at(-1)).toMatchObject({ code: 'InvalidToken' })
  })

  it('reads secrets that are functions', async () => {
    expect((await auth({ secretAccessKey: async () => KEYS.secretAccessKey }).fetch(asset('s3://eo/a.tif'))).status).toBe(200)
  })

  it('leaves the service’s other answers to the caller', async () => {
    const response = await auth().fetch(asset('s3://eo/none.tif'))
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('<Code>NoSuchKey</Code>')])
  })

  it('signs no URL that is signed already', async () => {
    const query = ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature'].map((name) => `X-Amz-${name}=0`).join('&')
    const response = await auth().fetch(asset(`${server.url}/eo/a.tif?${query}`))
    expect(response.status).toBe(400)
    expect(server.log[0]).toMatchObject({ url: `/eo/a.tif?${query}` })
    expect(server.log[0]?.headers).not.toHaveProperty('authorization')
    const partial = await failureOf(auth().fetch(asset(`${server.url}/eo/a.tif?X-Amz-Signature=00`)))
    expect(partial).toMatchObject({ code: 'URL_INVALID', hint: expect.stringContaining('the https URL that was signed') })
    expect(server.log).toHaveLength(1)
  })

  it('a signed request can be made unsent, with the place of the object', async () => {
    const request = await auth().authorize(asset('s3://eo/a%20b.tif'))
    expect(request).toMatchObject({ method: 'GET', url: `${server.url}/eo/a%20b.tif`, ref: 'store', scheme: 's3', credential: 'mine' })
    expect(request.location).toEqual({
      bucket: 'eo',
      key: 'a b.tif',
      endpoint: server.url,
      region: 'eu-central-1',
      virtualHost: false,
      requesterPays: false,
    })
    expect(Date.parse(request.expiresAt ?? '') - Date.now()).toBeGreaterThan(14 * 60_000)
    expect(server.log).toEqual([])
  })
})

describe('a bucket whose readers pay', () => {
  const asking = { 'storage:schemes': { eu: { type: 'custom-s3', platform: 'https://store.example', requester_pays: true } } }

  it('a bucket whose readers pay is paid for only if the user agreed', async () => {
    await serve({ requesterPays: ['costly'] })
    const target = asset('s3://costly/a.tif', asking, { 'storage:refs': ['eu'] })
    const error = await failure(auth().fetch(target))
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', hint: expect.stringContaining('"requesterPays": true') })
    expect(server.log[0]?.headers).not.toHaveProperty('x-amz-request-payer')
    const wrong = await failure(auth({ secretAccessKey: 'wrong' }).fetch(target))
    expect(wrong.hint).toBe('the secret access key does not match the access key id')
    expect(await (await auth({ requesterPays: true }).fetch(target)).text()).toBe('paid')
  })
})

describe('what is corrected, once', () => {
  it('the region, which is remembered for the bucket', async () => {
    await serve({ regions: { far: 'ap-south-1' } })
    const client = auth()
    expect(await (await client.fetch(asset('s3://far/a.tif'))).text()).toBe('far away')
    expect((await client.fetch(asset('s3://far/a.tif'))).status).toBe(200)
    expect((await client.fetch(asset('s3://eo/a.tif'))).status).toBe(200)
    expect(statuses()).toEqual([301, 200, 200, 200])
  })

  it('the region of a credential that names a wrong one', async () => {
    expect((await auth({ region: 'us-west-2' }).fetch(asset('s3://eo/a.tif'))).status).toBe(200)
    expect(server.log[0]).toMatchObject({ status: 400, code: 'AuthorizationHeaderMalformed' })
  })

  it('the clock, which is remembered for the service', async () => {
    await serve({ now: () => Date.now() + 3_600_000 })
    const client = auth()
    expect((await client.fetch(asset('s3://eo/a.tif'))).status).toBe(200)
    expect((await client.fetch(asset('s3://eo/a.tif'))).status).toBe(200)
    expect(statuses()).toEqual([403, 200, 200])
  })

  it('but not a clock that is more than a day off', async () => {
    await serve({ now: () => Date.now() + 25 * 3_600_000 })
    expect(await failure(auth().fetch(asset('s3://eo/a.tif')))).toMatchObject({ code: 'CLOCK_SKEW', status: 403 })
    expect(statuses()).toEqual([403])
  })
})

describe('a refusal', () => {
  it('reports the code and what to look at, and nothing that was signed', async () => {
    const error = await failure(auth({ secretAccessKey: 'wrong-secret' }).fetch(asset('s3://eo/a.tif')))
    expect(error).toMatchObject({
      code: 'AUTH_REJECTED',
      credential: 'mine',
      status: 403,
      hint: expect.stringContaining('secret access key'),
    })
    expect(error.message).toContain('403 SignatureDoesNotMatch (request REQUEST1)')
    expect(`${error.message}${JSON.stringify(error)}${error.stack}`).not.toMatch(/wrong-secret|AKIDEXAMPLE|AWS4-HMAC|x-amz-date/)
    expect(statuses()).toEqual([403])
  })

  it('has no hint for a code that is named like a member of every object', () => {
    const refusal = { status: 403, url: 'https://eo.example/a.tif', code: 'constructor', region: undefined, requestId: undefined }
    expect(refusedBy(refusal, 'mine', 0).hint).toBeUndefined()
  })

  it('names keys that the service does not know, and keys that have ended', async () => {
    await serve({ keys: [{ ...TEMPORARY, expired: true }] })
    expect((await failure(auth().fetch(asset('s3://eo/a.tif')))).message).toContain('InvalidAccessKeyId')
    expect((await failure(auth(TEMPORARY).fetch(asset('s3://eo/a.tif')))).message).toContain('400 ExpiredToken')
    expect(statuses()).toEqual([403, 400])
  })

  it('a refusal of a HEAD is requested again, because it has no body', async () => {
    const error = await failure(auth({ secretAccessKey: 'wrong' }).fetch(asset('s3://eo/a.tif'), { method: 'HEAD' }))
    expect(error.message).toContain('SignatureDoesNotMatch')
    expect(server.log.map(({ method, headers }) => [method, headers.range])).toEqual([
      ['HEAD', undefined],
      ['GET', 'bytes=0-0'],
    ])
  })

  it('a refusal of a HEAD can be corrected', async () => {
    expect((await auth({ region: 'us-west-2' }).fetch(asset('s3://eo/a.tif'), { method: 'HEAD' })).status).toBe(200)
    expect(statuses()).toEqual([400, 400, 200])
  })
})

describe('what a document cannot do', () => {
  const hostile = { 'storage:schemes': { evil: { type: 'custom-s3', platform: 'https://evil.example' } } }

  it('what a document cannot do is to make us sign for its own host', async () => {
    const target = asset('s3://eo/a.tif', hostile, { 'storage:refs': ['evil'] })
    expect((await auth().fetch(target)).url).toContain(server.url)
    const error = await failure(auth({ endpoint: undefined }).fetch(target))
    expect(error).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED', pointer: '/assets/data/href', actual: 'https://evil.example' })
  })

  it('what a document cannot do is to reach another bucket, or the same name elsewhere', async () => {
    for (const href of ['s3://eo-evil/a.tif', 'https://evil.example/eo/a.tif', 'https://eo.s3.eu-central-1.amazonaws.com/a.tif']) {
      expect(await failure(auth().fetch(asset(href)))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
    }
    expect(server.log).toEqual([])
  })

  it('what a document cannot do is to spend the user’s money or hide a dot segment', async () => {
    expect(await failure(auth().fetch(asset('s3://eo/x/../a.tif')))).toMatchObject({ code: 'URL_INVALID' })
    expect(await failure(auth().fetch(asset('s3://eo/x%2F..%2Fa.tif')))).toMatchObject({ code: 'URL_INVALID' })
    expect(server.log).toEqual([])
  })

  it('what a document cannot do is to use an access point', async () => {
    const href = 'https://mine-123456789012.s3-accesspoint.us-west-2.amazonaws.com/a.tif'
    const error = await failure(auth({ sendTo: ['https://mine-123456789012.s3-accesspoint.us-west-2.amazonaws.com/'] }).fetch(asset(href)))
    expect(error).toMatchObject({ code: 'SCHEME_UNSUPPORTED', message: expect.stringContaining('access points') })
  })
})

describe('a credential', () => {
  it.each([
    [{ secretAccessKey: undefined }, '/credentials/0/secretAccessKey'],
    [{ accessKeyId: undefined, secretAccessKey: undefined, sessionToken: 't' }, '/credentials/0/secretAccessKey'],
    [{ profile: 'eo' }, '/credentials/0/profile'],
  ])('a credential has both keys or none, and a profile only without them: %j', async (entry, pointer) => {
    expect(await failure(auth(entry).ready())).toMatchObject({ code: 'CONFIG_INVALID', pointer })
  })
})

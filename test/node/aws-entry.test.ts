import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { Warning } from '../../src/auth/strategy.ts'
import { assetOf } from '../../src/stac/target.ts'
import { s3 } from '../../src/strategies/s3/s3.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type S3Server, startS3Server } from '../servers/s3-server.ts'

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }
const item = {
  type: 'Feature',
  properties: { 'auth:schemes': { s3: { type: 's3' } } },
  assets: { data: { href: 's3://eo/a', 'auth:refs': ['s3'] } },
}
const target = assetOf(item, 'data')

let server: S3Server

beforeEach(async () => {
  server = await startS3Server({ objects: { 'eo/a': 'hello' }, keys: [KEYS], region: 'eu-west-1' })
  for (const name of ['CLOUD_ACCESS_KEY_ID', 'CLOUD_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']) vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_ACCESS_KEY_ID', KEYS.accessKeyId)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', KEYS.secretAccessKey)
  vi.stubEnv('AWS_REGION', 'eu-west-1')
  vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await server.close()
})

describe('a credential without keys', () => {
  const entry = { id: 'mine', type: 's3', sendTo: ['s3://eo/'] }

  it('uses keys, region and endpoint of the environment', async () => {
    if (!target) throw new Error('no asset')
    vi.stubEnv('CLOUD_ACCESS_KEY_ID', 'half')
    const warnings: Warning[] = []
    const auth = createAuth({ strategies: [s3], credentials: unchecked([entry]), onWarning: (warning) => warnings.push(warning) })
    expect(await (await auth.fetch(target)).text()).toBe('hello')
    expect(server.log.map(({ status }) => status)).toEqual([200])
    expect(warnings).toMatchObject([{ code: 'CREDENTIAL_SOURCE', message: expect.stringContaining('CLOUD_ACCESS_KEY_ID is set without') }])
  })

  it('a credential without keys is ready at once when its keys are known', async () => {
    if (!target) throw new Error('no asset')
    const auth = createAuth({ strategies: [s3], credentials: unchecked([entry]) })
    expect(auth.peek(target)).toBeUndefined()
    await auth.authorize(target)
    expect(auth.peek(target)).toMatchObject({ url: `${server.url}/eo/a`, credential: 'mine' })
  })
})

describe('a credential with keys', () => {
  it('a credential with keys is ready without a request', async () => {
    if (!target) throw new Error('no asset')
    const auth = createAuth({
      strategies: [s3],
      credentials: [{ type: 's3', ...KEYS, region: 'eu-west-1', endpoint: server.url, sendTo: 's3://eo/' }],
    })
    await auth.ready()
    expect(server.log).toEqual([])
    expect(auth.peek(target)?.headers.authorization).toContain('Credential=AKIDEXAMPLE/')
  })

  it('does not look at the environment', async () => {
    if (!target) throw new Error('no asset')
    const auth = createAuth({ strategies: [s3], credentials: [{ type: 's3', ...KEYS, sendTo: 's3://eo/' }] })
    expect((await auth.authorize(target)).url).toBe('https://eo.s3.us-east-1.amazonaws.com/a')
  })
})

describe('an asset that requests no keys', () => {
  it('an asset that needs no keys is read from the endpoint in the environment', async () => {
    const open = { type: 'Feature', properties: {}, assets: { data: { href: 's3://eo/a' } } }
    const auth = createAuth({ strategies: [s3], credentials: [], typed: [server.url] })
    expect((await auth.authorize(assetOf(open, 'data'))).url).toBe(`${server.url}/eo/a`)
    expect((await auth.fetch(assetOf(open, 'data'))).status).toBe(403)
    expect(server.log.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })
})

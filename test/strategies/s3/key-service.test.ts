import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { assetOf } from '../../../src/stac/target.ts'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { type Answer, type AnsweringServer, jsonAnswer, startAnswering } from '../../servers/answering-server.ts'
import { type KeyServiceOptions, startKeyService } from '../../servers/key-service.ts'
import { type S3Server, startS3Server } from '../../servers/s3-server.ts'
import type { S3ServerKey } from '../../servers/s3-signature.ts'

const TOKEN = 'eyJ-user-token'
const HOUR = 3_600_000

let keys: S3ServerKey[]
let store: S3Server
let service: AnsweringServer

beforeEach(async () => {
  keys = []
  store = await startS3Server({ objects: { 'eo/a': 'hello' }, keys, region: 'us-west-2' })
  service = await startKeyService({ token: TOKEN, store: keys })
})
afterEach(async () => {
  await Promise.all([store.close(), service.close()])
})

async function serviceWith(options: Partial<KeyServiceOptions>): Promise<void> {
  await service.close()
  service = await startKeyService({ token: TOKEN, store: keys, ...options })
}

async function serviceThat(answer: Answer): Promise<void> {
  await service.close()
  service = await startAnswering(() => answer)
}

const item = (scheme: object = {}) => ({
  type: 'Feature',
  properties: { 'auth:schemes': { s3: { type: 's3', ...scheme } } },
  assets: { data: { href: 's3://eo/a', 'auth:refs': ['s3'] } },
})

/** The user's two entries; `own` changes that of the store, `token` that of the login. */
function engine({ own = {}, token = TOKEN, now = Date.now } = {}) {
  const login = { id: 'login', type: 'http', scheme: 'bearer', token, sendTo: [`${service.origin}/`] }
  const archive = { id: 'archive', type: 's3', region: 'us-west-2', endpoint: store.url, sendTo: ['s3://eo/'] }
  const asked = { credentialsUrl: `${service.origin}/s3credentials`, with: 'login' }
  const auth = createAuth({ credentials: unchecked([login, { ...archive, ...asked, ...own }]), clock: { now } })
  return { auth, target: assetOf(item(), 'data') }
}

const paths = () => service.exchanges.map(({ request }) => request.path)
const statuses = () => store.log.map(({ status }) => status)

describe('keys from a service', () => {
  it('keys from a service are obtained once for all who wait, by the credential named in "with"', async () => {
    const { auth, target } = engine()
    const answers = await Promise.all(Array.from({ length: 5 }, async () => (await auth.fetch(target)).text()))
    expect(answers).toEqual(Array.from({ length: 5 }, () => 'hello'))
    expect(paths()).toEqual(['/s3credentials'])
    expect(store.log.every(({ headers }) => headers['x-amz-security-token'] === 'session/1==')).toBe(true)
  })

  it.each([
    ['AWS names', (key: object, end: Date) => awsShape(key, 'SessionToken', end.toISOString())],
    ['the names of metadata services', (key: object, end: Date) => awsShape(key, 'Token', end.toISOString())],
    ['an end in epoch seconds', (key: object, end: Date) => ({ ...key, expiration: Math.trunc(end.getTime() / 1000) })],
  ])('keys from a service may come with %s', async (_names, shape) => {
    await serviceWith({ shape, life: 10 * 60_000 })
    const { auth, target } = engine()
    const { expiresAt = '' } = await auth.authorize(target)
    expect(Math.abs(Date.parse(expiresAt) - Date.now() - 10 * 60_000)).toBeLessThan(60_000)
    expect(await (await auth.fetch(target)).text()).toBe('hello')
    expect(paths()).toEqual(['/s3credentials'])
  })

  it('keys from a service show in the status when they end, and only once they are there', async () => {
    const { auth, target } = engine()
    expect(await auth.status()).toEqual([])
    await auth.authorize(target)
    const expiresAt = expect.stringMatching(/^\d{4}-.*Z$/)
    expect(await auth.status()).toEqual([
      { credential: 'archive', type: 's3', state: 'valid', refreshable: true, persistent: false, expiresAt },
    ])
  })

  it('keys from a service are refreshed five minutes before they end', async () => {
    let now = Date.now()
    const { auth, target } = engine({ now: () => now })
    const id = async () => /Credential=(\w+)/.exec((await auth.authorize(target)).headers.authorization ?? '')?.[1]
    expect(await id()).toBe('ASIA1')
    now += HOUR - 6 * 60_000
    expect(await id()).toBe('ASIA1')
    now += 2 * 60_000
    expect(await id()).toBe('ASIA2')
  })

  it('keys from a service are refreshed once when the store says that they ended', async () => {
    const { auth, target } = engine()
    await auth.fetch(target)
    keys.splice(0, 1, ...keys.map((key) => ({ ...key, expired: true })))
    expect(await (await auth.fetch(target)).text()).toBe('hello')
    expect([paths(), statuses()]).toEqual([
      ['/s3credentials', '/s3credentials'],
      [200, 400, 200],
    ])
  })

  it('keys from a service are not requested again and again when the store knows none of them', async () => {
    await serviceWith({ store: [] })
    const { auth, target } = engine()
    expect(await failureOf(auth.fetch(target))).toMatchObject({ code: 'AUTH_REJECTED', credential: 'archive' })
    expect(statuses()).toEqual([403])
  })
})

describe('a service that gives no keys', () => {
  it('a service that gives no keys and sends to its login page is not followed there', async () => {
    const { auth, target } = engine({ token: 'stale' })
    const error = await failureOf(auth.fetch(target))
    expect(error).toMatchObject({ code: 'REDIRECT_CROSS_ORIGIN', credential: 'archive', hint: expect.stringContaining('"with"') })
    expect(paths()).toEqual(['/s3credentials'])
    expect(store.log).toEqual([])
  })

  const whole = { accessKeyId: 'ASIA1', secretAccessKey: 'canary-secret' }
  it.each<[string, Answer, string]>([
    ['401', { status: 401 }, 'AUTH_REJECTED'],
    ['403', { status: 403 }, 'AUTH_REJECTED'],
    ['503', { status: 503 }, 'HTTP_503'],
    ['a page', { status: 200, body: '<html>canary-secret</html>' }, 'RESPONSE_FIELD_MISSING'],
    ['half a pair', jsonAnswer(200, { secretAccessKey: 'canary-secret' }), 'RESPONSE_FIELD_MISSING'],
    ['a list', jsonAnswer(200, [whole]), 'RESPONSE_FIELD_MISSING'],
    ['a line break', jsonAnswer(200, { ...whole, sessionToken: 'canary-secret\r\nx: y' }), 'RESPONSE_FIELD_MISSING'],
    ['a number', jsonAnswer(200, { ...whole, accessKeyId: 7 }), 'RESPONSE_FIELD_MISSING'],
    ['too much', jsonAnswer(200, { ...whole, more: 'x'.repeat(70_000) }), 'RESPONSE_TOO_LARGE'],
  ])('but %s is warned about, without its words', async (_what, answer, code) => {
    await serviceThat(answer)
    const { auth, target } = engine()
    const error = await failureOf(auth.fetch(target))
    expect(error).toMatchObject({ code })
    expect(leaks([canaryOf('canary-secret'), canaryOf(TOKEN)], { error: shown(error) })).toEqual([])
    expect(store.log).toEqual([])
  })
})

describe('a credential with credentialsUrl', () => {
  it('a credential with credentialsUrl is asked for nothing that a document names', async () => {
    const stranger = await startAnswering(() => jsonAnswer(200, {}))
    const { auth } = engine()
    const scheme = { credentialsUrl: `${stranger.origin}/s3credentials`, with: 'login', flows: {} }
    expect(await (await auth.fetch(assetOf(item(scheme), 'data'))).text()).toBe('hello')
    expect(stranger.connections).toBe(0)
    await stranger.close()
  })

  it.each([
    ['keys of its own', { accessKeyId: 'A', secretAccessKey: 'a' }, '/credentials/1/credentialsUrl', 'accessKeyId or credentialsUrl'],
    ['a profile', { profile: 'eo' }, '/credentials/1/profile', 'credentialsUrl or profile'],
    ['metadata', { instanceMetadata: true }, '/credentials/1/instanceMetadata', 'credentialsUrl or instanceMetadata'],
    ['another protocol', { credentialsUrl: 'http://keys.example/' }, '/credentials/1/credentialsUrl', 'https'],
    ['nobody to ask as', { with: 'nobody' }, '/credentials/1/with', 'nobody'],
    ['an entry that may not go there', { credentialsUrl: 'https://keys.example/' }, '/credentials/1/with', 'does not include'],
    ['only "with"', { credentialsUrl: undefined }, '/credentials/1/with', 'requires credentialsUrl'],
  ])('a credential with credentialsUrl is refused with %s', async (_what, own, pointer, message) => {
    const error = await failureOf(engine({ own }).auth.ready())
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer, message: expect.stringContaining(message) })
  })
})

function awsShape(key: object, tokenName: string, Expiration: string): unknown {
  const { accessKeyId, secretAccessKey, sessionToken } = key as Record<string, string>
  return { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, [tokenName]: sessionToken, Expiration }
}

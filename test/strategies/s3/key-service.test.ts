import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { memoryStore } from '../../../src/auth/session.ts'
import type { Clock } from '../../../src/net/clock.ts'
import { assetOf } from '../../../src/stac/target.ts'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { type Answer, type AnsweringServer, jsonAnswer, startAnswering } from '../../servers/answering-server.ts'
import { type KeyManagerOptions, startKeyManager } from '../../servers/key-manager.ts'
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
function engine({ own = {}, token = TOKEN, now = Date.now, clock = { now } as Clock, session = memoryStore(), login = {} as object } = {}) {
  const kind = 'scheme' in login ? {} : { scheme: 'bearer', token }
  const user = { id: 'login', type: 'http', ...kind, sendTo: [`${service.origin}/`], ...login }
  const archive = { id: 'archive', type: 's3', region: 'us-west-2', endpoint: store.url, sendTo: ['s3://eo/'] }
  const asked = { credentialsUrl: `${service.origin}/s3credentials`, with: 'login' }
  const auth = createAuth({ credentials: unchecked([user, { ...archive, ...asked, ...own }]), clock, session })
  return { auth, target: assetOf(item(), 'data') }
}

/** A clock whose waits take no time, and what happens during them. */
function patient(meanwhile: (waits: number) => void = () => {}) {
  const waited: number[] = []
  const setTimer: Clock['setTimer'] = (milliseconds, expire, kind) => {
    if (kind === 'guard') return () => {}
    waited.push(milliseconds)
    meanwhile(waited.length)
    const timer = setImmediate(expire)
    return () => clearImmediate(timer)
  }
  return { now: Date.now, setTimer, waited }
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
      { credential: 'archive', type: 's3', state: 'valid', refreshable: true, persistent: true, expiresAt },
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
    const clock = patient()
    const { auth, target } = engine({ clock })
    expect(await failureOf(auth.fetch(target))).toMatchObject({ code: 'AUTH_REJECTED', credential: 'archive' })
    expect([clock.waited, paths(), statuses()]).toEqual([[2000, 4000, 8000], ['/s3credentials'], [403, 403, 403, 403]])
  })
})

describe('pairs of keys that are made for a program', () => {
  const MADE = {
    method: 'POST',
    fields: { accessKeyId: '/data/access_id', secretAccessKey: '/data/secret' },
  }

  async function manager(options: Partial<KeyManagerOptions> = {}) {
    const server = await startKeyManager({ authorization: `Bearer ${TOKEN}`, store: keys, ...options })
    onTestFinished(() => server.close())
    const url = `${server.origin}/api/credentials`
    const own = { ...MADE, credentialsUrl: url, releaseUrl: `${url}/access_id/{accessKeyId}` }
    const login = { sendTo: [`${server.origin}/`] }
    const calls = () => server.exchanges.map(({ request: { method, path } }) => `${method} ${path.replace(/\w+$/, 'X')}`)
    return { server, own, login, calls }
  }

  it('a pair is made once, used by later programs, and deleted at the logout', async () => {
    const { server, own, login, calls } = await manager()
    const session = memoryStore()
    const { auth, target } = engine({ own, login, session })
    await Promise.all(Array.from({ length: 5 }, async () => (await auth.fetch(target)).text()))
    const later = engine({ own, login, session })
    expect(await (await later.auth.fetch(target)).text()).toBe('hello')
    expect([server.pairs.length, calls()]).toEqual([1, ['POST /api/X']])
    await later.auth.logout('archive')
    expect([server.pairs.length, calls()]).toEqual([0, ['POST /api/X', 'DELETE /api/credentials/access_id/X']])
    await later.auth.logout('archive')
    expect(calls()).toHaveLength(2)
  })

  it('a pair is used as soon as the store knows it', async () => {
    const { server, own, login } = await manager({ slow: true })
    const clock = patient((waits) => waits === 2 && server.settle())
    const { auth, target } = engine({ own, login, clock })
    expect(await (await auth.fetch(target)).text()).toBe('hello')
    expect([clock.waited, statuses(), server.pairs.length]).toEqual([[2000, 4000], [403, 403, 200], 1])
  })

  it('a pair that somebody deleted is replaced', async () => {
    const { server, own, login, calls } = await manager()
    let now = Date.now()
    const { auth, target } = engine({ own, login, now: () => now })
    await auth.fetch(target)
    await fetch(`${server.origin}/api/credentials/access_id/${server.pairs[0]?.accessKeyId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    now += HOUR / 60
    expect(await (await auth.fetch(target)).text()).toBe('hello')
    expect(calls().filter((call) => call.startsWith('POST'))).toHaveLength(2)
  })

  it('a pair that is gone already is no failure of the logout, and one that stays is named by its end', async () => {
    const { server, own, login } = await manager()
    const { auth, target } = engine({ own, login })
    await auth.fetch(target)
    await fetch(`${server.origin}/api/credentials/access_id/${server.pairs[0]?.accessKeyId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    await auth.logout('archive')
    const wrong = engine({ own: { ...own, releaseMethod: 'POST', releaseUrl: `${server.origin}/nothing/{accessKeyId}?` }, login })
    await wrong.auth.fetch(target)
    await server.close()
    const error = await failureOf(wrong.auth.logout('archive'))
    expect(error).toMatchObject({ credential: 'archive', hint: expect.stringContaining('ends with') })
    expect(leaks([canaryOf(String(keys[0]?.secretAccessKey))], { error: shown(error) })).toEqual([])
    expect(await wrong.auth.status()).toEqual([])
  })

  it('a pair stays at its service when the logout is for this machine only', async () => {
    const { server, own, login, calls } = await manager()
    const { auth, target } = engine({ own, login })
    await auth.fetch(target)
    await auth.logout('archive', { revoke: false })
    expect([server.pairs.length, calls(), await auth.status()]).toEqual([1, ['POST /api/X'], []])
  })

  it.each([
    ['JSON', { body: { label: 'stac', days: 7, secret: () => 'canary-word' } }, '{"label":"stac","days":7,"secret":"canary-word"}'],
    ['a form', { body: { label: 'a b', days: 7 }, bodyType: 'form' }, 'label=a+b&days=7'],
  ])('a call may have a body of %s', async (_what, fields, body) => {
    const { server, own, login } = await manager()
    const { auth, target } = engine({ own: { ...own, method: undefined, ...fields }, login })
    await auth.fetch(target)
    expect(server.exchanges[0]?.request).toMatchObject({ method: 'POST', body })
  })

  it('a call may be authorized with a user name and a password', async () => {
    const { own, server } = await manager({ authorization: `Basic ${btoa('ada:pass')}` })
    const login = { scheme: 'basic', username: 'ada', password: 'pass', sendTo: [`${server.origin}/`] }
    const { auth, target } = engine({ own, login })
    expect(await (await auth.fetch(target)).text()).toBe('hello')
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
    ['only "with"', { credentialsUrl: undefined }, '/credentials/1/with', 'requires credentialsUrl or stsEndpoint'],
    ['a body in a GET', { method: 'GET', body: { a: 1 } }, '/credentials/1/method', 'cannot have the method GET'],
    ['a format of no body', { bodyType: 'form' }, '/credentials/1/bodyType', 'requires body'],
    ['a field that keys do not have', { fields: { user: 'x' } }, '/credentials/1/fields/user', 'is not one of them'],
    ['a malformed pointer', { fields: { expiration: '/a~2' } }, '/credentials/1/fields/expiration', 'not a JSON Pointer'],
    ['a release of no keys', { releaseUrl: 'https://keys.example/' }, '/credentials/1/releaseUrl', '{accessKeyId}'],
    [
      'a release elsewhere',
      { releaseUrl: 'https://keys.example/{accessKeyId}' },
      '/credentials/1/releaseUrl',
      'the origin of credentialsUrl',
    ],
    ['a way of a release alone', { releaseMethod: 'POST' }, '/credentials/1/releaseMethod', 'requires releaseUrl'],
  ])('a credential with credentialsUrl is refused with %s', async (_what, own, pointer, message) => {
    const error = await failureOf(engine({ own }).auth.ready())
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer, message: expect.stringContaining(message) })
  })
})

function awsShape(key: object, tokenName: string, Expiration: string): unknown {
  const { accessKeyId, secretAccessKey, sessionToken } = key as Record<string, string>
  return { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, [tokenName]: sessionToken, Expiration }
}

import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { assetOf } from '../../src/stac/target.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { canaryOf, leaks, shown } from '../harness/canary.ts'
import { found } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { type Answer, type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { type S3Server, startS3Server } from '../servers/s3-server.ts'
import type { S3ServerKey } from '../servers/s3-signature.ts'
import { startTokenService, type TokenServiceOptions } from '../servers/token-service.ts'
import { browser, provided, type Stage } from '../strategies/oauth2/provider.ts'
import type { KeysWork } from './keys-process.ts'

const ROLE = 'arn:aws:iam::123456789012:role/reader'

let stage: Stage
let keys: S3ServerKey[]
let store: S3Server

beforeEach(async () => {
  keys = []
  stage = await provided()
  store = await startS3Server({ objects: { 'eo/a': 'hello' }, keys })
  return () => store.close()
})

async function service(options: Partial<TokenServiceOptions> = {}): Promise<AnsweringServer> {
  const server = await startTokenService({ issuer: stage.server.issuer, audience: 'native', store: keys, roleArn: ROLE, ...options })
  onTestFinished(() => server.close())
  return server
}

async function serviceThat(answer: Answer): Promise<AnsweringServer> {
  const server = await startAnswering(() => answer)
  onTestFinished(() => server.close())
  return server
}

/** An engine with a login and an `s3` credential that uses it; `own` changes the latter. */
function engine(sts: AnsweringServer, own: object = {}, options: object = {}) {
  const { person } = stage.entries
  const login = { ...person, sendTo: [`${stage.server.issuer}/`, `${sts.origin}/`] }
  const bucket = {
    id: 'eo',
    type: 's3',
    endpoint: store.url,
    sendTo: ['s3://eo/'],
    with: 'person',
    stsEndpoint: `${sts.origin}/`,
    roleArn: ROLE,
  }
  return stage.engine([login, { ...bucket, ...own }], options)
}

const item = (scheme: object = {}) => ({
  type: 'Feature',
  properties: {
    'auth:schemes': {
      oidc: { type: 'openIdConnect', openIdConnectUrl: `${stage.server.issuer}/.well-known/openid-configuration` },
      s3: { type: 's3', 'auth:refs': ['oidc'], ...scheme },
    },
  },
  assets: { data: { href: 's3://eo/a', 'auth:refs': ['s3'] } },
})
const data = () => assetOf(item(), 'data')

async function loggedIn(auth: ReturnType<typeof engine>) {
  await auth.login('person', browser().interaction)
  return auth
}

const formOf = (sts: AnsweringServer) => new URLSearchParams(found(sts.exchanges[0]).request.body)

describe('keys for the token of a login', () => {
  it('keys for the token of a login are requested once for all who wait, with its ID token', async () => {
    const sts = await service()
    const auth = await loggedIn(engine(sts, { roleSessionName: 'ada', durationSeconds: 900 }))
    const texts = await Promise.all(Array.from({ length: 5 }, async () => (await auth.fetch(data())).text()))
    expect(texts).toEqual(Array.from({ length: 5 }, () => 'hello'))
    expect(sts.exchanges).toHaveLength(1)
    expect(Object.fromEntries(formOf(sts))).toMatchObject({ RoleArn: ROLE, RoleSessionName: 'ada', DurationSeconds: '900' })
    expect(store.log.every(({ headers }) => headers['x-amz-security-token'] === keys[0]?.sessionToken)).toBe(true)
    const { expiresAt = '' } = found((await auth.status()).find(({ credential }) => credential === 'eo'))
    expect(Math.abs(Date.parse(expiresAt) - Date.now() - 900_000)).toBeLessThan(60_000)
  })

  it('keys for the token of a login need no role where the service needs none', async () => {
    const sts = await service({ roleArn: undefined })
    const auth = await loggedIn(engine(sts, { roleArn: undefined }))
    expect(await (await auth.fetch(data())).text()).toBe('hello')
    expect(formOf(sts).has('RoleArn')).toBe(false)
  })

  it('keys for the token of a login may be requested with its access token', async () => {
    const sts = await service({ accepts: async (token) => (await stage.server.accountOf(token)) !== undefined })
    const auth = await loggedIn(engine(sts, { webIdentityToken: 'access_token' }))
    expect(await (await auth.fetch(data())).text()).toBe('hello')
    expect(formOf(sts).get('WebIdentityToken')).not.toContain('.')
  })

  it('keys for the token of a login are used by later programs, also without a login, until they expire', async () => {
    const sts = await service()
    let now = Date.now()
    const auth = await loggedIn(engine(sts, {}, { clock: { now: () => now } }))
    await auth.fetch(data())
    const later = engine(sts, {}, { clock: { now: () => now } })
    expect(await (await later.fetch(data())).text()).toBe('hello')
    expect((await later.explain(data())).refs).toEqual([{ ref: 's3', scheme: 's3', credential: 'eo' }])
    expect(sts.exchanges).toHaveLength(1)
    now += 3_600_000 - 4 * 60_000
    await (await engine(sts, {}, { clock: { now: () => now } }).fetch(data())).text()
    expect(sts.exchanges).toHaveLength(2)
  })

  it('keys for the token of a login end with its logout, and with the login of another user', async () => {
    const sts = await service()
    const auth = await loggedIn(engine(sts))
    await auth.fetch(data())
    await loggedIn(auth)
    await auth.fetch(data())
    expect(sts.exchanges).toHaveLength(2)
    await auth.logout('person')
    expect([...stage.kept]).toEqual([])
    expect(await failureOf(auth.fetch(data()))).toMatchObject({ code: 'LOGIN_REQUIRED', credential: 'person' })
  })

  it('keys that the store refuses as expired are replaced once', async () => {
    const sts = await service()
    const auth = await loggedIn(engine(sts))
    await auth.fetch(data())
    keys.splice(0, 1, { ...found(keys[0]), expired: true })
    expect(await (await auth.fetch(data())).text()).toBe('hello')
    expect(sts.exchanges).toHaveLength(2)
  })

  it('a login that is missing is named, and nothing is sent', async () => {
    const sts = await service()
    const auth = engine(sts)
    const [ref] = (await auth.explain(data())).refs
    expect(ref).toMatchObject({ code: 'LOGIN_REQUIRED', credential: 'person' })
    expect(await failureOf(auth.fetch(data()))).toMatchObject({ code: 'LOGIN_REQUIRED', hint: expect.stringContaining('login person') })
    expect(sts.connections).toBe(0)
  })

  it('an ID token that has expired needs a login', async () => {
    const sts = await service()
    let now = Date.now()
    const auth = await loggedIn(engine(sts, {}, { clock: { now: () => now } }))
    now += 3_700_000
    const [[place, text] = ['', '']] = stage.kept
    await stage.store.write(place, JSON.stringify({ ...JSON.parse(text), expiresAt: now + 9_000_000 }))
    await auth.logout('eo')
    const later = engine(sts, {}, { clock: { now: () => now } })
    expect(await failureOf(later.fetch(data()))).toMatchObject({ code: 'LOGIN_REQUIRED', credential: 'person' })
    expect(sts.connections).toBe(0)
  })

  it('a document chooses neither the service nor the role', async () => {
    const sts = await service()
    const stranger = await serviceThat({ status: 200 })
    const auth = await loggedIn(engine(sts))
    const scheme = { stsEndpoint: `${stranger.origin}/`, roleArn: 'arn:aws:iam::1:role/theirs', with: 'person' }
    expect(await (await auth.fetch(assetOf(item(scheme), 'data'))).text()).toBe('hello')
    expect([stranger.connections, formOf(sts).get('RoleArn')]).toEqual([0, ROLE])
  })
})

describe('processes that need keys at once', () => {
  it('processes that need keys at once make one request for them: twelve requests of three processes', async () => {
    const folder = await temporaryFolder()
    const sts = await service({ delay: 500 })
    const auth = await loggedIn(engine(sts))
    const request = await auth.authorize(assetOf(item(), 'data'))
    expect(request.headers['x-amz-security-token']).toBe(keys[0]?.sessionToken)
    const idToken = formOf(sts).get('WebIdentityToken')
    const login = { id: 'person', type: 'http', scheme: 'bearer', token: idToken, sendTo: [`${sts.origin}/`] }
    const bucket = {
      id: 'eo',
      type: 's3',
      endpoint: store.url,
      sendTo: ['s3://eo/'],
      with: 'person',
      stsEndpoint: `${sts.origin}/`,
      roleArn: ROLE,
    }
    const document = item({ 'auth:refs': undefined })
    const work: KeysWork = { folder: join(folder, 'tokens'), credentials: [login, bucket], document, requests: 4 }
    const script = await compiled(folder)
    const runs = Array.from({ length: 3 }, () => promisify(execFile)(process.execPath, [script, JSON.stringify(work)]))
    for (const { stdout, stderr } of await Promise.all(runs))
      expect([JSON.parse(stdout), stderr]).toEqual([['hello', 'hello', 'hello', 'hello'], ''])
    expect(sts.exchanges).toHaveLength(2)
    expect(new Set(store.log.map(({ headers }) => headers['x-amz-security-token'])).size).toBe(1)
  })
})

/** Compiles the program of a process once. */
async function compiled(folder: string): Promise<string> {
  const here = dirname(fileURLToPath(import.meta.url))
  await build({
    entryPoints: [join(here, 'keys-process.ts')],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    alias: { '#platform': join(here, '../../src/platform/node.ts') },
    // Packages that are no modules ask for others by `require`.
    banner: { js: "import { createRequire as requireFrom } from 'node:module'\nconst require = requireFrom(import.meta.url)" },
    logLevel: 'error',
  })
  return join(folder, 'keys-process.mjs')
}

describe('a token service that refuses', () => {
  it.each<[string, object, Partial<TokenServiceOptions>, string]>([
    ['a token for somebody else', {}, { audience: 'another' }, '400 InvalidIdentityToken'],
    ['a token of another provider', {}, { issuer: 'https://other.example' }, '400 InvalidIdentityToken'],
    ['an access token', { webIdentityToken: 'access_token' }, {}, '400 InvalidIdentityToken'],
    ['a role', { roleArn: 'arn:aws:iam::123456789012:role/writer' }, {}, '403 AccessDenied'],
    ['a missing role', { roleArn: undefined }, {}, '400 MissingParameter'],
    ['a duration', { durationSeconds: 60 }, {}, '400 ValidationError'],
  ])('a token service that refuses %s is reported with its code alone', async (_what, own, options, answer) => {
    const sts = await service(options)
    const auth = await loggedIn(engine(sts, own))
    const error = await failureOf(auth.fetch(data()))
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', credential: 'eo', hint: expect.any(String) })
    expect(error.message).toBe(`the token service of "eo" refused the token of "person" with ${answer}`)
    expect(leaks([canaryOf(formOf(sts).get('WebIdentityToken') ?? '')], { error: shown(error) })).toEqual([])
    expect(store.log).toEqual([])
  })

  const xml = (inner: string) => `<R><Credentials>${inner}</Credentials></R>`
  const pair = '<AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>canary-secret</SecretAccessKey>'
  it.each<[string, Answer, string]>([
    ['a redirect', { status: 302, headers: { location: 'https://login.example/' } }, 'REDIRECT_CROSS_ORIGIN'],
    ['503', { status: 503 }, 'HTTP_503'],
    ['an unreachable provider', { status: 400, body: '<E><Error><Code>IDPCommunicationError</Code></Error></E>' }, 'HTTP_400'],
    ['a page', { status: 200, body: '<html>canary-secret</html>' }, 'RESPONSE_INVALID'],
    ['half a pair', { status: 200, body: xml('<SecretAccessKey>canary-secret</SecretAccessKey>') }, 'RESPONSE_INVALID'],
    ['a document type', { status: 200, body: `<!DOCTYPE R [<!ENTITY a "b">]>${xml(pair)}` }, 'RESPONSE_INVALID'],
    ['a comment', { status: 200, body: xml(`<!-- ${pair} -->${pair}`) }, 'RESPONSE_INVALID'],
    ['a line break', { status: 200, body: xml(`${pair}<SessionToken>canary-secret&#13;&#10;x: y</SessionToken>`) }, 'RESPONSE_INVALID'],
    [
      'nesting',
      { status: 200, body: xml(`${pair}<SessionToken><x>canary-secret</x></SessionToken><AccessKeyId/>`.replace('ASIA1', '<a/>')) },
      'RESPONSE_INVALID',
    ],
    ['too much', { status: 200, body: xml(pair) + ' '.repeat(70_000) }, 'RESPONSE_TOO_LARGE'],
  ])('a token service that answers with %s gives no keys, and its words are not shown', async (_what, answer, code) => {
    const sts = await serviceThat(answer)
    const auth = await loggedIn(engine(sts))
    const error = await failureOf(auth.fetch(data()))
    expect(error).toMatchObject({ code })
    expect(leaks([canaryOf('canary-secret')], { error: shown(error) })).toEqual([])
    expect(store.log).toEqual([])
  })
})

describe('a credential with stsEndpoint', () => {
  it.each([
    ['no login', { with: undefined }, 'stsEndpoint', 'requires "with"'],
    ['a second service', { credentialsUrl: 'http://127.0.0.1/keys' }, 'credentialsUrl', 'stsEndpoint or credentialsUrl'],
    ['keys of its own', { accessKeyId: 'A', secretAccessKey: 'a' }, 'stsEndpoint', 'accessKeyId or stsEndpoint'],
    ['http', { stsEndpoint: 'http://sts.example/' }, 'stsEndpoint', 'https'],
    ['a service that the login may not be sent to', { stsEndpoint: 'https://sts.example/' }, 'with', 'does not include'],
    ['a session name with a blank', { roleSessionName: 'a b' }, 'roleSessionName', 'characters'],
    ['half a second', { durationSeconds: 900.5 }, 'durationSeconds', 'whole number'],
    ['a body', { body: { a: 'b' } }, 'body', 'requires credentialsUrl'],
  ])('a credential with stsEndpoint is refused with %s', async (_what, own, field, message) => {
    const error = await failureOf(engine(await service(), own).ready())
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer: `/credentials/1/${field}`, message: expect.stringContaining(message) })
  })
})

import { describe, expect, it } from 'vitest'
import type { AuthOptions } from '../../../src/auth/create-auth.ts'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialObject } from '../../../src/auth/credential.ts'
import { memoryStore, type SessionStore } from '../../../src/auth/session.ts'
import type { HttpRequest } from '../../../src/http/message.ts'
import { expiryIn } from '../../../src/strategies/http/token-request.ts'
import { canary, leaks } from '../../harness/canary.ts'
import { scheme, target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type Reply, redirectTo, script } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'

const LOGIN = 'https://urs.example/'
const TOKEN_URL = `${LOGIN}api/users/find_or_create_token`
const REVOKE_URL = `${LOGIN}api/users/revoke_token`
const DATA = 'https://data.example/'
const FILE = `${DATA}a.tif`
const DAY = 86_400_000
const password = canary('password')

const account = { id: 'account', type: 'http', scheme: 'basic', username: 'ada', password: password.value, sendTo: LOGIN }
const wanted = {
  id: 'archive',
  type: 'http',
  scheme: 'bearer',
  tokenUrl: TOKEN_URL,
  with: 'account',
  expiresField: 'expiration_date',
  revocationUrl: REVOKE_URL,
  revocationRequest: 'query',
  sendTo: DATA,
}

/** A login as at Earthdata: Basic only, at most two tokens, 60 days, the same token while it is valid; and an archive that takes its tokens. */
function archive({ now = Date.UTC(2026, 0, 1), secret = password.value, days = 60 } = {}) {
  const clock = { now }
  const tokens: { value: string; until: number }[] = []
  let issued = 0
  const valid = () => tokens.filter(({ until }) => until > clock.now)
  const login = ({ method, url, headers, body }: HttpRequest): Reply => {
    if (method !== 'POST') return { status: 405 }
    if (headers.authorization !== `Basic ${btoa(`ada:${secret}`)}`)
      return { status: 401, body: { error: 'invalid_credentials', error_description: 'Invalid user credentials' } }
    if (body !== undefined) return { status: 400 }
    const { origin, pathname, searchParams } = new URL(url)
    if (origin + pathname === REVOKE_URL) {
      const index = tokens.findIndex(({ value: known }) => known === searchParams.get('token'))
      if (index < 0) return { status: 404, body: { error: 'invalid_token' } }
      tokens.splice(index, 1)
      return { status: 200 }
    }
    if (url !== TOKEN_URL) return { status: 404 }
    if (valid().length === 0) tokens.push({ value: `t${++issued}`, until: clock.now + days * DAY })
    const { value, until } = valid()[0] ?? { value: '', until: 0 }
    const date = new Date(until).toISOString().replace(/^(\d+)-(\d+)-(\d+)T.*/, '$2/$3/$1')
    return { body: { access_token: value, token_type: 'Bearer', expiration_date: date } }
  }
  const wire = script((request) => {
    if (request.url.startsWith(LOGIN)) return login(request)
    const given = request.headers.authorization ?? ''
    return valid().some(({ value }) => given === `Bearer ${value}`)
      ? { body: 'file' }
      : { status: 401, headers: { 'www-authenticate': 'Bearer' } }
  })
  const revokeAll = () => tokens.splice(0)
  const asked = () => wire.sent.filter(({ url }) => url === TOKEN_URL).length
  return { clock, wire, valid, revokeAll, asked }
}

type Archive = ReturnType<typeof archive>

function engine(
  { wire, clock }: Pick<Archive, 'wire' | 'clock'>,
  { credentials = [account, wanted], ...options }: { credentials?: readonly object[] } & Partial<Omit<AuthOptions, 'credentials'>> = {},
) {
  const time = new FakeClock({ now: () => clock.now, waits: 'skipped' })
  return createAuth({ credentials: unchecked(credentials as readonly CredentialObject[]), transport: wire.send, clock: time, ...options })
}

/** A login that gives that answer to every request, and data for any token. */
function answering(reply: Reply | ((request: HttpRequest) => Reply)) {
  const wire = script((request) =>
    request.url.startsWith(LOGIN) ? (typeof reply === 'function' ? reply(request) : reply) : { body: 'file' },
  )
  return { wire, clock: { now: Date.UTC(2026, 0, 1) } }
}

describe('a requested token', () => {
  it('a requested token opens files, with the password sent to the token endpoint only', async () => {
    const one = archive()
    const auth = engine(one)
    expect(await (await auth.fetch(FILE)).text()).toBe('file')
    await auth.fetch(FILE)
    expect(one.wire.sent.map(({ method, url }) => `${method} ${url}`)).toEqual([`POST ${TOKEN_URL}`, `GET ${FILE}`, `GET ${FILE}`])
    expect(leaks([password], { data: JSON.stringify(one.wire.to('data.example')) })).toEqual([])
  })

  it.each([
    ['http', scheme.bearer],
    ['oauth2', scheme.client('https://other.example/token')],
    ['openIdConnect', scheme.oidc('https://other.example/.well-known/openid-configuration')],
  ])('a requested token answers a scheme of type %s inside its sendTo, with its own endpoint', async (type, definition) => {
    const one = archive()
    expect(await (await engine(one).fetch(target(definition, FILE))).text()).toBe('file')
    const failure = await failureOf(engine(one).fetch(target(definition, 'https://evil.example/a')))
    expect(failure).toMatchObject({ code: type === 'http' ? 'CREDENTIAL_TARGET_UNTRUSTED' : 'NO_CREDENTIAL' })
    expect(new Set(one.wire.sent.map(({ url }) => new URL(url).host))).toEqual(new Set(['urs.example', 'data.example']))
  })

  it('a requested token is stored, and used by the next program until its last day ends', async () => {
    const [one, session] = [archive(), memoryStore()]
    await engine(one, { session }).fetch(FILE)
    one.clock.now += 59 * DAY
    await engine(one, { session }).fetch(FILE)
    expect(one.asked()).toBe(1)
    one.clock.now += 3 * DAY
    expect(await (await engine(one, { session }).fetch(FILE)).text()).toBe('file')
    expect([one.asked(), one.wire.to('data.example').map(({ headers }) => headers.authorization)]).toEqual([
      2,
      ['Bearer t1', 'Bearer t1', 'Bearer t2'],
    ])
  })

  it('a requested token that many need at once is requested once, also by several engines with one store', async () => {
    const [one, session] = [archive(), memoryStore()]
    const engines = [1, 2, 3].map(() => engine(one, { session }))
    await Promise.all(engines.flatMap((auth) => [auth.fetch(FILE), auth.fetch(FILE), auth.fetch(FILE)]))
    expect(one.asked()).toBe(1)
  })

  it('a requested token that is refused is requested anew once, and the file opens', async () => {
    const one = archive()
    const auth = engine(one)
    await auth.fetch(FILE)
    one.revokeAll()
    expect(await (await auth.fetch(FILE)).text()).toBe('file')
    expect(one.asked()).toBe(2)
  })

  it('a requested token that is refused and given again is not sent twice', async () => {
    const one = answering({ body: { access_token: 'same' } })
    const wire = script((request) => (request.url.startsWith(DATA) ? { status: 401 } : { body: { access_token: 'same' } }))
    expect(await failureOf(engine({ ...one, wire }).fetch(FILE))).toMatchObject({ code: 'AUTH_REJECTED', credential: 'archive' })
    expect(wire.sent.map(({ url }) => url)).toEqual([TOKEN_URL, FILE, TOKEN_URL])
  })

  it('a requested token of one user is not used for another', async () => {
    const [session, { wire, clock }] = [memoryStore(), answering({ body: { access_token: 't', expires_in: 3600 } })]
    for (const username of ['ada', 'ada', () => 'ada', 'eve'])
      await engine({ wire, clock }, { session, credentials: [{ ...account, username }, wanted] }).fetch(FILE)
    expect(wire.sent.filter(({ url }) => url === TOKEN_URL)).toHaveLength(2)
  })

  it('a requested token that is due for refresh is used while the endpoint fails', async () => {
    const [session, clock] = [memoryStore(), { now: 0 }]
    const replies: Reply[] = [{ body: { access_token: 't1', expires_in: 1000 } }, { status: 503 }]
    const { wire } = answering(() => replies.shift() ?? { status: 503 })
    const credentials = [account, { ...wanted, expiresField: undefined }]
    await engine({ wire, clock }, { session, credentials }).fetch(FILE)
    clock.now = 950_000
    expect(await (await engine({ wire, clock }, { session, credentials }).fetch(FILE)).text()).toBe('file')
    clock.now = 1_000_001
    expect(await failureOf(engine({ wire, clock }, { session, credentials }).fetch(FILE))).toMatchObject({
      code: 'HTTP_503',
      retryable: true,
    })
  })

  it('a requested token authorizes a signing API and a service of keys that name its credential', async () => {
    const one = archive()
    const keys = { accessKeyId: 'AKIA', secretAccessKey: 's', sessionToken: 'st', expiration: '2026-01-01T01:00:00Z' }
    const wire = script((request, index) => {
      const { pathname, host } = new URL(request.url)
      if (host !== 'data.example')
        return one.wire.send(request).then(async ({ status, text }) => ({ status, body: JSON.parse(await text(10_000)) }))
      if (request.headers.authorization !== 'Bearer t1') return { status: 401 }
      return index >= 0 && pathname === '/s3credentials' ? { body: keys } : { body: { href: 'https://signed.example/a?sig=1' } }
    })
    const store = {
      id: 'store',
      type: 's3',
      region: 'us-west-2',
      credentialsUrl: `${DATA}s3credentials`,
      with: 'archive',
      sendTo: 's3://bucket/',
    }
    const signer = {
      id: 'signer',
      type: 'signedUrl',
      authorizationApi: `${DATA}sign`,
      method: 'GET',
      with: 'archive',
      signedUrlHosts: 'https://signed.example/',
    }
    const auth = engine({ wire, clock: one.clock }, { credentials: [account, wanted, store, signer] })
    const signed = await auth.authorize(target(scheme.signed(`${DATA}sign`), 'https://signed.example/a'))
    expect(signed.url).toBe('https://signed.example/a?sig=1')
    const object = await auth.authorize(target({ type: 's3' }, 's3://bucket/a'))
    expect(object.headers['x-amz-security-token']).toBe('st')
  })
})

describe('a token request', () => {
  it.each([
    ['json', 'application/json', (body: string) => JSON.parse(body)],
    ['form', 'application/x-www-form-urlencoded', (body: string) => Object.fromEntries(new URLSearchParams(body))],
  ])('a token request with parameters is sent as %s, without Authorization', async (tokenRequest, type, read) => {
    const { wire, clock } = answering({ body: { data: [{ token: 'deep' }] } })
    const tokenParameters = { username: 'ada', password: () => password.value }
    const credential = { ...wanted, with: undefined, tokenParameters, tokenRequest, tokenField: '/data/0/token' }
    await engine({ wire, clock }, { credentials: [credential] }).fetch(FILE)
    expect(wire.sent[0]).toMatchObject({ method: 'POST', url: TOKEN_URL, headers: { 'content-type': type } })
    expect(wire.sent[0]?.headers).not.toHaveProperty('authorization')
    expect(read(String(wire.sent[0]?.body))).toEqual({ username: 'ada', password: password.value })
    expect(wire.sent[1]?.headers.authorization).toBe('Bearer deep')
  })

  it('a token request with a wrong password is refused, and not repeated for further files', async () => {
    const one = archive({ secret: 'another' })
    const auth = engine(one)
    for (const name of ['a', 'b', 'c']) {
      const failure = await failureOf(auth.fetch(`${DATA}${name}`))
      expect(failure).toMatchObject({ code: 'AUTH_REJECTED', credential: 'archive', status: 401, hint: 'check the secrets of "account"' })
      expect(leaks([password], { failure: JSON.stringify(failure) + String(failure) })).toEqual([])
    }
    expect(one.wire.sent.map(({ url }) => url)).toEqual([TOKEN_URL])
    one.clock.now += 61_000
    await failureOf(auth.fetch(FILE))
    expect(one.asked()).toBe(2)
  })

  it.each<[string, Reply, string]>([
    ['a redirect', redirectTo('https://evil.example/token'), 'OAUTH_REDIRECT'],
    ['a redirect that keeps the method', redirectTo(`${LOGIN}other`, 307), 'OAUTH_REDIRECT'],
    ['a page', { body: '<html>log in' }, 'RESPONSE_FIELD_MISSING'],
    ['another member', { body: { token: 'x' } }, 'RESPONSE_FIELD_MISSING'],
    ['a token with a line break', { body: { access_token: 'a\r\nx: y' } }, 'RESPONSE_FIELD_MISSING'],
    ['a token with a space', { body: { access_token: 'a b' } }, 'RESPONSE_FIELD_MISSING'],
    ['a token that is no text', { body: { access_token: 7 } }, 'RESPONSE_FIELD_MISSING'],
    ['an inherited member', { body: {} }, 'RESPONSE_FIELD_MISSING'],
    ['ten megabytes', { body: 'x'.repeat(10_000_000) }, 'RESPONSE_TOO_LARGE'],
    ['a failure', { status: 500 }, 'HTTP_500'],
    ['a missing page', { status: 404 }, 'HTTP_404'],
    ['a refusal', { status: 403 }, 'AUTH_REJECTED'],
  ])('a token request that gets %s sends nothing to the archive', async (_what, reply, code) => {
    const { wire, clock } = answering(reply)
    expect(await failureOf(engine({ wire, clock }).fetch(FILE))).toMatchObject({ code })
    expect(new Set(wire.sent.map(({ url }) => url))).toEqual(new Set([TOKEN_URL]))
  })

  it.each([
    ['names neither a credential nor parameters', { with: undefined }, '/credentials/1/tokenUrl'],
    ['has parameters for a GET', { method: 'GET', tokenParameters: { user: 'ada' } }, '/credentials/1/method'],
    ['has a broken pointer', { tokenField: '/a~2' }, '/credentials/1/tokenField'],
    ['has a token as well', { token: 'x' }, '/credentials/1/token'],
    ['sends a password to http:', { tokenUrl: 'http://urs.example/token' }, '/credentials/1/tokenUrl'],
    ['names a credential for other URLs', { tokenUrl: 'https://other.example/token' }, '/credentials/1/with'],
    ['leads back to itself', { with: 'archive' }, '/credentials/1/with'],
  ])('a credential whose token request %s is CONFIG_INVALID', async (_what, fields, pointer) => {
    const one = archive()
    expect(await failureOf(engine(one, { credentials: [account, { ...wanted, ...fields }] }).ready())).toMatchObject({
      code: 'CONFIG_INVALID',
      pointer,
    })
  })
})

describe('the state of a requested token', () => {
  it('status, login and logout show, request and revoke it', async () => {
    const [one, session] = [archive(), memoryStore()]
    const auth = engine(one, { session })
    const common = { credential: 'archive', type: 'http', refreshable: true, persistent: true }
    expect(await auth.status()).toEqual([{ ...common, state: 'none' }])
    await auth.login('archive')
    expect(await auth.status()).toEqual([{ ...common, state: 'valid', expiresAt: '2026-03-03T00:00:00.000Z' }])
    expect(auth.peek(FILE)).toBeUndefined()
    await auth.fetch(FILE)
    expect(auth.peek(FILE)?.headers.authorization).toBe('Bearer t1')
    await auth.logout('archive')
    expect(await auth.status()).toEqual([{ ...common, state: 'none' }])
    expect([auth.peek(FILE), one.valid()]).toEqual([undefined, []])
    expect(one.wire.sent.at(-1)).toMatchObject({ method: 'POST', url: `${REVOKE_URL}?token=t1` })
  })

  it('a logout that cannot revoke says so after removing the token; one without revocation sends nothing', async () => {
    const one = archive()
    const auth = engine(one)
    await auth.fetch(FILE)
    one.revokeAll()
    expect(await failureOf(auth.logout('archive'))).toMatchObject({ code: 'HTTP_404' })
    await auth.fetch(FILE)
    const before = one.wire.sent.length
    await auth.logout('archive', { revoke: false })
    expect([one.wire.sent.length, one.valid().length]).toEqual([before, 1])
    expect(await auth.status()).toMatchObject([{ state: 'none' }])
  })

  it('a credential with a password alone has no login', async () => {
    const auth = engine(archive())
    expect(await failureOf(auth.login('account'))).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(await failureOf(auth.logout('account'))).toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it.each(['', '{', 'null', '[]', '{"value":"a b","askedAt":0,"user":""}', '{"value":"t","askedAt":"0","user":""}'])(
    'a stored text that is not a token is not used: %s',
    async (text) => {
      const one = archive()
      const session: SessionStore = { ...memoryStore(), read: async () => text }
      expect(await (await engine(one, { session }).fetch(FILE)).text()).toBe('file')
      expect(await engine(one, { session }).status()).toMatchObject([{ state: 'none' }])
    },
  )
})

describe('the end of a token', () => {
  const now = Date.UTC(2026, 0, 1, 12)
  it.each<[unknown, string | undefined]>([
    [3600, '2026-01-01T13:00:00.000Z'],
    ['3600', '2026-01-01T13:00:00.000Z'],
    [1.9, '2026-01-01T12:00:01.000Z'],
    [1_767_272_400, '2026-01-01T13:00:00.000Z'],
    [1_767_272_400_000, '2026-01-01T13:00:00.000Z'],
    ['2026-01-01T13:00:00Z', '2026-01-01T13:00:00.000Z'],
    ['2026-01-01 13:00:00+00:00', '2026-01-01T13:00:00.000Z'],
    ['03/02/2026', '2026-03-03T00:00:00.000Z'],
    ['1/1/2026', '2026-01-02T00:00:00.000Z'],
    ['12/31/2199', '2027-01-01T12:00:00.000Z'],
    [99_999_999, '2027-01-01T12:00:00.000Z'],
    ['12/31/2025', undefined],
    ['31/12/2026', undefined],
    ['02/30/2026', undefined],
    ['2025-01-01', undefined],
    [0, undefined],
    [-5, undefined],
    ['-5', undefined],
    ['soon', undefined],
    [null, undefined],
    [{}, undefined],
    [Number.NaN, undefined],
    ['9'.repeat(400), undefined],
  ])('the end of a token in %j is %s', (value, end) => {
    const found = expiryIn(value, now)
    expect(found === undefined ? undefined : new Date(found).toISOString()).toBe(end)
  })
})

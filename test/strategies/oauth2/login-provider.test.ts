import { describe, expect, it } from 'vitest'
import type { DevicePrompt } from '../../../src/auth/auth.ts'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import { shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { testKey } from '../../harness/keys.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { browse } from '../../servers/person.ts'
import { browser, provided } from './provider.ts'

const changed = (name: string, value: string | undefined) => (callback: URL) => {
  const copy = new URL(callback)
  if (value === undefined) copy.searchParams.delete(name)
  else copy.searchParams.set(name, value)
  return copy
}
const tokensOf = (kept: ReadonlyMap<string, string>) => JSON.parse([...kept.values()][0] ?? '{}')

describe('a login in a browser', () => {
  it('a login in a browser is pushed, proved by PKCE, and kept', async () => {
    const { entries, engine, file, server, kept } = await provided()
    const auth = engine(entries.person)
    expect(await failureOf(auth.fetch(file(entries.person)))).toMatchObject({ code: 'LOGIN_REQUIRED', credential: 'person' })
    expect((await auth.explain(file(entries.person))).refs).toMatchObject([
      { code: 'LOGIN_REQUIRED', scheme: 'openIdConnect', credential: 'person' },
    ])
    expect(server.log).toEqual([])
    const { interaction, seen } = browser()
    await auth.login('person', interaction)
    expect(server.log).toContain('POST /request')
    expect([...new URL(seen.url).searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
    expect(seen.closed).toBe(true)
    expect(await (await auth.fetch(file(entries.person))).text()).toBe('file of alice')
    expect((await auth.explain(file(entries.person))).refs).toMatchObject([{ credential: 'person' }])
    expect(await (await engine(entries.person).fetch(file(entries.person))).text()).toBe('file of alice')
    expect(tokensOf(kept)).toMatchObject({ tokenType: 'Bearer', refreshToken: expect.any(String), idToken: expect.any(String) })
    expect(await auth.status()).toMatchObject([
      { credential: 'person', type: 'openIdConnect', flow: 'authorizationCode', state: 'valid', refreshable: true },
    ])
  })

  it.each([
    [{ name: 'Ada\u202e\nLovelace', preferred_username: 'ada', email: 'ada@example.com' }, /^Ada\S* ?Lovelace$/],
    [{ name: ' ', preferred_username: 'ada', email: 'ada@example.com' }, /^ada$/],
    [{ email: `${'a'.repeat(200)}@example.com` }, /^a{100}$/],
    [{}, undefined],
  ])('the state of a login names the user by the verified ID token: %j', async (claims, name) => {
    const { entries, engine } = await provided({ claims })
    const auth = engine(entries.person)
    await auth.login('person', browser().interaction)
    const [{ user } = {}] = await auth.status()
    if (name) expect(user).toMatch(name)
    else expect(user).toBeUndefined()
    expect(user ?? '').not.toMatch(/[\u0000-\u001f\u202e]/)
  })

  it('the state of a login names nobody by an ID token that cannot be verified', async () => {
    const { engine, server } = await provided({ claims: { name: 'Ada' } })
    const urls = { authorizationUrl: `${server.issuer}/auth`, tokenUrl: `${server.issuer}/token` }
    const client = { clientId: 'native', scopes: ['openid', 'read'], sendTo: `${server.issuer}/` }
    const auth = engine({ id: 'plain', type: 'oauth2', flow: 'authorizationCode', ...urls, ...client })
    await auth.login('plain', browser().interaction)
    const [status] = await auth.status()
    expect(status).toMatchObject({ state: 'valid' })
    expect(status).not.toHaveProperty('user')
  })

  it('a login in a browser lasts: a refused token is refreshed, and the rotated refresh token is kept', async () => {
    const { entries, engine, file, server, kept } = await provided()
    const auth = engine(entries.person)
    await auth.login('person', browser().interaction)
    await auth.fetch(file(entries.person))
    const before = tokensOf(kept)
    server.refuseShown()
    await Promise.all(Array.from({ length: 20 }, () => auth.fetch(file(entries.person))))
    const after = tokensOf(kept)
    expect(after.refreshToken).not.toBe(before.refreshToken)
    expect(after.idToken).toEqual(expect.any(String))
    expect(server.log.filter((line) => line === 'granted refresh_token')).toHaveLength(1)
  })

  it('a login in a browser is over when the refresh token is refused', async () => {
    const { entries, engine, file, server, kept, store } = await provided()
    const auth = engine(entries.person)
    await auth.login('person', browser().interaction)
    const [[name, text]] = [...kept] as [[string, string]]
    await store.write(name, JSON.stringify({ ...JSON.parse(text), expiresAt: 1, refreshToken: 'made-up' }))
    expect(await failureOf(engine(entries.person).fetch(file(entries.person)))).toMatchObject({ code: 'LOGIN_REQUIRED' })
    expect(server.log).toContain('refused refresh_token: invalid_grant')
    expect(kept.size).toBe(0)
  })

  it('ends with a logout, at the provider as well', async () => {
    const { entries, engine, file, server, kept } = await provided()
    const auth = engine(entries.person)
    await auth.login('person', browser().interaction)
    const { refreshToken, accessToken } = tokensOf(kept)
    for (const token of [refreshToken, accessToken]) expect(await server.isAlive(token)).toBe(true)
    await auth.logout('person')
    for (const token of [refreshToken, accessToken]) expect(await server.isAlive(token)).toBe(false)
    expect(kept.size).toBe(0)
    expect(await failureOf(auth.fetch(file(entries.person)))).toMatchObject({ code: 'LOGIN_REQUIRED' })
    await auth.logout('person')
  })

  it.each<[string, (callback: URL) => URL, string, boolean]>([
    ['an altered state', changed('state', 'x'.repeat(43)), 'OAUTH_RESPONSE_INVALID', false],
    ['no state', changed('state', undefined), 'OAUTH_RESPONSE_INVALID', false],
    ['a wrong issuer', changed('iss', 'https://evil.example'), 'OAUTH_ISSUER_MISMATCH', false],
    ['no issuer', changed('iss', undefined), 'OAUTH_ISSUER_MISMATCH', false],
    ['a made-up code', changed('code', 'canary-code'), 'OAUTH_ERROR', true],
    ['another redirect URI', (callback) => new URL(`http://127.0.0.1:81/callback${callback.search}`), 'OAUTH_ERROR', true],
  ])('a login in a browser with %s is refused', async (_name, change, code, ours) => {
    const { entries, engine, kept } = await provided()
    const { interaction, seen } = browser(change)
    const error = await failureOf(engine(entries.person).login('person', interaction))
    expect(error).toMatchObject({ code, credential: 'person' })
    expect(seen.ours).toBe(ours)
    expect(shown(error)).not.toContain('canary-code')
    expect(seen.closed).toBe(true)
    expect(kept.size).toBe(0)
  })

  it('a login in a browser that the person refuses is LOGIN_DENIED', async () => {
    const { entries, engine } = await provided()
    const error = await failureOf(engine(entries.person).login('person', browser((callback) => callback, true).interaction))
    expect(error).toMatchObject({ code: 'LOGIN_DENIED', credential: 'person' })
  })

  it('redeems a code once: played back, it is worth nothing', async () => {
    const { entries, engine } = await provided()
    const { interaction, seen } = browser()
    await engine(entries.person).login('person', interaction)
    const [first] = seen.callbacks
    const replay = browser((callback) => changed('code', first?.searchParams.get('code') ?? '')(callback))
    expect(await failureOf(engine({ ...entries.person, id: 'again' }).login('again', replay.interaction))).toMatchObject({
      code: 'OAUTH_ERROR',
      actual: 'invalid_grant',
    })
  })

  it('a login in a browser cannot be had without a browser', async () => {
    const { entries, engine, server } = await provided()
    expect(await failureOf(engine(entries.person).login('person', {}))).toMatchObject({
      code: 'LOGIN_REQUIRED',
      hint: expect.stringContaining('loopbackRedirect'),
    })
    expect(server.log.filter((line) => line.includes('/token'))).toEqual([])
  })
})

describe('a login on another device', () => {
  const entryOf = (credential: CredentialInput) => ({ ...credential })

  it('shows URL and code, waits, and slows down on request', async () => {
    let slow = 1
    const { entries, engine, file, server } = await provided({
      interfere: (request, response) => {
        if (request.url !== '/token' || slow-- <= 0) return false
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"slow_down"}')
        return true
      },
    })
    let prompt: DevicePrompt | undefined
    const onWait = async () => {
      if (clock.waits.length === 3) await browse(prompt?.verificationUriComplete ?? '')
    }
    const clock: FakeClock = new FakeClock({ now: Date.now, waits: 'skipped', onWait })
    const auth = engine(entryOf(unchecked(entries.person)), { clock })
    await auth.login('person', {
      device: (shownPrompt) => {
        prompt = shownPrompt
      },
    })
    expect(prompt).toMatchObject({
      credential: 'person',
      verificationUri: `${server.issuer}/device`,
      userCode: expect.stringMatching(/^[A-Z-]+$/),
    })
    expect(clock.waits).toEqual([5000, 10_000, 10_000])
    expect(await (await auth.fetch(file(entries.person))).text()).toBe('file of alice')
  })

  it('a login on another device that no one finishes is LOGIN_TIMEOUT', async () => {
    const { entries, engine } = await provided()
    const clock = new FakeClock({ now: Date.now(), waits: 'skipped' })
    expect(await failureOf(engine(entryOf(unchecked(entries.person)), { clock }).login('person', { device: () => {} }))).toMatchObject({
      code: 'LOGIN_TIMEOUT',
    })
  })
})

describe('tokens bound to a key', () => {
  it('tokens bound to a key are requested with the server’s nonce, kept in memory, and shown with a proof', async () => {
    const { entries, engine, server, kept } = await provided({ dpopNonce: true })
    const entry = { ...entries.person, scopes: ['openid', 'offline_access'], dpop: true }
    const auth = engine(entry)
    await auth.login('person', browser().interaction)
    const me = target(
      { type: 'openIdConnect', openIdConnectUrl: `${server.issuer}/.well-known/openid-configuration` },
      `${server.issuer}/me`,
    )
    expect(await (await auth.fetch(me)).json()).toEqual({ sub: 'alice' })
    const { headers } = await auth.authorize(me)
    expect(headers).toMatchObject({ authorization: expect.stringMatching(/^DPoP /), dpop: expect.any(String) })
    expect(kept.size).toBe(0)
    expect(server.log.filter((line) => line.startsWith('granted'))).toEqual(['granted authorization_code'])
    const token = headers.authorization?.replace('DPoP ', '') ?? ''
    expect(await server.isAlive(token)).toBe(true)
    await auth.logout('person')
    expect(await server.isAlive(token)).toBe(false)
  })

  it('key-bound tokens may use a key of the user’s own, and are worthless with another one', async () => {
    const { entries, engine, server, kept } = await provided({ dpopNonce: true })
    const entry = { ...entries.person, scopes: ['openid', 'offline_access'], dpop: true, dpopKey: testKey.p256().pem }
    const me = target(
      { type: 'openIdConnect', openIdConnectUrl: `${server.issuer}/.well-known/openid-configuration` },
      `${server.issuer}/me`,
    )
    await engine(entry).login('person', browser().interaction)
    expect(kept.size).toBe(1)
    expect(await (await engine(entry).fetch(me)).json()).toEqual({ sub: 'alice' })
    expect(await failureOf(engine({ ...entry, dpopKey: testKey.p256().pem }).fetch(me))).toMatchObject({ code: 'LOGIN_REQUIRED' })
  })

  it('tokens bound to a key answer an http scheme as well, through the credential that obtains them', async () => {
    const { entries, engine, server } = await provided({ dpopNonce: true })
    const source = { ...entries.person, scopes: ['openid'], dpop: true }
    const entry = { id: 'bound', type: 'http', scheme: 'dpop', with: 'person', sendTo: `${server.issuer}/me` }
    const me = target({ type: 'http', scheme: 'DPoP' }, `${server.issuer}/me`)
    const auth = engine([source, entry])
    await auth.login('person', browser().interaction)
    expect(await (await auth.fetch(me)).json()).toEqual({ sub: 'alice' })
    const elsewhere = engine([{ ...source, sendTo: 'https://data.example/' }, entry])
    await elsewhere.login('person', browser().interaction)
    expect(await failureOf(elsewhere.fetch(me))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED', credential: 'person' })
    const unbound = engine([{ ...source, dpop: false }, entry])
    await unbound.login('person', browser().interaction)
    expect(await failureOf(unbound.fetch(me))).toMatchObject({ code: 'CONFIG_INVALID', credential: 'bound' })
  })
})

it('a chain waits for the login that it stands on, and ends with it', async () => {
  const { entries, engine, file, server } = await provided()
  const published = { tokenUrl: undefined, issuer: server.issuer }
  const entry = { ...entries.exchanger, ...published, subject: 'person' }
  const auth = engine([entries.person, entry])
  expect((await auth.explain(file(entry))).refs).toMatchObject([
    { code: 'LOGIN_REQUIRED', credential: 'person', message: expect.stringContaining('"person"') },
  ])
  await auth.login('person', browser().interaction)
  expect((await auth.explain(file(entry))).refs).toMatchObject([{ credential: 'exchanger' }])
  const { headers } = await auth.authorize(file(entry))
  const exchanged = headers.authorization?.replace('Bearer ', '') ?? ''
  expect(await server.accountOf(exchanged)).toBe('alice by exchange')
  await auth.logout('person')
  expect(await server.isAlive(exchanged)).toBe(false)
  expect(await failureOf(auth.fetch(file(entry)))).toMatchObject({ code: 'LOGIN_REQUIRED', credential: 'person' })
  expect(await failureOf(engine([entries.person, entry]).fetch(file(entry)))).toMatchObject({ code: 'LOGIN_REQUIRED' })
})

it('a chain hands the ID token of a login to an exchange', async () => {
  const { entries, engine, file } = await provided()
  const entry = { ...entries.exchanger, subject: 'person' }
  const auth = engine([entries.person, entry], { session: undefined })
  await auth.login('person', browser().interaction)
  expect(await (await auth.fetch(file(entry))).text()).toBe('file of alice by exchange')
})

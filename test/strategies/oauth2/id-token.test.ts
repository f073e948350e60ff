import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Redirection } from '../../../src/auth/auth.ts'
import { leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { routes } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { DATA, secrets, victim } from '../../harness/victim.ts'

const ISSUER = 'https://auth.victim.example'
const DISCOVERY = `${ISSUER}/.well-known/openid-configuration`
const NOW = Date.now()
const seconds = Math.floor(NOW / 1000)
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
const others = generateKeyPairSync('rsa', { modulusLength: 2048 })
const published = { ...keys.publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

interface Made {
  readonly claims?: Record<string, unknown>
  readonly header?: Record<string, unknown>
  readonly key?: KeyObject
  /** Of the client, in place of a key. */
  readonly secret?: string
}

/** An ID token for the login with that nonce, with something wrong in it. */
function idToken(nonce: string, { claims = {}, header = {}, key = keys.privateKey, secret }: Made): string {
  const all = { iss: ISSUER, aud: 'app', sub: 'ada', nonce, iat: seconds, exp: seconds + 300, ...claims }
  const head = { alg: 'RS256', kid: 'k1', ...header }
  const text = `${encoded(head)}.${encoded(JSON.parse(JSON.stringify(all)))}`
  if (head.alg === 'none') return `${text}.`
  if (secret !== undefined) {
    const hash = `sha${String(head.alg).slice(2)}`
    return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`
  }
  if (head.alg === 'HS256') {
    const pem = keys.publicKey.export({ type: 'spki', format: 'pem' })
    return `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`
  }
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

/** A login at a provider that gives that ID token. */
async function login(
  made: Made | undefined,
  fields: object = {},
  clock = { now: () => NOW },
  refreshed: Made[] = [],
  hasKeys = true,
  date?: number,
) {
  let nonce = ''
  const servers = routes({
    [DISCOVERY]: {
      body: {
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
        ...(hasKeys && { jwks_uri: `${ISSUER}/keys` }),
      },
    },
    [`${ISSUER}/keys`]: { body: { keys: [published] } },
    [`${DATA}f.tif`]: { status: 401 },
    [`${ISSUER}/token`]: ({ body }) => {
      const given = String(body).includes('grant_type=refresh_token') ? refreshed.shift() : made
      const tokens = { access_token: secrets.token.value, refresh_token: 'r', token_type: 'Bearer' }
      const headers: Record<string, string> = date === undefined ? {} : { date: new Date(date).toUTCString() }
      return { headers, body: { ...tokens, ...(given && { id_token: idToken(nonce, given) }) } }
    },
  })
  const entry = { id: 'mine', type: 'openIdConnect', openIdConnectUrl: DISCOVERY, clientId: 'app', sendTo: DATA, ...fields }
  const { auth, script } = victim({ credentials: unchecked(entry), clock: new FakeClock({ now: clock.now, waits: 'skipped' }) }, servers)
  const page: Redirection = {
    uri: 'https://page.example/',
    answer: async (url) => {
      const asked = new URL(url).searchParams
      nonce = asked.get('nonce') ?? ''
      expect(asked.get('code_challenge_method')).toBe('S256')
      return new URL(`https://page.example/?code=c&state=${asked.get('state')}`)
    },
    close: async () => {},
  }
  await auth.login('mine', { redirect: async () => page })
  return { auth, script }
}

describe('an ID token', () => {
  it('an ID token that is right ends the login, and belongs to its code challenge', async () => {
    const { auth, script } = await login({})
    expect(await auth.status()).toMatchObject([{ state: 'valid' }])
    const form = new URLSearchParams(String(script.sent.find(({ url }) => url.endsWith('/token'))?.body))
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    expect(challenge).toHaveLength(43)
    expect(Object.fromEntries(form)).toMatchObject({ grant_type: 'authorization_code', code: 'c', redirect_uri: 'https://page.example/' })
  })

  it.each<[string, Made]>([
    ['that is not signed', { header: { alg: 'none' } }],
    ['signed with the public key as a secret', { header: { alg: 'HS256' } }],
    ['signed by somebody else', { key: others.privateKey }],
    ['with an unknown key', { header: { kid: 'k2' }, key: others.privateKey }],
    ['for another client', { claims: { aud: 'other' } }],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['of another login', { claims: { nonce: 'other' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['for two, authorized for another', { claims: { aud: ['app', 'other'], azp: 'other' } }],
    ['that ended a minute ago', { claims: { exp: seconds - 60 } }],
    ['that nobody is in', { claims: { sub: undefined } }],
  ])('O13 %s is refused', async (_name, made) => {
    const error = await failureOf(login(made))
    expect(error).toMatchObject({
      code: 'OIDC_ID_TOKEN',
      credential: 'mine',
      message: expect.stringMatching(/^the ID token of "mine" [a-z ,:_]+$/),
    })
    expect(leaks([secrets.token], { error: shown(error) })).toEqual([])
  })

  it('that has expired or is not valid yet says to check the clock', async () => {
    const says = { message: 'the ID token of "mine" has expired or is not valid yet: check the clock' }
    expect(await failureOf(login({ claims: { exp: seconds - 3600 } }))).toMatchObject(says)
    expect(await failureOf(login({ claims: { nbf: seconds + 3600, exp: seconds + 7200 } }))).toMatchObject(says)
  })

  it('O13 that ended less than thirty seconds ago is taken: clocks differ', async () => {
    await expect(login({ claims: { exp: seconds - 20 } })).resolves.toBeDefined()
  })

  it('an ID token is sent to the data where the credential says so, and nowhere else', async () => {
    const wanted = target({ type: 'openIdConnect', openIdConnectUrl: DISCOVERY }, `${DATA}f.tif`)
    const shows = async (fields: object) => (await (await login({}, fields)).auth.authorize(wanted)).headers.authorization
    expect(await shows({})).toBe(`Bearer ${secrets.token.value}`)
    expect(await shows({ present: 'id_token' })).toMatch(/^Bearer eyJ[\w-]+\.[\w-]+\.[\w-]+$/)
  })

  it('a refreshed ID token is about the same person, and an expired one is refreshed before use', async () => {
    let now = NOW
    const refreshed: Made[] = [{ claims: { sub: 'mallory', exp: seconds + 4000 } }, { claims: { exp: seconds + 4000 } }]
    const { auth } = await login({ claims: { exp: seconds + 300 } }, { present: 'id_token' }, { now: () => now }, refreshed)
    const wanted = target({ type: 'openIdConnect', openIdConnectUrl: DISCOVERY }, `${DATA}f.tif`)
    await auth.authorize(wanted)
    now += 301_000
    const error = await failureOf(auth.authorize(wanted))
    expect(error).toMatchObject({ code: 'OIDC_ID_TOKEN', message: expect.stringContaining('has another subject') })
    const { headers } = await auth.authorize(wanted)
    const claims = JSON.parse(Buffer.from(headers.authorization?.split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({ sub: 'ada', exp: seconds + 4000 })
  })

  it.each([
    ['expired', 301_000],
    ['been refused', 0],
  ])('an ID token that has %s, and that a refresh does not replace, needs a login', async (_name, later) => {
    let now = NOW
    const { auth, script } = await login({ claims: { exp: seconds + 300 } }, { present: 'id_token' }, { now: () => now })
    const wanted = target({ type: 'openIdConnect', openIdConnectUrl: DISCOVERY }, `${DATA}f.tif`)
    const old = await auth.authorize(wanted)
    now += later
    const refreshes = () => script.sent.filter(({ body }) => String(body).includes('grant_type=refresh_token')).length
    const error = await failureOf(later > 0 ? auth.authorize(wanted) : auth.fetch(wanted))
    expect(error).toMatchObject({
      code: 'LOGIN_REQUIRED',
      credential: 'mine',
      message: expect.stringContaining('a refresh returns no other'),
    })
    expect(await auth.status()).toMatchObject([
      { state: later > 0 ? 'expired' : 'valid', refreshable: false, expiresAt: new Date((seconds + 300) * 1000).toISOString() },
    ])
    if (later > 0) expect(await failureOf(auth.authorize(wanted))).toMatchObject({ code: 'LOGIN_REQUIRED' })
    expect(refreshes()).toBe(1)
    expect(old.headers.authorization).toMatch(/^Bearer eyJ/)
  })

  it('an ID token that is about to expire is sent until then, when a refresh does not replace it', async () => {
    let now = NOW
    const { auth } = await login({ claims: { exp: seconds + 300 } }, { present: 'id_token' }, { now: () => now })
    const wanted = target({ type: 'openIdConnect', openIdConnectUrl: DISCOVERY }, `${DATA}f.tif`)
    const { headers } = await auth.authorize(wanted)
    now += 290_000
    expect((await auth.authorize(wanted)).headers).toEqual(headers)
    expect(await auth.status()).toMatchObject([
      { state: 'valid', refreshable: false, expiresAt: new Date((seconds + 300) * 1000).toISOString() },
    ])
  })

  it.each(['HS256', 'HS384', 'HS512'])('an ID token that is signed with the client secret by %s is verified with it', async (alg) => {
    const clientSecret = secrets.client.value
    for (const hasKeys of [true, false]) {
      const { auth, script } = await login({ header: { alg }, secret: clientSecret }, { clientSecret }, undefined, [], hasKeys)
      expect(await auth.status()).toMatchObject([{ state: 'valid' }])
      expect(script.sent.filter(({ url }) => url.endsWith('/token'))).toHaveLength(1)
    }
    const wrong = await failureOf(login({ header: { alg }, secret: 'another' }, { clientSecret }))
    expect(wrong).toMatchObject({ code: 'OIDC_ID_TOKEN', message: expect.stringContaining('not signed with its client secret') })
    const claims = await failureOf(login({ header: { alg }, secret: clientSecret, claims: { aud: 'other' } }, { clientSecret }))
    expect(claims).toMatchObject({ code: 'OIDC_ID_TOKEN', message: expect.stringContaining('wrong aud') })
    const publicClient = await failureOf(login({ header: { alg }, secret: clientSecret }))
    expect(publicClient).toMatchObject({ code: 'OIDC_ID_TOKEN', hint: expect.stringContaining('add "clientSecret"') })
  })

  it.each([-1_800_000, 1_800_000])('an ID token is checked by the clock of its server, when this machine is %d ms off', async (ahead) => {
    let now = NOW + ahead
    const { auth, script } = await login({}, { present: 'id_token' }, { now: () => now }, [], true, NOW)
    expect(await auth.status()).toMatchObject([{ state: 'valid', expiresAt: expect.any(String) }])
    expect(script.sent.filter(({ url }) => url.endsWith('/token'))).toHaveLength(1)
    const [{ expiresAt = '' } = {}] = await auth.status()
    expect(Math.abs(Date.parse(expiresAt) - now - 300_000)).toBeLessThan(2000)
    now += 302_000
    expect(await auth.status()).toMatchObject([{ state: 'expired' }])
  })

  it('an ID token that has expired by the clock of its server is refused, whatever this machine says', async () => {
    const error = await failureOf(login({ claims: { exp: seconds - 60 } }, {}, { now: () => NOW - 3_600_000 }, [], true, NOW))
    expect(error).toMatchObject({ code: 'OIDC_ID_TOKEN', hint: 'set the clock of this machine' })
  })

  it('an ID token of a server whose clock is days off is refused', async () => {
    expect(await failureOf(login({}, {}, { now: () => NOW + 3 * 86_400_000 }, [], true, NOW))).toMatchObject({ code: 'OIDC_ID_TOKEN' })
  })

  it('an ID token of a provider without keys is refused', async () => {
    expect(await failureOf(login({}, {}, undefined, [], false))).toMatchObject({ code: 'OIDC_ID_TOKEN', credential: 'mine' })
  })

  it('an ID token that is missing is refused', async () => {
    const error = await failureOf(login(undefined))
    expect(error).toMatchObject({ code: 'OAUTH_RESPONSE_INVALID', message: expect.stringContaining('has no id_token') })
    expect(error).toMatchObject({ hint: expect.stringContaining('"openid"') })
  })
})

/** What real providers do beside the standards, and what must stay refused all the same. */

import { describe, expect, it } from 'vitest'
import type { Redirection, RedirectWish } from '../../../src/auth/auth.ts'
import { bearer, type CredentialInput } from '../../../src/auth/credential.ts'
import type { HttpRequest } from '../../../src/http/message.ts'
import { leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type Reply, routes } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { AUTHORIZE_URL, DATA, entries, loginPage, secrets, TOKEN_URL, victim } from '../../harness/victim.ts'
import { browser, provided } from './provider.ts'

const F = `${DATA}f.tif`
const form = ({ body }: HttpRequest) => Object.fromEntries(new URLSearchParams(String(body)))
const tokens = { access_token: 'at', refresh_token: 'rt', token_type: 'Bearer', expires_in: 600 }
const wanted = target(
  { type: 'oauth2', flows: { authorizationCode: { authorizationUrl: AUTHORIZE_URL, tokenUrl: TOKEN_URL, scopes: {} } } },
  F,
)

/** A login at a provider whose token endpoint answers like that. */
async function loggedIn(reply: (request: HttpRequest) => Reply, fields: Partial<CredentialInput> = {}) {
  const wishes: (RedirectWish | undefined)[] = []
  const servers = routes({ [TOKEN_URL]: reply, [F]: { body: 'data' } })
  let now = 1_800_000_000_000
  const clock = new FakeClock({ now: () => now, waits: 'skipped' })
  const { auth, script } = victim({ credentials: unchecked({ ...entries.login, ...fields }), clock }, servers)
  await auth.login('login', {
    redirect: async (_signal, wish) => {
      wishes.push(wish)
      return loginPage()
    },
  })
  const pass = (milliseconds: number) => {
    now += milliseconds
  }
  return { auth, script, wishes, pass }
}

describe('a revocation endpoint with the URL of the token endpoint', () => {
  it.each<[string, Reply]>([
    ['nothing', { status: 200 }],
    ['no content', { status: 204 }],
    ['an empty object', { body: {} }],
  ])('a revocation endpoint with the URL of the token endpoint that answers with %s ends the login', async (_name, revoked) => {
    const reply = (request: HttpRequest) => (form(request).token === undefined ? { body: tokens } : revoked)
    const { auth, script } = await loggedIn(reply, { revocationUrl: TOKEN_URL })
    await auth.logout('login')
    expect(script.sent.slice(-2).map(form)).toMatchObject([
      { token: 'rt', client_id: 'app' },
      { token: 'at', client_id: 'app' },
    ])
    expect(await auth.status()).toMatchObject([{ state: 'none' }])
  })

  it('a token endpoint that refuses a revocation is reported, and gives no token', async () => {
    const reply = (request: HttpRequest) =>
      form(request).token === undefined ? { body: tokens } : { status: 400, body: { error: 'invalid_request', ...tokens } }
    const { auth } = await loggedIn(reply, { revocationUrl: TOKEN_URL })
    expect(await failureOf(auth.logout('login'))).toMatchObject({
      code: 'OAUTH_ERROR',
      message: expect.stringContaining('revocation endpoint'),
    })
    expect(await auth.status()).toMatchObject([{ state: 'none' }])
  })

  it.each([
    ['refresh', 'rt', 'invalid_request'],
    ['refresh', 'rt', 'unsupported_token_type'],
    ['refresh', 'rt', 'invalid_token'],
    ['access', 'at', 'invalid_client'],
    ['access', 'at', 'server_error'],
  ])('a token endpoint that refuses to revoke the %s token %s with %s is reported and asked about both', async (_name, refused, error) => {
    const reply = (request: HttpRequest) => {
      const { token } = form(request)
      if (token === undefined) return { body: tokens }
      return token === refused ? { status: 400, body: { error, error_description: `no ${token}` } } : { status: 200 }
    }
    const { auth, script } = await loggedIn(reply, { revocationUrl: TOKEN_URL })
    expect(await failureOf(auth.logout('login'))).toMatchObject({ code: 'OAUTH_ERROR', actual: error })
    expect(script.sent.slice(-2).map((request) => form(request).token)).toEqual(['rt', 'at'])
    expect(await auth.status()).toMatchObject([{ state: 'none' }])
  })

  it.each([
    ['revokes no access tokens (RFC 7009 §2.2.1)', 'unsupported_token_type'],
    ['ended the access token with the refresh token, and says so', 'invalid_token'],
    ['does not find the access token after that', 'invalid_request'],
  ])('a revocation endpoint with the URL of the token endpoint that %s ends the login', async (_name, error) => {
    const reply = (request: HttpRequest) => {
      const { token } = form(request)
      if (token === undefined) return { body: tokens }
      return token === 'at' ? { status: 400, body: { error } } : { status: 200 }
    }
    const { auth, script } = await loggedIn(reply, { revocationUrl: TOKEN_URL })
    await auth.logout('login')
    expect(script.sent.slice(-2).map((request) => form(request).token)).toEqual(['rt', 'at'])
  })

  it.each(['invalid_token', 'invalid_request'])(
    'a token endpoint that refuses to revoke the only token with %s is reported',
    async (error) => {
      const { refresh_token: _none, ...lone } = tokens
      const reply = (request: HttpRequest) => (form(request).token === undefined ? { body: lone } : { status: 400, body: { error } })
      const { auth } = await loggedIn(reply, { revocationUrl: TOKEN_URL })
      expect(await failureOf(auth.logout('login'))).toMatchObject({ code: 'OAUTH_ERROR', actual: error })
    },
  )
})

describe('a token answer with empty texts', () => {
  it('a token answer with empty texts has no refresh token and no ID token', async () => {
    const { auth } = await loggedIn(() => ({ body: { ...tokens, refresh_token: '', id_token: '', scope: '' } }))
    expect(await auth.status()).toMatchObject([{ state: 'valid', refreshable: false }])
    expect((await auth.fetch(wanted)).status).toBe(200)
  })

  it('keeps the refresh token that was there', async () => {
    let answers = 0
    const { auth, script, pass } = await loggedIn(() => ({ body: answers++ === 0 ? tokens : { ...tokens, refresh_token: '' } }))
    for (let round = 0; round < 2; round++) {
      pass(600_000)
      await auth.fetch(wanted)
    }
    expect(script.to('auth.victim.example').map((request) => form(request).refresh_token)).toEqual([undefined, 'rt', 'rt'])
  })

  it.each([[{ access_token: '' }], [{ refresh_token: 5 }], [{ id_token: ['x'] }], [{ refresh_token: 'a\nb' }]])(
    '%j is refused as before',
    async (members) => {
      expect(await failureOf(loggedIn(() => ({ body: { ...tokens, ...members } })))).toMatchObject({ code: 'OAUTH_RESPONSE_INVALID' })
    },
  )
})

describe('the redirect URI of a login', () => {
  it('the redirect URI of a login is that of the credential', async () => {
    expect((await loggedIn(() => ({ body: tokens }))).wishes).toEqual([{}])
    const registered = { redirectHost: 'localhost', redirectPort: 8765, redirectPath: '/oauth/done' } as const
    expect((await loggedIn(() => ({ body: tokens }), registered)).wishes).toEqual([{ host: 'localhost', port: 8765, path: '/oauth/done' }])
  })

  it('the redirect URI of a login is never that of a catalog', async () => {
    const { auth, wishes } = await loggedIn(() => ({ body: tokens }))
    const flow = { authorizationUrl: AUTHORIZE_URL, tokenUrl: TOKEN_URL, scopes: {}, redirectPort: 1, redirectPath: '/evil', par: true }
    expect((await auth.fetch(target({ type: 'oauth2', flows: { authorizationCode: flow }, redirectPort: 1 }, F))).status).toBe(200)
    expect(wishes).toEqual([{}])
  })

  it.each([
    { redirectPort: 0 },
    { redirectPort: 65_536 },
    { redirectPort: 80.5 },
    { redirectPort: '8080' },
    { redirectHost: 'evil.example' },
    { redirectHost: '0.0.0.0' },
    { redirectPath: 'callback' },
    { redirectPath: '' },
    { redirectPath: '/a?b=c' },
    { redirectPath: '/a#b' },
    { redirectPath: '/a/../b' },
    { redirectPath: '/./b' },
    { redirectPath: '//evil.example/' },
    { redirectPath: '/a\r\nHost: evil' },
    { redirectPath: '/a%2f' },
    { redirectPath: `/${'a'.repeat(300)}` },
  ])('the redirect URI of a login cannot be %j', async (fields) => {
    const { auth } = victim({ credentials: unchecked({ ...entries.login, ...fields }) })
    expect(await failureOf(auth.ready())).toMatchObject({
      code: 'CONFIG_INVALID',
      pointer: `/credentials/0/${Object.keys(fields)[0]}`,
    })
  })
})

describe('pushed authorization requests', () => {
  const failing = (status: number, body: object | string = '') => ({
    interfere: (request: { url?: string }, response: import('node:http').ServerResponse) => {
      if (request.url !== '/request') return false
      response.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
      return true
    },
  })
  const asked = (url: string) => [...new URL(url).searchParams.keys()]

  it('pushed authorization requests are omitted where the credential says so', async () => {
    const { entries: stored, engine, file, server } = await provided()
    const auth = engine({ ...stored.person, par: false })
    const { interaction, seen } = browser()
    await auth.login('person', interaction)
    expect(server.log).not.toContain('POST /request')
    expect(asked(seen.url)).toEqual(expect.arrayContaining(['state', 'nonce', 'code_challenge', 'redirect_uri']))
    expect((await auth.fetch(file(stored.person))).status).toBe(200)
  })

  it.each<[number, object | string]>([
    [404, '<html>'],
    [400, { error: 'invalid_request' }],
    [403, { error: 'unauthorized_client' }],
    [200, { request_uri: 5 }],
  ])('pushed authorization requests that are optional and fail with %d %j are omitted', async (status, body) => {
    const { entries: stored, engine, file, server } = await provided(failing(status, body))
    const auth = engine(stored.person)
    const { interaction, seen } = browser()
    await auth.login('person', interaction)
    expect(server.log).toContain('POST /request')
    expect(asked(seen.url)).toContain('code_challenge')
    expect((await auth.fetch(file(stored.person))).status).toBe(200)
  })

  it.each<[string, number, object | string, Partial<CredentialInput>, string]>([
    ['where the credential insists', 404, '', { par: true }, 'HTTP_404'],
    ['for a client that is refused', 401, { error: 'invalid_client' }, {}, 'OAUTH_ERROR'],
    ['by a redirect', 302, '', {}, 'OAUTH_REDIRECT'],
  ])('pushed authorization requests that fail end the login %s', async (_name, status, body, fields, code) => {
    const { entries: stored, engine } = await provided(failing(status, body))
    const { interaction, seen } = browser()
    expect(await failureOf(engine({ ...stored.person, ...fields }).login('person', interaction))).toMatchObject({ code })
    expect(seen).toMatchObject({ url: '', closed: true })
  })

  it('pushed authorization requests that the server requires and refuses end the login', async () => {
    const document = { require_pushed_authorization_requests: true }
    const issuer = 'https://auth.victim.example'
    const all = { issuer, authorization_endpoint: AUTHORIZE_URL, token_endpoint: TOKEN_URL, jwks_uri: `${issuer}/keys` }
    const par = { pushed_authorization_request_endpoint: `${issuer}/par` }
    const servers = routes({
      [`${issuer}/.well-known/openid-configuration`]: { body: { ...all, ...par, ...document } },
      [`${issuer}/par`]: { status: 403 },
    })
    const { auth } = victim({ credentials: entries.oidc }, servers)
    const redirect = async (): Promise<Redirection> => ({
      uri: 'http://127.0.0.1/',
      answer: () => Promise.reject(new Error('asked')),
      close: async () => {},
    })
    expect(await failureOf(auth.login('oidc', { redirect }))).toMatchObject({ code: 'HTTP_403' })
  })

  it('pushed authorization requests that the credential insists on need an endpoint', async () => {
    const error = await failureOf(loggedIn(() => ({ body: tokens }), { par: true }))
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('"par"') })
  })
})

describe('a finished token as the subject of an exchange', () => {
  const EXCHANGE = 'https://sts.victim.example/token'
  const exchange = {
    id: 'exchange',
    type: 'oauth2',
    flow: 'tokenExchange',
    tokenUrl: EXCHANGE,
    clientId: 'app',
    clientAuthentication: 'none',
    subject: 'source',
    sendTo: DATA,
  }
  const scheme = { type: 'oauth2', flows: { tokenExchange: { tokenUrl: EXCHANGE, scopes: {} } } }
  const issued = { access_token: 'new', token_type: 'Bearer', issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' }
  const source = (sendTo: string) => ({ id: 'source', ...bearer(secrets.bearer.value, sendTo) })
  const run = (credentials: readonly CredentialInput[]) =>
    victim({ credentials }, routes({ [EXCHANGE]: { body: issued }, [F]: { body: 'data' } }))

  it.each([
    [undefined, 'urn:ietf:params:oauth:token-type:access_token'],
    ['urn:ietf:params:oauth:token-type:jwt', 'urn:ietf:params:oauth:token-type:jwt'],
    ['urn:ietf:params:oauth:token-type:id_token', 'urn:ietf:params:oauth:token-type:id_token'],
  ])('a finished token as the subject of an exchange is sent as what the credential says: %s', async (subjectTokenType, type) => {
    const { auth, script } = run([source(EXCHANGE), unchecked({ ...exchange, ...(subjectTokenType && { subjectTokenType }) })])
    expect((await auth.fetch(target(scheme, F))).status).toBe(200)
    expect(form(script.sent[0] as HttpRequest)).toMatchObject({ subject_token: secrets.bearer.value, subject_token_type: type })
    expect(script.sent[1]?.headers.authorization).toBe('Bearer new')
  })

  it('a finished token as the subject of an exchange is sent nowhere that its own sendTo does not cover', async () => {
    const { auth, script } = run([source(DATA), unchecked(exchange)])
    expect(await failureOf(auth.fetch(target(scheme, F)))).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/1/subject' })
    expect(script.sent).toEqual([])
  })

  it('a catalog cannot make an exchange present a finished token as another type', async () => {
    const said = { tokenUrl: EXCHANGE, scopes: {}, subjectTokenType: 'urn:ietf:params:oauth:token-type:refresh_token' }
    for (const subjectTokenType of [said.subjectTokenType, 'urn:ietf:params:oauth:token-type:id_token']) {
      const { auth, script } = run([source(EXCHANGE), unchecked(exchange)])
      const hostile = { type: 'oauth2', flows: { tokenExchange: { ...said, subjectTokenType } } }
      const error = await failureOf(auth.authorize(target(hostile, F)))
      expect(error).toMatchObject({ code: expect.stringMatching(/^(?:FLOW_INVALID|CONFIG_INVALID)$/) })
      expect(leaks([secrets.bearer], { error: shown(error), sent: JSON.stringify(script.sent) })).toEqual([])
    }
  })

  it('an exchange takes finished tokens of bearer credentials, and of no other http scheme', async () => {
    const account = { id: 'source', type: 'http', scheme: 'basic', username: 'ada', password: secrets.password.value }
    const ready = { id: 'source', type: 'http', scheme: 'x-custom', credentials: secrets.key.value }
    for (const one of [account, ready]) {
      const { auth, script } = run([unchecked({ ...one, sendTo: [EXCHANGE, DATA] }), unchecked(exchange)])
      expect(await failureOf(auth.authorize(target(scheme, F)))).toMatchObject({ code: 'CONFIG_INVALID' })
      expect(script.sent).toEqual([])
    }
  })
})

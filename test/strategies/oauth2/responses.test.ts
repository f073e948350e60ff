import { describe, expect, it } from 'vitest'
import type { Warning } from '../../../src/auth/strategy.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type Reply, routes } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { AUTHORIZE_URL, DATA, entries, loginPage, TOKEN_URL, victim } from '../../harness/victim.ts'

const F = `${DATA}f.tif`
const wanted = target({ type: 'oauth2', flows: { clientCredentials: { tokenUrl: TOKEN_URL, scopes: {} } } }, F)
const clock = () => new FakeClock({ now: 1_800_000_000_000, waits: 'skipped' })

function service(reply: Reply, fields: object = {}) {
  const servers = routes({ [TOKEN_URL]: reply, [F]: { body: 'data' } })
  return victim({ credentials: unchecked({ ...entries.oauth, ...fields }), clock: clock() }, servers)
}

describe('a token response', () => {
  it.each<[string, Reply, object]>([
    ['status 201', { status: 201, body: { access_token: 'at', token_type: 'Bearer' } }, {}],
    ['no token_type', { body: { access_token: 'at', expires_in: 60 } }, {}],
    ['a token_type with blanks', { body: { access_token: 'at', token_type: ' bearer ' } }, {}],
    ['the token in "token"', { body: { token: 'at', expires_in: '60' } }, {}],
    ['the token in the member that the credential names', { body: { accessToken: 'at', token: 'other' } }, { tokenField: 'accessToken' }],
  ])('a token response with %s is read', async (_name, reply, fields) => {
    const { headers } = await service(reply, fields).auth.authorize(wanted)
    expect(headers).toEqual({ authorization: 'Bearer at' })
  })

  it('a token response without a token says which members it has, and what may help', async () => {
    const error = await failureOf(service({ body: { accessToken: 'at-value', 'x\u001b[2J': 1, ok: true } }).auth.authorize(wanted))
    expect(error).toMatchObject({
      code: 'OAUTH_RESPONSE_INVALID',
      message: 'the response of the token endpoint of "oauth" has no access_token; it has accessToken, ok',
      hint: expect.stringContaining('"tokenField"'),
    })
    const named = await failureOf(service({ body: { access_token: 'at' } }, { tokenField: 'jwt' }).auth.authorize(wanted))
    expect(named.message).toContain('has no "jwt"')
  })

  it('a token response for a bound token must name its type', async () => {
    const error = await failureOf(service({ body: { access_token: 'at' } }, { dpop: true }).auth.authorize(wanted))
    expect(error).toMatchObject({
      code: 'OAUTH_TOKEN_TYPE',
      message: expect.stringContaining('without a token_type'),
      hint: expect.anything(),
    })
  })
})

describe('a token exchange', () => {
  const scheme = { type: 'oauth2', flows: { tokenExchange: { tokenUrl: TOKEN_URL, scopes: {} } } }
  const exchange = {
    id: 'exchange',
    type: 'oauth2',
    flow: 'tokenExchange',
    tokenUrl: TOKEN_URL,
    clientId: 'app',
    clientAuthentication: 'none',
  }
  const source = { id: 'source', type: 'http', scheme: 'bearer', token: 'subject', sendTo: TOKEN_URL }

  function exchanged(body: object) {
    const credentials = [unchecked(source), unchecked({ ...exchange, subject: 'source', sendTo: DATA })]
    return victim({ credentials }, routes({ [TOKEN_URL]: { body }, [F]: { body: 'data' } })).auth.authorize(target(scheme, F))
  }

  it('a token exchange without issued_token_type gives a bearer token, and nothing else', async () => {
    expect((await exchanged({ access_token: 'at', token_type: 'Bearer' })).headers).toEqual({ authorization: 'Bearer at' })
    expect(await failureOf(exchanged({ access_token: 'at', token_type: 'N_A' }))).toMatchObject({
      code: 'OAUTH_RESPONSE_INVALID',
      message: expect.stringContaining('issued_token_type'),
    })
  })
})

describe('an authorization response', () => {
  it.each([
    ['access_denied', 'LOGIN_DENIED'],
    ['invalid_scope', 'OAUTH_ERROR'],
    ['no_subscription', 'OAUTH_ERROR'],
  ])('an authorization response with %s shows the words of the provider', async (error, code) => {
    const { auth } = victim({ credentials: unchecked(entries.login) }, routes({}))
    const words = encodeURIComponent('accept the terms of use first \u001b[31m A1b2C3')
    const redirect = async () => loginPage((state) => `error=${error}&error_description=${words}&state=${state}`)
    const failure = await failureOf(auth.login('login', { redirect }))
    expect(failure).toMatchObject({ code, message: expect.stringContaining('accept the terms of use first ...') })
  })
})

describe('a device response', () => {
  const ISSUER = 'https://auth.victim.example'
  const DEVICE = `${ISSUER}/device`
  const answered = async (reply: Reply) => {
    const prompts: unknown[] = []
    const token = { body: { access_token: 'at', token_type: 'Bearer' } }
    const servers = routes({ [DEVICE]: reply, [TOKEN_URL]: token })
    const entry = { ...entries.login, authorizationUrl: AUTHORIZE_URL, deviceAuthorizationUrl: DEVICE }
    const { auth } = victim({ credentials: unchecked(entry), clock: clock() }, servers)
    await auth.login('login', { device: (prompt) => void prompts.push(prompt) })
    return prompts
  }
  const codes = { device_code: 'd', user_code: 'AB-CD' }

  it.each<[string, Reply]>([
    ['verification_url', { body: { ...codes, verification_url: `${ISSUER}/go`, expires_in: 300 } }],
    ['no expires_in', { body: { ...codes, verification_uri: `${ISSUER}/go` } }],
    ['numbers as text', { body: { ...codes, verification_uri: `${ISSUER}/go`, expires_in: '300', interval: '1' } }],
    ['status 201', { status: 201, body: { ...codes, verification_uri: `${ISSUER}/go`, expires_in: 300 } }],
  ])('a device response with %s is read', async (_name, reply) => {
    expect(await answered(reply)).toMatchObject([{ verificationUri: `${ISSUER}/go`, userCode: 'AB-CD' }])
  })

  it('a device response names what is missing, and the other way to log in', async () => {
    expect(await failureOf(answered({ body: { user_code: 'AB-CD' } }))).toMatchObject({
      code: 'OAUTH_RESPONSE_INVALID',
      message: expect.stringContaining('has no device_code and no verification_uri'),
      hint: expect.stringContaining('--browser'),
    })
  })
})

describe('a client JWT or proof', () => {
  it('a client JWT is made once more by the clock of the server that refused it', async () => {
    const now = 1_800_000_000_000
    const issuedAt: number[] = []
    const servers = routes({
      [TOKEN_URL]: ({ body }) => {
        const assertion = new URLSearchParams(String(body)).get('client_assertion') ?? ''
        const { iat } = JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString())
        issuedAt.push(iat - now / 1000)
        const headers = { date: new Date(now + 600_000).toUTCString() }
        return Math.abs(issuedAt.at(-1) ?? 0) < 60
          ? { status: 401, headers, body: { error: 'invalid_client' } }
          : { headers, body: { access_token: 'at', token_type: 'Bearer' } }
      },
    })
    const entry = unchecked({ ...entries.oauth, clientAuthentication: 'secretJwt' })
    const { auth } = victim({ credentials: entry, clock: clock() }, servers)
    expect((await auth.authorize(wanted)).headers).toEqual({ authorization: 'Bearer at' })
    expect(issuedAt.map((seconds) => Math.round(Math.abs(seconds) / 60))).toEqual([0, 10])
  })
})

describe('endpoints on other hosts', () => {
  const ISSUER = 'https://auth.victim.example'
  const metadata = {
    issuer: ISSUER,
    authorization_endpoint: 'https://a.example/authorize',
    token_endpoint: 'https://b.example/token',
    jwks_uri: 'https://c.example/keys',
    revocation_endpoint: 'https://d.example/revoke',
  }
  const entry = { ...entries.oidc, endpointHosts: ['https://a.example/'] }

  it('endpoints on other hosts are refused at once, with the complete list of hosts to allow', async () => {
    const { auth, script } = victim(
      { credentials: unchecked(entry) },
      routes({ [`${ISSUER}/.well-known/openid-configuration`]: { body: metadata } }),
    )
    const error = await failureOf(auth.login('oidc', { redirect: async () => loginPage(() => '') }))
    expect(error).toMatchObject({ code: 'CREDENTIAL_ENDPOINT_UNTRUSTED', credential: 'oidc' })
    expect(error.message).toContain(
      'token_endpoint on https://b.example, revocation_endpoint on https://d.example (optional), jwks_uri on https://c.example. Nothing was sent',
    )
    expect(error).toMatchObject({
      hint: expect.stringContaining(
        '"endpointHosts": ["https://a.example/","https://b.example/","https://d.example/","https://c.example/"]',
      ),
    })
    expect(script.sent).toHaveLength(1)
  })

  it('endpoints on other hosts that could revoke tokens are named by a warning at the logout', async () => {
    const own = { ...metadata, authorization_endpoint: AUTHORIZE_URL, token_endpoint: TOKEN_URL, jwks_uri: `${ISSUER}/keys` }
    const warnings: Warning[] = []
    const servers = routes({
      [`${ISSUER}/.well-known/oauth-authorization-server`]: { body: own },
      [TOKEN_URL]: { body: { access_token: 'at', refresh_token: 'rt', token_type: 'Bearer' } },
    })
    const { authorizationUrl: _a, tokenUrl: _t, ...rest } = entries.login
    const credential = unchecked({ ...rest, issuer: ISSUER })
    const { auth, script } = victim({ credentials: credential, onWarning: (warning) => warnings.push(warning) }, servers)
    await auth.login('login', { redirect: async () => loginPage() })
    await auth.logout('login')
    expect(warnings).toMatchObject([
      {
        code: 'TOKEN_NOT_REVOKED',
        message: expect.stringMatching(/https:\/\/d\.example, .*"endpointHosts": \["https:\/\/d\.example\/"\]/),
      },
    ])
    expect(script.to('d.example')).toEqual([])
    expect(await auth.status()).toMatchObject([{ state: 'none' }])
  })
})

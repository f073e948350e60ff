import { describe, expect, it } from 'vitest'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type Reply, redirectTo, routes } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { DATA, secrets, victim } from '../../harness/victim.ts'

const ISSUER = 'https://auth.victim.example/realms/a'
const DISCOVERY = `${ISSUER}/.well-known/openid-configuration`
const TOKEN = `${ISSUER}/token`
const good = { issuer: ISSUER, token_endpoint: TOKEN }
const F = `${DATA}f.tif`
const token = { access_token: secrets.token.value, token_type: 'Bearer', expires_in: 600 }
const clock = new FakeClock({ now: () => 1_800_000_000_000, waits: 'skipped' })

function published(reply: Reply | (() => Reply), fields: Partial<CredentialInput> = {}, others: Parameters<typeof routes>[0] = {}) {
  const servers = routes({ [DISCOVERY]: reply, [TOKEN]: { body: token }, [F]: { body: 'data' }, ...others })
  const entry = { id: 'mine', type: 'openIdConnect', flow: 'clientCredentials', clientId: 'app', clientSecret: secrets.client.value }
  const named = fields.type === 'oauth2' ? {} : { openIdConnectUrl: DISCOVERY }
  const credentials = { ...entry, ...named, sendTo: DATA, ...fields }
  return victim({ credentials: unchecked(credentials), clock }, servers)
}

const wanted = target({ type: 'openIdConnect', openIdConnectUrl: DISCOVERY }, F)

describe('a discovery document', () => {
  it.each<[string, Partial<CredentialInput>]>([
    ['named by its address', {}],
    ['named by its issuer', { openIdConnectUrl: undefined, issuer: ISSUER }],
    ['named by its issuer as a discovery address', { openIdConnectUrl: ISSUER }],
  ])('%s gives the endpoint, and is requested once', async (_name, fields) => {
    const { auth, script } = published({ body: good }, fields)
    for (let round = 0; round < 3; round++) expect((await auth.fetch(wanted)).status).toBe(200)
    expect(script.sent.map(({ url }) => url)).toEqual([DISCOVERY, TOKEN, F, F, F])
  })

  it.each<[string, Reply, string]>([
    ['of another issuer', { body: { ...good, issuer: 'https://evil.example' } }, 'OAUTH_ISSUER_MISMATCH'],
    ['of another realm', { body: { ...good, issuer: 'https://auth.victim.example/realms/b' } }, 'OAUTH_ISSUER_MISMATCH'],
    ['of no issuer', { body: { token_endpoint: TOKEN } }, 'OAUTH_ISSUER_MISMATCH'],
    ['with an endpoint without encryption', { body: { ...good, token_endpoint: 'http://auth.victim.example/token' } }, 'URL_INSECURE'],
    ['with an endpoint elsewhere', { body: { ...good, token_endpoint: 'https://evil.example/token' } }, 'CREDENTIAL_ENDPOINT_UNTRUSTED'],
    ['with keys elsewhere', { body: { ...good, jwks_uri: 'https://evil.example/keys' } }, 'CREDENTIAL_ENDPOINT_UNTRUSTED'],
    ['with an endpoint that is none', { body: { ...good, token_endpoint: 'token' } }, 'OAUTH_RESPONSE_INVALID'],
    ['that is not there', { status: 404 }, 'HTTP_404'],
    ['of 10 MB', { body: { ...good, padding: 'x'.repeat(10_000_000) } }, 'RESPONSE_TOO_LARGE'],
    ['that is elsewhere', redirectTo('https://evil.example/'), 'OAUTH_REDIRECT'],
    ['that is a page', { body: '<html>', headers: { 'content-type': 'text/html' } }, 'OAUTH_RESPONSE_INVALID'],
    ['that is a list', { body: [good] }, 'OAUTH_RESPONSE_INVALID'],
  ])('O07 %s is refused', async (_name, reply, code) => {
    const { auth, script } = published(reply)
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code })
    expect(script.sent.every(({ url, headers }) => url === DISCOVERY && headers.authorization === undefined)).toBe(true)
  })

  it.each([[['plain']], [[]]])('O11 of a server that knows the code challenges %j begins no login', async (methods) => {
    const document = { ...good, authorization_endpoint: `${ISSUER}/authorize`, code_challenge_methods_supported: methods }
    const { auth, script } = published({ body: document }, { flow: 'authorizationCode', clientSecret: undefined })
    const shown: string[] = []
    const answer = async (url: string) => {
      shown.push(url)
      return new URL('http://127.0.0.1/')
    }
    const login = auth.login('mine', { redirect: async () => ({ uri: 'http://127.0.0.1/', answer, close: async () => {} }) })
    expect(await failureOf(login)).toMatchObject({ code: 'SCHEME_UNSUPPORTED', credential: 'mine' })
    expect([shown, script.sent.map(({ url }) => url)]).toEqual([[], [DISCOVERY]])
  })

  it('a discovery document may have what no one needs elsewhere: it is left unchanged', async () => {
    const elsewhere = { revocation_endpoint: 'https://b.example/r', pushed_authorization_request_endpoint: 'https://b.example/p' }
    const { auth, script } = published({ body: { ...good, ...elsewhere } })
    expect((await auth.fetch(wanted)).status).toBe(200)
    expect(script.to('b.example')).toEqual([])
  })

  it('a discovery document is requested also when the credential names one endpoint and the issuer', async () => {
    const { auth, script } = published({ body: good }, { openIdConnectUrl: undefined, issuer: ISSUER, tokenUrl: TOKEN })
    expect((await auth.fetch(wanted)).status).toBe(200)
    expect(script.sent[0]?.url).toBe(DISCOVERY)
  })

  it('a discovery document of one realm does not speak for another one on its origin', async () => {
    const { auth, script } = published({ body: good }, { type: 'oauth2', issuer: ISSUER })
    const other = (path: string) => ({
      type: 'oauth2',
      flows: { clientCredentials: { tokenUrl: `https://auth.victim.example${path}`, scopes: {} } },
    })
    expect(await failureOf(auth.fetch(target(other('/realms/b/token'), F)))).toMatchObject({ code: 'CREDENTIAL_ENDPOINT_UNTRUSTED' })
    expect(await failureOf(auth.fetch(target(other('/realms/ab/token'), F)))).toMatchObject({ code: 'CREDENTIAL_ENDPOINT_UNTRUSTED' })
    expect(script.sent).toEqual([])
  })

  it('a discovery document may name an endpoint elsewhere that the credential names too', async () => {
    const elsewhere = 'https://tokens.victim.example/token'
    const body = { ...good, token_endpoint: 'https://third.example/token' }
    const { auth, script } = published({ body }, { tokenUrl: elsewhere }, { [elsewhere]: { body: token } })
    expect((await auth.fetch(wanted)).status).toBe(200)
    expect(script.sent.map(({ url }) => url)).toEqual([DISCOVERY, elsewhere, F])
  })

  it('a discovery document of a server without OpenID Connect stands at the place of RFC 8414', async () => {
    const place = 'https://auth.victim.example/.well-known/oauth-authorization-server/realms/a'
    const fields = { type: 'oauth2', issuer: ISSUER }
    const { auth, script } = published({ status: 404 }, fields, { [place]: { body: good } })
    const scheme = { type: 'oauth2', flows: { clientCredentials: { tokenUrl: TOKEN, scopes: {} } } }
    expect((await auth.fetch(target(scheme, F))).status).toBe(200)
    expect(script.sent.map(({ url }) => url)).toEqual([DISCOVERY, place, TOKEN, F])
  })
})

describe('an endpoint in trouble', () => {
  it('O15 is asked again, and then left alone for ten seconds', async () => {
    let failures = 7
    const skipping = new FakeClock({ now: 1_800_000_000_000, waits: 'skipped' })
    const servers = routes({
      [DISCOVERY]: { body: good },
      [TOKEN]: () => (failures-- > 0 ? { status: 503 } : { body: token }),
      [F]: { body: 'data' },
    })
    const entry = { id: 'mine', type: 'openIdConnect', flow: 'clientCredentials', clientId: 'app', clientSecret: secrets.client.value }
    const { auth } = victim({ credentials: unchecked({ ...entry, openIdConnectUrl: DISCOVERY, sendTo: DATA }), clock: skipping }, servers)
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'HTTP_503', retryable: true })
    expect(skipping.waits).toHaveLength(4)
    expect(skipping.waits.every((pause, index) => pause >= 500 * 2 ** index && pause < 750 * 2 ** index)).toBe(true)
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({
      code: 'HTTP_503',
      message: expect.stringContaining('https://auth.victim.example failed 5 times in a row; try again after 10 s'),
    })
    expect(failures).toBe(2)
    skipping.advance(10_000)
    expect((await auth.fetch(wanted)).status).toBe(200)
  })
})

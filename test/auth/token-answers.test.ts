import { describe, expect, it } from 'vitest'
import type { CredentialObject } from '../../src/auth/credential.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { routes } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { DATA, DISCOVERY_URL, entries, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const { oauth, login, oidc } = entries
const ISSUER = 'https://auth.victim.example'

function engine(credentials: readonly CredentialObject[], tokenType = 'Bearer') {
  const servers = routes({
    [DISCOVERY_URL]: {
      body: { issuer: ISSUER, token_endpoint: TOKEN_URL, authorization_endpoint: `${ISSUER}/authorize`, jwks_uri: `${ISSUER}/jwks` },
    },
    [TOKEN_URL]: { body: { access_token: secrets.token.value, token_type: tokenType, expires_in: 3600 } },
    [F]: { body: 'data' },
  })
  return victim({ credentials: unchecked(credentials) }, servers)
}

describe('a credential that obtains bearer tokens', () => {
  it.each([
    ['oauth2', oauth],
    ['openIdConnect', { ...oidc, flow: 'clientCredentials', clientSecret: secrets.client.value }],
  ])('answers an http bearer scheme inside its sendTo: %s', async (_type, credential) => {
    for (const name of ['bearer', 'Bearer']) {
      const { auth, script } = engine([credential])
      const wanted = target({ type: 'http', scheme: name }, F)
      expect((await auth.explain(wanted)).refs).toEqual([{ ref: 'k', scheme: 'http', credential: credential.id }])
      expect((await auth.fetch(wanted)).status).toBe(200)
      expect(script.sent.at(-1)?.headers.authorization).toBe(`Bearer ${secrets.token.value}`)
      expect(await auth.authorize(wanted)).toMatchObject({ ref: 'k', scheme: 'http', credential: credential.id })
    }
  })

  it('answers no bearer scheme outside its sendTo, and no other http scheme', async () => {
    const { auth, script } = engine([oauth])
    expect(await failureOf(auth.fetch(target(scheme.bearer, 'https://evil.example/f.tif')))).toMatchObject({ code: 'NO_CREDENTIAL' })
    for (const k of [scheme.basic, { type: 'http', scheme: 'dpop' }, { type: 'http', scheme: 'token' }, scheme.key()])
      expect(await failureOf(auth.fetch(target(k, F)))).toMatchObject({ code: 'NO_CREDENTIAL' })
    expect(script.sent).toEqual([])
  })

  it('that must log in first is named for an http bearer scheme', async () => {
    const { auth, script } = engine([login])
    const wanted = target(scheme.bearer, F)
    expect((await auth.explain(wanted)).refs).toMatchObject([{ ref: 'k', scheme: 'http', code: 'LOGIN_REQUIRED', credential: 'login' }])
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'LOGIN_REQUIRED', credential: 'login' })
    expect(script.sent).toEqual([])
  })

  it('is chosen beside a finished token by the narrower pattern, then by the order of the file', async () => {
    const token = { id: 'token', type: 'http', scheme: 'bearer', token: secrets.bearer.value, sendTo: DATA }
    const chosen = async (...credentials: readonly CredentialObject[]) =>
      (await engine(credentials).auth.explain(target(scheme.bearer, `${DATA}a/f.tif`))).refs[0]?.credential
    expect(await chosen(token, oauth)).toBe('token')
    expect(await chosen(oauth, token)).toBe('oauth')
    expect(await chosen(token, { ...oauth, sendTo: `${DATA}a/` })).toBe('oauth')
  })

  it('answers dpop instead, where its tokens are bound to a key', async () => {
    const { auth, script } = engine([{ ...oauth, dpop: true }], 'DPoP')
    expect((await auth.fetch(target({ type: 'http', scheme: 'DPoP' }, F))).status).toBe(200)
    expect(script.sent.at(-1)?.headers).toMatchObject({ authorization: `DPoP ${secrets.token.value}`, dpop: expect.any(String) })
    expect(await failureOf(auth.fetch(target(scheme.bearer, F)))).toMatchObject({ code: 'NO_CREDENTIAL' })
  })
})

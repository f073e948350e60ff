import { describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { bearer } from '../../src/auth/credential.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { DATA, DISCOVERY_URL, entries, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`

describe('openIdConnect', () => {
  it('answers with a finished token', async () => {
    const { auth } = victim({ credentials: bearer('t', DATA) })
    expect(await auth.authorize(target(scheme.oidc(DISCOVERY_URL), F))).toMatchObject({
      scheme: 'openIdConnect',
      headers: { authorization: 'Bearer t' },
    })
  })

  it('reports that a login is needed, without asking anybody', async () => {
    const { auth, script } = victim({ credentials: entries.oidc })
    const wanted = target(scheme.oidc(DISCOVERY_URL), F)
    for (const error of await Promise.all([auth.authorize(wanted), auth.fetch(wanted)].map(failureOf))) {
      expect(error).toMatchObject({
        code: 'LOGIN_REQUIRED',
        credential: 'oidc',
        hint: expect.stringContaining('bearer'),
      })
    }
    expect(script.sent).toEqual([])
  })

  it.each([
    ['the address of the provider is missing', { openIdConnectUrl: undefined }],
    ['its issuer is not a URL', { issuer: 'auth.victim.example' }],
    ['its issuer has a query', { issuer: 'https://auth.victim.example/?a=1' }],
    ['its issuer has a fragment', { issuer: 'https://auth.victim.example/#a' }],
    ['its issuer is not encrypted', { issuer: 'http://auth.victim.example/' }],
  ])('refuses a credential when %s', async (_name, members) => {
    const make = async () => createAuth({ credentials: { ...entries.oidc, ...members } }).explain(target(scheme.bearer, F))
    expect(await failureOf(make())).toMatchObject({ code: 'CONFIG_INVALID', pointer: expect.stringMatching(/^\/credentials\/0/) })
  })

  it.each([{}, { openIdConnectUrl: 5 }, { openIdConnectUrl: ['x'] }])('refuses the scheme %j', async (members) => {
    const { auth } = victim()
    expect(await failureOf(auth.authorize(target({ type: 'openIdConnect', ...members }, F)))).toMatchObject({
      code: 'SCHEME_INVALID',
      pointer: '/properties/auth:schemes/k',
    })
  })
})

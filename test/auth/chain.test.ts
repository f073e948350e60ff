import { describe, expect, it } from 'vitest'
import { bearer, type CredentialObject } from '../../src/auth/credential.ts'
import type { AuthError } from '../../src/errors.ts'
import { assetOf } from '../../src/stac/target.ts'
import { asset, found, item, scheme } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { DATA, DISCOVERY_URL, entries, SIGN_URL, TOKEN_URL, victim } from '../harness/victim.ts'

const K = '/properties/auth:schemes'

/** What becomes of the scheme `k0` among these. */
async function outcome(schemes: Record<string, unknown>): Promise<Pick<AuthError, 'code' | 'pointer'> | 'authorized'> {
  const { auth, script } = victim()
  const wanted = found(assetOf(item(schemes, { data: asset(`${DATA}f.tif`, ['k0']) }), 'data'))
  const result = await auth.authorize(wanted).then(
    () => 'authorized' as const,
    ({ code, pointer }: AuthError) => ({ code, pointer }),
  )
  expect(script.sent).toEqual([])
  return result
}

const key = (...refs: unknown[]) => ({ ...scheme.key(), 'auth:refs': refs })

/** `k0` → `k1` → … , the last without refs. */
function chain(length: number): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, index + 1 < length ? key(`k${index + 1}`) : scheme.key()]))
}

describe('chains of schemes', () => {
  it.each([
    ['a scheme that names itself', { k0: key('k0') }, 'SCHEME_CYCLE', `${K}/k0/auth:refs/0`],
    ['two that name each other', { k0: key('k1'), k1: key('k0') }, 'SCHEME_CYCLE', `${K}/k1/auth:refs/0`],
    ['a name that is not there', { k0: key('gone') }, 'SCHEME_NOT_FOUND', `${K}/k0/auth:refs/0`],
    ['a name of the prototype', { k0: key('toString') }, 'SCHEME_NOT_FOUND', `${K}/k0/auth:refs/0`],
    ['the name of the prototype itself', { k0: key('__proto__') }, 'SCHEME_NOT_FOUND', `${K}/k0/auth:refs/0`],
    ['a lone name that is not there', { k0: { ...scheme.key(), 'auth:refs': 'gone' } }, 'SCHEME_NOT_FOUND', `${K}/k0/auth:refs`],
    ['a name that is not there, twice', { k0: key('gone', 'gone') }, 'SCHEME_NOT_FOUND', `${K}/k0/auth:refs/0`],
    ['a name that is not text', { k0: key({ toString: 1, valueOf: 1 }) }, 'SCHEME_INVALID', `${K}/k0/auth:refs/0`],
    ['a scheme that is no object', { k0: key('k1'), k1: 'text' }, 'SCHEME_NOT_FOUND', `${K}/k0/auth:refs/0`],
    ['nine schemes in a row', chain(9), 'SCHEME_INVALID', `${K}/k7/auth:refs/0`],
  ])('chains of schemes are refused: %s', async (_name, schemes, code, pointer) => {
    expect(await outcome(schemes)).toEqual({ code, pointer })
  })

  it.each([
    ['eight schemes in a row', chain(8)],
    ['an alternative that ends well beside one that does not', { k0: key('gone', 'k1'), k1: scheme.key() }],
    ['a way around a cycle', { k0: key('k1'), k1: key('k0', 'k2'), k2: scheme.key() }],
    ['a list of none', { k0: key() }],
  ])('chains of schemes are accepted: %s', async (_name, schemes) => {
    expect(await outcome(schemes)).toBe('authorized')
  })

  it('chains of schemes are reported with their whole path', async () => {
    const { auth } = victim()
    const wanted = assetOf(item({ k0: key('k1'), k1: key('k0') }, { data: asset(`${DATA}f.tif`, ['k0']) }), 'data')
    expect((await failureOf(auth.authorize(wanted))).message).toContain('k0 → k1 → k0')
  })

  it('chains of schemes are walked once per scheme, however many ways lead through it', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `k${index}`)
    const dense = Object.fromEntries(names.map((name) => [name, key(...names)]))
    expect(await outcome(dense)).toMatchObject({ code: 'SCHEME_CYCLE' })
  })

  it('chains of schemes may name a great many that are missing', async () => {
    expect(await outcome({ k0: key(...Array.from({ length: 50_000 }, (_, index) => `gone${index}`)) })).toMatchObject({
      code: 'SCHEME_NOT_FOUND',
    })
  })
})

describe('the chain of a credential', () => {
  const exchange = { type: 'oauth2', flow: 'tokenExchange', tokenUrl: TOKEN_URL, clientId: 'x', clientAuthentication: 'none' } as const
  const credentials = [
    { ...entries.oauth, sendTo: [DATA, 'https://auth.victim.example/'] },
    { ...entries.oidc, id: 'person', flow: 'clientCredentials', clientSecret: 's', sendTo: [DATA, 'https://auth.victim.example/'] },
    { id: 'exchange', ...exchange, subject: 'oauth', sendTo: DATA },
  ]
  const schemes = {
    service: scheme.client(TOKEN_URL),
    login: scheme.oidc(DISCOVERY_URL),
  }
  const exchanged = (...refs: string[]) => ({
    type: 'oauth2',
    flows: { tokenExchange: { tokenUrl: TOKEN_URL, scopes: {} } },
    ...(refs.length && { 'auth:refs': refs }),
  })

  async function explained(exchangeScheme: unknown, inputs: Record<string, unknown> = schemes) {
    const { auth } = victim({ credentials: unchecked(credentials) })
    const document = item({ ...inputs, k0: exchangeScheme }, { data: asset(`${DATA}f.tif`, ['k0']) })
    return (await auth.explain(found(assetOf(document, 'data')))).refs[0]
  }

  it.each([
    ['says nothing about it', exchanged()],
    ['names the scheme of the entry in "subject"', exchanged('service')],
    ['names it among others', exchanged('login', 'service')],
  ])('the chain of a credential is used when the scheme %s', async (_name, exchangeScheme) => {
    expect(await explained(exchangeScheme)).toMatchObject({ credential: 'exchange' })
  })

  it('the chain of a credential is refused when the scheme names another input', async () => {
    expect(await explained(exchanged('login'))).toMatchObject({ code: 'SCHEME_MISMATCH', pointer: `${K}/k0/auth:refs` })
  })

  it('the chain of a credential is refused when the input of that name is something else', async () => {
    const elsewhere = { ...schemes, service: scheme.client('https://evil.example/token') }
    expect(await explained(exchanged('service'), elsewhere)).toMatchObject({ code: 'SCHEME_MISMATCH' })
  })

  it.each<[string, unknown]>([
    ['is missing', undefined],
    ['is no object', 5],
    ['is of a type that nobody knows', { type: 'alien' }],
    ['has no flows', { type: 'oauth2' }],
    ['has a URL that may not be requested', scheme.client('file:///token')],
    ['names another input itself', { ...exchanged('login') }],
  ])('the chain of a credential is refused when the input %s, and used when another one is right', async (_name, service) => {
    const links = [
      { id: 'inner', ...exchange, subject: 'oauth', sendTo: [DATA, 'https://auth.victim.example/'] },
      { id: 'outer', ...exchange, tokenUrl: `${TOKEN_URL}/outer`, subject: 'inner', sendTo: DATA },
    ]
    const { auth } = victim({ credentials: unchecked([...credentials.slice(0, 2), ...links] as CredentialObject[]) })
    const outer = { type: 'oauth2', flows: { tokenExchange: { tokenUrl: `${TOKEN_URL}/outer`, scopes: {} } } }
    const explanation = async (...refs: string[]) => {
      const inputs = { ...schemes, right: exchanged('service'), ...(service !== undefined && { wrong: service }) }
      const document = item({ ...inputs, k0: { ...outer, 'auth:refs': refs } }, { data: asset(`${DATA}f.tif`, ['k0']) })
      return (await auth.explain(found(assetOf(document, 'data')))).refs[0]
    }
    expect(await explanation('wrong', 'login')).toMatchObject({ code: 'SCHEME_MISMATCH' })
    expect(await explanation('wrong', 'right')).toMatchObject({ credential: 'outer' })
  })

  it('the chain of a credential is checked once per scheme and credential, however long both chains are', async () => {
    const links = ['a', 'b', 'c', 'd'].map((id, index, ids) => {
      return { id, ...exchange, subject: ids[index + 1] ?? 'oauth', sendTo: [DATA, 'https://auth.victim.example/'] }
    })
    const { auth } = victim({ credentials: unchecked([...credentials.slice(0, 2), ...links] as CredentialObject[]) })
    const names = Array.from({ length: 60 }, (_, index) => `s${index}`)
    const dense = Object.fromEntries(names.map((name) => [name, exchanged(...names, 'login')]))
    const document = item({ ...schemes, ...dense, k0: exchanged(...names) }, { data: asset(`${DATA}f.tif`, ['k0']) })
    expect((await auth.explain(found(assetOf(document, 'data')))).refs[0]).toMatchObject({ code: 'SCHEME_MISMATCH' })
  })

  it('the chain of a credential is matched with schemes of types that are loaded only for them', async () => {
    const token = { ...bearer('t', 'https://sign.victim.example/'), id: 'token' }
    const { auth } = victim({ credentials: [token, { ...entries.signer, with: 'token' }] })
    const document = item(
      { k0: { ...scheme.signed(SIGN_URL), 'auth:refs': ['login'] }, login: scheme.client(TOKEN_URL) },
      { data: asset(`${DATA}f.tif`, ['k0']) },
    )
    expect((await auth.explain(found(assetOf(document, 'data')))).refs[0]).toMatchObject({ credential: 'signer' })
  })

  it('the chain of a credential is checked once per scheme, however many ways a catalog makes', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `s${index}`)
    const dense = Object.fromEntries(names.map((name) => [name, { ...exchanged(), 'auth:refs': [...names.slice(0, 90), 'login'] }]))
    expect(await explained(exchanged(...names.slice(0, 90)), { ...schemes, ...dense })).toMatchObject({ code: 'SCHEME_MISMATCH' })
  })

  it('the chain of a credential is not followed in circles', async () => {
    const circle = { service: { ...scheme.client(TOKEN_URL), 'auth:refs': ['k0', 'login'] }, login: scheme.oidc(DISCOVERY_URL) }
    expect(await explained(exchanged('service', 'login'), circle)).toMatchObject({ credential: 'exchange' })
  })
})

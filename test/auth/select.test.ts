import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bearer, type CredentialInput } from '../../src/auth/credential.ts'
import type { AuthError } from '../../src/errors.ts'
import { assetOf, type Target } from '../../src/stac/target.ts'
import { asset, found, item, type Json, scheme, signing, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { AUTHORIZE_URL, DATA, DISCOVERY_URL, entries, SIGN_URL, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const token = { ...bearer('t', DATA), id: 'token' }
const issued = {
  ...entries.oauth,
  tokenUrl: undefined,
  issuer: 'https://auth.victim.example',
}
const key = (id: string, sendTo: string | string[], members: Json = {}): CredentialInput => ({
  id,
  type: 'apiKey',
  in: 'header',
  name: 'x-api-key',
  value: id,
  sendTo,
  ...members,
})

/** The entry that a target gets, or the code of its refusal. */
async function chosen(wanted: Target, credentials: unknown): Promise<string | undefined> {
  const { auth } = victim({ credentials: credentials as CredentialInput[] })
  const { refs } = await auth.explain(wanted)
  const usable = refs.find(({ code }) => code === undefined)
  return usable ? (usable.credential ?? 'nothing needed') : refs[0]?.code
}

const data = (schemes: unknown, refs: unknown, href = F, members: Json = {}) =>
  found(assetOf(item(schemes, { data: asset(href, refs, members) }), 'data'))

describe('a scheme matches a credential', () => {
  it.each<[string, Json, Json, string]>([
    ['with all its URLs', scheme.client(TOKEN_URL), entries.oauth, 'oauth'],
    ['that leaves its URLs out', scheme.oauth2({ clientCredentials: {} }), entries.oauth, 'oauth'],
    ['that adds a URL', scheme.client(TOKEN_URL, { refreshUrl: `${TOKEN_URL}/refresh` }), entries.oauth, 'CREDENTIAL_ENDPOINT_UNTRUSTED'],
    [
      'that adds the URL that the entry has as well',
      scheme.client(TOKEN_URL, { refreshUrl: `${TOKEN_URL}/refresh` }),
      { ...entries.oauth, refreshUrl: `${TOKEN_URL}/refresh` },
      'oauth',
    ],
    [
      'in one of its flows',
      scheme.oauth2({ implicit: { authorizationUrl: AUTHORIZE_URL }, clientCredentials: { tokenUrl: TOKEN_URL } }),
      entries.oauth,
      'oauth',
    ],
    ['in none of its flows', scheme.oauth2({ password: { tokenUrl: TOKEN_URL } }), entries.oauth, 'SCHEME_MISMATCH'],
    [
      'with the members of two flows',
      scheme.oauth2({ clientCredentials: { tokenUrl: 'https://evil.example/' }, password: { tokenUrl: TOKEN_URL } }),
      entries.oauth,
      'CREDENTIAL_ENDPOINT_UNTRUSTED',
    ],
    ['without any flow', scheme.oauth2({}), entries.oauth, 'NO_CREDENTIAL'],
    ['by its issuer', scheme.oidc('https://auth.victim.example/'), entries.oidc, 'LOGIN_REQUIRED'],
    ['of an issuer, with a token endpoint below it', scheme.client(TOKEN_URL), issued, 'oauth'],
    [
      'of an issuer, with a token endpoint on a host whose name extends its own',
      scheme.client('https://auth.victim.example.evil.example/token'),
      issued,
      'CREDENTIAL_ENDPOINT_UNTRUSTED',
    ],
    [
      'of an issuer, with a token endpoint that ends with it',
      scheme.client('https://evil.example/https://auth.victim.example/'),
      issued,
      'CREDENTIAL_ENDPOINT_UNTRUSTED',
    ],
    ['of another type, although its identity says nothing', { type: 's3' }, entries.key, 'NO_CREDENTIAL'],
    ['without a type', {}, entries.key, 'SCHEME_INVALID'],
    ['of a type that nobody knows', { type: 'alien' }, entries.key, 'SCHEME_UNSUPPORTED'],
    [
      'of an issuer',
      scheme.oidc(DISCOVERY_URL),
      { ...entries.oidc, openIdConnectUrl: undefined, issuer: 'https://auth.victim.example' },
      'LOGIN_REQUIRED',
    ],
    ['of a token endpoint that extends its own', scheme.client(`${TOKEN_URL}2`), entries.oauth, 'CREDENTIAL_ENDPOINT_UNTRUSTED'],
    ['of a token endpoint below its own', scheme.client(`${TOKEN_URL}/x`), entries.oauth, 'CREDENTIAL_ENDPOINT_UNTRUSTED'],
    ['of a token endpoint that its own extends', scheme.client(TOKEN_URL.slice(0, -1)), entries.oauth, 'CREDENTIAL_ENDPOINT_UNTRUSTED'],
    [
      'with its token endpoint as another member',
      scheme.client(TOKEN_URL, { refreshUrl: TOKEN_URL }),
      entries.oauth,
      'CREDENTIAL_ENDPOINT_UNTRUSTED',
    ],
    ['of a key whose name extends its own', scheme.key('x-api-key-2'), entries.key, 'SCHEME_MISMATCH'],
    ['of a key whose name its own extends', scheme.key('x-api'), entries.key, 'SCHEME_MISMATCH'],
    ['of a key whose name is its own at another place', scheme.key('x-api-key', 'query'), entries.key, 'SCHEME_MISMATCH'],
    ['by another signing method', scheme.signed(SIGN_URL, { method: 'POST' }), entries.signer, 'SCHEME_MISMATCH'],
    [
      'in one of its signing flows',
      { type: 'signedUrl', flows: { a: signing('https://other.example/'), b: signing(SIGN_URL) } },
      entries.signer,
      'signer',
    ],
    ['of 1.0.0, planetaryComputer', { type: 'planetaryComputer' }, entries.signer, 'signer'],
    ['of 1.0.0, earthdata', { type: 'earthdata' }, token, 'token'],
  ])('%s', async (_name, k, entry, expected) => {
    expect(await chosen(target(k, F), [entry])).toBe(expected)
  })

  it('a scheme matches a credential with a relative signing API, seen from where its document came from', async () => {
    const document = item({ k: scheme.signed('/v1/sign') }, { data: asset(F) })
    expect(await chosen(found(assetOf(document, 'data', { url: 'https://sign.victim.example/items/1' })), [entries.signer])).toBe('signer')
    expect(await chosen(found(assetOf(document, 'data', { url: 'https://evil.example/items/1' })), [entries.signer])).toBe(
      'CREDENTIAL_ENDPOINT_UNTRUSTED',
    )
    expect(await chosen(found(assetOf(document, 'data')), [entries.signer])).toBe('URL_INVALID')
  })

  it('a relative token endpoint does not match a scheme, even if it would be right for its document', async () => {
    const document = item({ k: scheme.client('/token') }, { data: asset(F) })
    expect(await chosen(found(assetOf(document, 'data', { url: 'https://auth.victim.example/1' })), [entries.oauth])).toBe('URL_INVALID')
  })

  it('a relative signing API matches by the URL of the document, also for the same object from elsewhere', async () => {
    const { auth } = victim({ credentials: entries.signer })
    const document = item({ k: scheme.signed('/v1/sign') }, { data: asset(F) })
    const from = (url: string) => found(assetOf(document, 'data', { url }))
    expect((await auth.explain(from('https://sign.victim.example/1'))).refs[0]?.code).toBeUndefined()
    expect((await auth.explain(from('https://evil.example/1'))).refs[0]?.code).toBe('CREDENTIAL_ENDPOINT_UNTRUSTED')
  })

  it.each<[string, Json, string]>([
    ['http bearer', scheme.bearer, 'token'],
    ['oauth2, wherever its token endpoint is', scheme.client('https://elsewhere.example/token'), 'token'],
    ['openIdConnect', scheme.oidc(DISCOVERY_URL), 'token'],
    ['no key', scheme.key(), 'NO_CREDENTIAL'],
    ['no Basic', scheme.basic, 'SCHEME_MISMATCH'],
  ])('a finished token answers %s', async (_name, k, expected) => {
    expect(await chosen(target(k, F), [token])).toBe(expected)
    expect(await chosen(target(k, 'https://evil.example/f.tif'), [token])).not.toBe('token')
  })

  it.each(['none', 'public', 'Anonymous', 'OPEN'])('a scheme matches a credential of type %s needs nothing', async (type) => {
    const { auth, script } = victim()
    const wanted = target({ type }, 'https://anywhere.example/f.tif')
    expect(await auth.authorize(wanted)).toMatchObject({ ref: 'k', scheme: type, headers: {}, secretIn: { headers: [], url: false } })
    await auth.fetch(wanted)
    expect(script.sent).toMatchObject([{ headers: {} }])
  })

  it('named like a public one is not public', async () => {
    expect(await chosen(data({ public: scheme.key() }, ['public']), [key('k', DATA)])).toBe('k')
  })
})

describe('of several credentials', () => {
  it('the one with the narrower pattern wins, then the earlier one', async () => {
    const host = 'https://a.tiles.example/x/f.tif'
    const wide = key('wide', 'https://*.tiles.example/')
    const exact = key('exact', ['https://other.example/', 'https://a.tiles.example/'])
    const path = key('path', 'https://a.tiles.example/x/')
    const k = target(scheme.key(), host)
    expect(await chosen(k, [wide, exact, path])).toBe('path')
    expect(await chosen(k, [wide, exact])).toBe('exact')
    expect(await chosen(k, [exact, { ...exact, id: 'second' }])).toBe('exact')
    expect(await chosen(target(scheme.key(), 'https://b.tiles.example/'), [exact, path, wide])).toBe('wide')
  })

  it('only the patterns that match count: a narrow one for another place does not help', async () => {
    const wide = key('wide', ['https://*.tiles.example/', 'https://other.example/a/very/long/path/'])
    const exact = key('exact', 'https://a.tiles.example/')
    expect(await chosen(target(scheme.key(), 'https://a.tiles.example/x/f.tif'), [wide, exact])).toBe('exact')
  })
})

describe('of several references', () => {
  const schemes = { a: scheme.key('x-a'), b: scheme.key(), c: scheme.bearer, free: { type: 'none' } }

  it('the first that can be used is used', async () => {
    expect(await chosen(data(schemes, ['gone', 'a', 'b', 'c']), [token, entries.key])).toBe('key')
    expect(await chosen(data(schemes, ['c', 'b']), [token, entries.key])).toBe('token')
  })

  it('a preferred credential comes before one with a narrower pattern', async () => {
    const wide = { id: 'wide', type: 'apiKey', in: 'header', name: 'x-api-key', value: 'w', sendTo: DATA }
    const narrow = { ...wide, id: 'narrow', value: 'n', sendTo: F }
    const protectedAsset = target({ type: 'apiKey', in: 'header', name: 'x-api-key' }, F)
    const chosenOf = async (preferred: readonly string[]) =>
      (await victim({ credentials: unchecked({ credentials: [wide, narrow], preferred }) }).auth.authorize(protectedAsset)).credential
    expect([await chosenOf([]), await chosenOf(['wide'])]).toEqual(['narrow', 'wide'])
  })

  it('of two preferred credentials the first in the list wins, whatever their order and patterns', async () => {
    const one = key('one', DATA)
    const other = key('other', F)
    for (const credentials of [
      [one, other],
      [other, one],
    ]) {
      for (const preferred of [
        ['one', 'other'],
        ['other', 'one'],
      ])
        expect(await chosen(target(scheme.key(), F), { credentials, preferred })).toBe(preferred[0])
    }
  })

  it('preferred credentials come first', async () => {
    const { auth } = victim({ credentials: { credentials: [token, entries.key], preferred: ['token'] } })
    expect((await auth.authorize(data(schemes, ['b', 'c']))).credential).toBe('token')
  })

  it('preferred credentials come in the order of their list, also before a reference that needs nothing', async () => {
    const used = async (refs: readonly string[], preferred: string[]) => {
      const { auth } = victim({ credentials: { credentials: [token, entries.key], preferred } })
      return (await auth.authorize(data(schemes, refs))).credential
    }
    expect([await used(['b', 'c'], ['token', 'key']), await used(['b', 'c'], ['key', 'token'])]).toEqual(['token', 'key'])
    expect([await used(['free', 'c'], ['token']), await used(['c', 'free'], ['token'])]).toEqual(['token', 'token'])
    expect([await used(['free', 'c'], []), await used(['free', 'c'], ['key'])]).toEqual([undefined, undefined])
  })

  it('the next is tried when a server refuses one, and the first refusal is reported', async () => {
    const { auth, script } = victim({ credentials: [token, entries.key] })
    const refusing = victim(
      { credentials: [token, entries.key] },
      {
        ...script,
        send: async (request, options) => {
          const answer = await script.send(request, options)
          return { ...answer, status: request.headers['x-api-key'] ? 200 : 401 }
        },
      },
    )
    expect((await refusing.auth.fetch(data(schemes, ['c', 'b']))).status).toBe(200)
    expect(script.sent.map(({ headers }) => Object.keys(headers))).toEqual([['authorization'], ['x-api-key']])
    expect(auth).toBeDefined()
    expect(await failureOf(refusing.auth.fetch(data(schemes, ['c'])))).toMatchObject({ code: 'AUTH_REJECTED', credential: 'token' })
  })

  it('the one that got furthest speaks for all', async () => {
    const { auth } = victim({ credentials: entries.key })
    const refs = ['gone', 'odd', 'name', 'file', 'basic', 'b']
    const all = { ...schemes, odd: 5, name: scheme.key('Host'), file: scheme.oidc('file:///x'), basic: scheme.basic }
    const error = (await failureOf(auth.authorize(data(all, refs, 'https://evil.example/')))) as AuthError
    expect(error).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED', ref: 'b', credential: 'key' })
    expect(error.reasons?.map(({ code, ref }) => [ref, code])).toEqual([
      ['gone', 'SCHEME_NOT_FOUND'],
      ['odd', 'SCHEME_INVALID'],
      ['name', 'HEADER_NAME_FORBIDDEN'],
      ['file', 'URL_SCHEME_FORBIDDEN'],
      ['basic', 'NO_CREDENTIAL'],
    ])
  })

  it('the one that passed more checks speaks, whichever comes first', async () => {
    const far = key('far', 'https://other.example/', { name: 'x-far' })
    const checks = [
      { gone: undefined },
      { number: 5, typeless: {}, alien: { type: 'alien' }, flowless: { type: 'oauth2' } },
      { host: scheme.key('Host') },
      { file: scheme.oidc('file:///x') },
      { basic: scheme.basic },
      { far: scheme.key('x-far') },
      { parameter: scheme.signed(SIGN_URL, { parameters: { odd: { in: 'query', required: true, schema: { type: 'string' } } } }) },
    ]
    const { auth } = victim({ credentials: [far, entries.signer] })
    const { gone: _, ...all }: Json = Object.assign({}, ...checks)
    const speaker = async (...refs: string[]) => {
      const { ref, pointer } = (await failureOf(auth.authorize(data(all, refs)))) as AuthError
      return ref ?? pointer?.split('/')[3]
    }
    for (const [index, later] of checks.slice(1).entries()) {
      for (const ref of Object.keys(later)) {
        for (const earlier of Object.keys(found(checks[index]))) {
          expect([earlier, ref, await speaker(earlier, ref)]).toEqual([earlier, ref, ref])
          expect([ref, earlier, await speaker(ref, earlier)]).toEqual([ref, earlier, ref])
        }
      }
    }
  })

  it('a great many are checked', async () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `missing-${index}`)
    const names = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`missing_x${index}`, schemes.a]))
    const { auth } = victim()
    const wanted = data(names, many)
    expect(await failureOf(auth.authorize(wanted))).toMatchObject({ code: 'SCHEME_NOT_FOUND' })
  })
})

describe('what is said', () => {
  it.each([
    [5, /^scheme "k" is not an object/, '/properties/auth:schemes/k'],
    [{ type: 'alien' }, /"alien"/, '/properties/auth:schemes/k/type'],
  ])('the error about the scheme %j says what is wrong with it, and where', async (k, message, pointer) => {
    expect(await failureOf(victim().auth.authorize(data({ k }, ['k'])))).toMatchObject({ message: expect.stringMatching(message), pointer })
  })

  it.each([
    { where: 'on Node', globals: [], clientSecret: { env: 'STAC_AUTH_SECRET_K_CLIENT_SECRET' } },
    { where: 'in a page', globals: ['document'], clientSecret: '…' },
    { where: 'in a worker of a page', globals: ['importScripts'], clientSecret: '…' },
  ])('the error about a missing credential contains a credential to add $where', async ({ globals, clientSecret }) => {
    onTestFinished(() => void vi.unstubAllGlobals())
    for (const name of globals) vi.stubGlobal(name, {})
    const { auth } = victim({ credentials: [] })
    const error = (await failureOf(auth.authorize(target(scheme.client(TOKEN_URL), F)))) as AuthError
    expect(error).toMatchObject({ code: 'NO_CREDENTIAL', ref: 'k' })
    const entry = JSON.parse(found(/\{.*\}/.exec(found(error.hint))?.[0]))
    expect(entry).toMatchObject({ type: 'oauth2', flow: 'clientCredentials', tokenUrl: TOKEN_URL, clientSecret, sendTo: [DATA] })
    expect(error.hint?.includes('to the credential file')).toBe(globals.length === 0)
  })

  it('the error about a foreign host names the host and the allowed URLs', async () => {
    const { auth } = victim({ credentials: entries.key })
    expect(await failureOf(auth.authorize(target(scheme.key(), 'https://evil.example/a?token=1')))).toMatchObject({
      credential: 'key',
      expected: DATA,
      actual: 'https://evil.example',
      message: expect.stringContaining('Nothing was sent'),
    })
  })

  it.each([['data.example'], [['https://data.example/', 'x']], [7]])('refuses %j as URLs that the user typed', async (typed) => {
    const { auth } = victim({ typed: [typed].flat() as string[] })
    expect(await failureOf(auth.authorize(data({ k: scheme.key() }, ['k'])))).toMatchObject({
      code: 'CONFIG_INVALID',
      pointer: '/typed',
      message: expect.stringContaining('absolute URLs'),
    })
  })

  it('the error about a misspelt name suggests the correct one', async () => {
    const { auth } = victim()
    expect((await failureOf(auth.authorize(data({ 'api-key': scheme.key() }, ['apiKey'])))).message).toContain('did you mean "api-key"')
  })

  it.each([
    ['https://s3.eu-west-3.amazonaws.com/bucket/a/k.tif', 'https://s3.eu-west-3.amazonaws.com/bucket/'],
    ['https://raw.githubusercontent.com/owner/repo/main/f.tif', 'https://raw.githubusercontent.com/owner/'],
    ['https://other.victim.example/a/f.tif', 'https://other.victim.example/'],
  ])('names a pattern that may be written, also for hosts of many owners: %s', async (href, pattern) => {
    const wanted = data({ k: scheme.key() }, ['k'], href)
    expect(await failureOf(victim({ credentials: [key('mine', DATA)] }).auth.authorize(wanted))).toMatchObject({
      code: 'CREDENTIAL_TARGET_UNTRUSTED',
      hint: expect.stringContaining(`credentials trust mine ${pattern};`),
    })
    expect(await failureOf(victim({ credentials: [] }).auth.authorize(wanted))).toMatchObject({
      code: 'NO_CREDENTIAL',
      hint: expect.stringContaining(`"sendTo":["${pattern}"]`),
    })
    expect(await chosen(wanted, [key('mine', pattern)])).toBe('mine')
  })
})

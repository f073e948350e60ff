import { describe, expect, it } from 'vitest'
import type { AuthOptions } from '../../src/auth/create-auth.ts'
import type { CredentialObject } from '../../src/auth/credential.ts'
import type { AuthError } from '../../src/errors.ts'
import type { HttpRequest } from '../../src/http/message.ts'
import { type Canary, leaks, shown } from '../harness/canary.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { redirectTo, routes } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { DATA, entries, SIGN_URL, SIGNED, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const EVIL = 'https://evil.example/'
const all = Object.values(secrets)

const password = { ...entries.account, id: 'basic', scheme: 'basic' }
const token = { id: 'bearer', type: 'http', scheme: 'bearer', token: secrets.bearer.value, sendTo: DATA }
const queryKey = { ...entries.queryKey, name: 'key' }
const tokenInQuery = { ...entries.oauth, placement: { in: 'query', name: 'access_token' } }

interface Material {
  readonly credential: CredentialObject
  readonly scheme: Record<string, unknown>
  readonly secret: Canary
}

const materials: { readonly [name: string]: Material } = {
  bearer: { credential: token, scheme: scheme.bearer, secret: secrets.bearer },
  basic: { credential: password, scheme: scheme.basic, secret: secrets.password },
  'key in a header': { credential: entries.key, scheme: scheme.key(), secret: secrets.key },
  'key in the query': { credential: queryKey, scheme: scheme.key('key', 'query'), secret: secrets.queryKey },
  'key in a cookie': { credential: entries.cookie, scheme: scheme.key('session', 'cookie'), secret: secrets.cookie },
  oauth2: { credential: entries.oauth, scheme: scheme.client(TOKEN_URL), secret: secrets.token },
  'oauth2 in the query': { credential: tokenInQuery, scheme: scheme.client(TOKEN_URL), secret: secrets.token },
}

const issued = { body: { access_token: secrets.token.value, token_type: 'Bearer' } }

/** Fetches `f.tif` with that material over these servers. */
function fetchWith(
  { credential, scheme: k }: Material,
  replies: Parameters<typeof routes>[0],
  init: RequestInit = {},
  options: Partial<AuthOptions> = {},
) {
  const script = routes({ [TOKEN_URL]: issued, ...replies })
  const { auth } = victim({ credentials: unchecked(credential), ...options }, script)
  return { script, result: auth.fetch(target(k, F), init) }
}

const received = (requests: readonly HttpRequest[]) => ({ evil: JSON.stringify(requests) })
const bearing = { credential: token, scheme: scheme.bearer, secret: secrets.bearer }

describe.each(Object.entries(materials))('a redirect of a request with %s', (_name, material) => {
  const carries = (request: HttpRequest | undefined) => material.secret.seenIn(JSON.stringify(request)).length > 0

  it.each([301, 302, 303, 307, 308])('H01 by %i to another origin is followed without it', async (status) => {
    const init = { headers: { accept: 'image/tiff', 'x-mine': '1', range: 'bytes=0-9', authorization: 'Basic bWluZQ==', cookie: 'mine=1' } }
    const { script, result } = fetchWith(material, { [F]: redirectTo(`${EVIL}g`, status), [`${EVIL}g`]: { body: 'ok' } }, init)
    expect(await (await result).text()).toBe('ok')
    expect(carries(script.to('data.victim.example')[0])).toBe(true)
    const evil = script.to('evil.example')
    expect(evil).toMatchObject([{ method: 'GET', url: `${EVIL}g` }])
    expect(evil[0]?.headers).toEqual({ accept: 'image/tiff', range: 'bytes=0-9' })
    expect(evil[0]?.options.allowPrivateNetwork).toBe(false)
    expect(leaks(all, received(evil))).toEqual([])
  })

  it('H01 to another origin is refused when the engine forbids it', async () => {
    const { script, result } = fetchWith(material, { [F]: redirectTo(`${EVIL}g`) }, {}, { redirects: 'error' })
    const error = (await failureOf(result)) as AuthError
    expect(error).toMatchObject({ name: 'TrustError', code: 'REDIRECT_CROSS_ORIGIN', hop: 0 })
    expect(error).toMatchObject({ message: expect.stringContaining('redirects to other origins are not allowed') })
    expect(error.message).toMatch(/data\.victim\.example.*evil\.example/)
    expect(script.to('evil.example')).toEqual([])
    expect(leaks(all, { error: shown(error) })).toEqual([])
  })

  it('H02 within the origin keeps it, and adds it once', async () => {
    const { script, result } = fetchWith(material, { [F]: redirectTo('/g?x=1', 307), [`${DATA}g`]: { body: 'ok' } })
    await result
    const [, second] = script.to('data.victim.example')
    expect(carries(second)).toBe(true)
    expect(second?.url).toMatch(/^https:\/\/data\.victim\.example\/g\?x=1(?:&[^?#]*)?$/)
  })

  it('H03 a redirect out and back sends the secret to the allowed origin only', async () => {
    const { script, result } = fetchWith(material, {
      [F]: redirectTo(`${EVIL}g`),
      [`${EVIL}g`]: redirectTo(`${DATA}h`),
      [`${DATA}h`]: { body: 'ok' },
    })
    await result
    expect(script.sent.filter(({ url }) => url !== TOKEN_URL).map(carries)).toEqual([true, false, true])
    expect(leaks(all, received(script.to('evil.example')))).toEqual([])
  })

  it.each([
    ['another port', 'https://data.victim.example:8443/f'],
    ['a name below', 'https://x.data.victim.example/f'],
    ['a look-alike', 'https://data.victim.example.evil.example/f'],
  ])('H04 to %s is followed without it', async (_place, location) => {
    const { script, result } = fetchWith(material, { [F]: redirectTo(location), [location]: { body: 'ok' } })
    await result
    expect(leaks(all, received(script.sent.filter(({ url }) => url === location)))).toEqual([])
    expect(script.sent.at(-1)?.url).toBe(location)
  })

  it.each([
    ['to no encryption', 'http://data.victim.example/f', 'REDIRECT_DOWNGRADE'],
    ['to localhost', 'https://localhost/f', 'URL_ADDRESS_FORBIDDEN'],
    ['H07 to a private address', 'https://169.254.169.254/latest/', 'URL_ADDRESS_FORBIDDEN'],
    ['H07 to a private name', 'https://metadata.internal/', 'URL_ADDRESS_FORBIDDEN'],
    ['to s3', 's3://bucket/key', 'REDIRECT_INVALID'],
  ])('%s is refused', async (_place, location, code) => {
    const { script, result } = fetchWith(material, { [F]: redirectTo(location) })
    const error = await failureOf(result)
    expect(error).toMatchObject({ code, hop: 0 })
    expect(leaks(all, { error: shown(error) })).toEqual([])
    expect(script.sent.filter(({ url }) => url !== TOKEN_URL)).toHaveLength(1)
  })
})

describe('a redirect', () => {
  it.each([
    '',
    ' ',
    '\r\n',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'https://u:p@evil.example/',
    'https://evil.example@data.victim.example/',
    '\\\\evil.example\\',
    '/a\\b',
    'https:evil.example',
    'https://evil.example\\@data.victim.example/',
    `/${'a'.repeat(9000)}`,
    'https://',
    'https://%65vil.example/',
  ])('H06 to %j is REDIRECT_INVALID', async (location) => {
    const { script, result } = fetchWith(bearing, { [F]: { status: 302, headers: location.trim() ? { location } : {} } })
    const error = await failureOf(result)
    expect(error).toMatchObject({ name: 'TrustError', code: 'REDIRECT_INVALID', hop: 0 })
    expect(script.sent).toHaveLength(1)
  })

  it('H06 may be followed ten times, not eleven', async () => {
    const hops = (last: number) =>
      Object.fromEntries(Array.from({ length: last }, (_, index) => [index ? `${DATA}${index}` : F, redirectTo(`/${index + 1}`)]))
    const ten = fetchWith(bearing, { ...hops(10), [`${DATA}10`]: { body: 'ok' } })
    expect((await ten.result).status).toBe(200)
    const eleven = fetchWith(bearing, { ...hops(11), [`${DATA}11`]: { body: 'ok' } })
    expect(await failureOf(eleven.result)).toMatchObject({ code: 'REDIRECT_TOO_MANY', hop: 10 })
    expect(eleven.script.sent).toHaveLength(11)
  })

  it.each([
    ['to itself', { [F]: redirectTo(F) }],
    ['to itself with a fragment', { [F]: redirectTo('#again') }],
    ['in a circle', { [F]: redirectTo('/g'), [`${DATA}g`]: redirectTo('/f.tif') }],
    ['in a circle over another origin', { [F]: redirectTo(EVIL), [EVIL]: redirectTo(F) }],
  ])('H06 %s is REDIRECT_LOOP', async (_name, replies) => {
    const { script, result } = fetchWith(bearing, replies)
    expect(await failureOf(result)).toMatchObject({ code: 'REDIRECT_LOOP' })
    expect(script.sent).toHaveLength(Object.keys(replies).length)
  })

  it('a redirect is returned unfollowed, or refused, when the call says so', async () => {
    const manual = fetchWith(bearing, { [F]: redirectTo(EVIL) }, { redirect: 'manual' })
    expect((await manual.result).headers.get('location')).toBe(EVIL)
    const refused = fetchWith(bearing, { [F]: redirectTo('/g') }, { redirect: 'error' })
    expect(await failureOf(refused.result)).toMatchObject({
      code: 'REDIRECT_CROSS_ORIGIN',
      message: expect.stringContaining('this request follows no redirects'),
    })
    for (const { script } of [manual, refused]) expect(script.sent).toHaveLength(1)
  })

  it.each(['manual', 'error'] as const)('a redirect is not followed for a Request that says %s', async (redirect) => {
    const { auth, script } = victim({ credentials: unchecked(token) }, routes({ [F]: redirectTo('/g') }))
    await auth.fetch(new Request(F, { redirect })).catch(() => {})
    await auth
      .fetchFor(target(scheme.bearer, F))(new Request(F, { redirect }))
      .catch(() => {})
    expect(script.sent.map(({ url }) => url)).toEqual([F, F])
  })

  it.each([300, 304, 305, 306])('a response with status %i is not a redirect', async (status) => {
    const { result } = fetchWith(bearing, { [F]: { status, headers: { location: EVIL } } })
    expect((await result).status).toBe(status)
  })

  const post: RequestInit = { method: 'POST', body: 'order=1', headers: { 'content-type': 'text/plain', 'x-mine': '1' } }

  it.each([
    [307, 'POST', 'order=1'],
    [308, 'POST', 'order=1'],
    [301, 'GET', undefined],
    [302, 'GET', undefined],
    [303, 'GET', undefined],
  ])('a redirect of a POST by %i within the origin becomes %s', async (status, method, body) => {
    const { script, result } = fetchWith(bearing, { [F]: redirectTo('/g', status), [`${DATA}g`]: { body: 'ok' } }, post)
    await result
    const last = script.sent.at(-1)
    const sent = last?.body && new TextDecoder().decode(last.body as Uint8Array)
    expect([last?.method, sent, last?.headers['content-type'], last?.headers['x-mine']]).toEqual([method, body, body && 'text/plain', '1'])
  })

  it.each([301, 302, 303])('a redirect of a POST by %i to another origin continues as a bare GET', async (status) => {
    const { script, result } = fetchWith(bearing, { [F]: redirectTo(EVIL, status), [EVIL]: { body: 'ok' } }, post)
    await result
    const evil = script.to('evil.example')
    expect(evil.map(({ method, headers, body }) => ({ method, headers, body }))).toEqual([{ method: 'GET', headers: {} }])
  })

  it.each([307, 308])('a redirect of a body by %i to another origin is refused', async (status) => {
    const { script, result } = fetchWith(bearing, { [F]: redirectTo(EVIL, status) }, post)
    expect(await failureOf(result)).toMatchObject({ code: 'REDIRECT_CROSS_ORIGIN' })
    expect(script.to('evil.example')).toEqual([])
  })

  it('keeps HEAD', async () => {
    const { script, result } = fetchWith(bearing, { [F]: redirectTo(EVIL, 303), [EVIL]: {} }, { method: 'HEAD' })
    await result
    expect(script.sent.map(({ method }) => method)).toEqual(['HEAD', 'HEAD'])
  })

  it('a redirect from a signed URL gets no credential again, however many hops later', async () => {
    const signer = { credential: entries.signer, scheme: scheme.signed(SIGN_URL), secret: secrets.token }
    const { script, result } = fetchWith(signer, {
      [SIGN_URL]: { body: { href: SIGNED } },
      [SIGNED]: redirectTo(`${EVIL}1`),
      [`${EVIL}1`]: redirectTo(`${EVIL}2`),
      [`${EVIL}2`]: redirectTo(`${DATA}g.tif`),
      [`${DATA}g.tif`]: { body: 'ok' },
    })
    expect(await (await result).text()).toBe('ok')
    const sent = script.sent.map(({ url }) => url.replace(/\?href=.*/, ''))
    expect(sent).toEqual([SIGN_URL, SIGNED, `${EVIL}1`, `${EVIL}2`, `${DATA}g.tif`])
  })

  it('a redirect that keeps the query does not send the key twice', async () => {
    const folder = (request: HttpRequest) => redirectTo(request.url.replace('f.tif', 'f/'))
    const { script, result } = fetchWith(materials['key in the query'] as Material, { [F]: folder, [`${DATA}f/`]: { body: 'ok' } })
    await result
    expect(new URL(script.sent[1]?.url ?? '').searchParams.getAll('key')).toEqual([secrets.queryKey.value])
  })
})

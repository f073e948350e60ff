import { describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { canary, canaryOf, leaks, shown } from '../harness/canary.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { DATA, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`

/** The request for an entry in that place. */
function requestFor(place: string, name: string, value: unknown, href = F, headers?: Record<string, string>) {
  const { auth } = victim({ credentials: unchecked({ id: 'k', type: 'apiKey', in: place, name, value, sendTo: DATA }) })
  return auth.authorize(target(scheme.key(name, place), href), headers ? { headers } : {})
}

describe('a key', () => {
  it('a key in a header replaces what the caller has there', async () => {
    const request = await requestFor('header', 'X-API-Key', 'k1', F, { 'x-api-key': 'old', accept: '*/*' })
    expect(request).toMatchObject({
      url: F,
      headers: { 'x-api-key': 'k1', accept: '*/*' },
      secretIn: { headers: ['x-api-key'], url: false },
    })
  })

  it('a key may be the whole Authorization header', async () => {
    expect((await requestFor('header', 'Authorization', 'Token k1')).headers).toEqual({ authorization: 'Token k1' })
  })

  it('a key is placed after the prefix of its credential', async () => {
    const { auth } = victim({
      credentials: { id: 'k', type: 'apiKey', in: 'header', name: 'Authorization', prefix: 'Key', value: 'k1', sendTo: DATA },
    })
    expect((await auth.authorize(target(scheme.key('Authorization', 'header'), F))).headers).toEqual({ authorization: 'Key k1' })
    for (const wrong of [{ in: 'query' }, { prefix: 'a b' }, { prefix: 'a\r\n' }]) {
      const entry = { id: 'k', type: 'apiKey', in: 'header', name: 'a', prefix: 'Key', value: 'k1', sendTo: DATA, ...wrong }
      expect(await failureOf(victim({ credentials: unchecked(entry) }).auth.ready())).toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(/prefix must be one word/),
      })
    }
  })

  it("a key in a cookie is placed after the caller's", async () => {
    expect((await requestFor('cookie', 'session', 'k1')).headers).toEqual({ cookie: 'session=k1' })
    expect((await requestFor('cookie', 'session', 'k1', F, { Cookie: 'a=b' })).headers).toEqual({ cookie: 'a=b; session=k1' })
  })

  it.each([
    ['to no query', F, `${F}?key=k1`],
    ['H10 behind bytes that stay as they are', `${F}?sig=a%2Fb+c&x#f`, `${F}?sig=a%2Fb+c&x&key=k1`],
    ['to an empty query', `${F}?`, `${F}?key=k1`],
    ['behind a separator', `${F}?a=1&`, `${F}?a=1&key=k1`],
  ])('a key in the query is added %s', async (_name, href, url) => {
    expect(await requestFor('query', 'key', 'k1', href)).toMatchObject({ url, headers: {}, secretIn: { headers: [], url: true } })
  })

  it('a key in the query is encoded with its name', async () => {
    expect((await requestFor('query', 'key&admin=1#', "a/b+c d&e='(*)")).url).toBe(
      `${F}?key%26admin%3D1%23=a%2Fb%2Bc%20d%26e%3D%27%28%2A%29`,
    )
  })

  it.each(['?key=x', '?KEY=1&k%65y=x', '?a&key'])('H11 is refused when its name is there already: %s', async (query) => {
    const secret = canary('key')
    const error = await failureOf(requestFor('query', 'key', secret.value, F + query))
    expect(error).toMatchObject({ code: 'QUERY_NAME_CONFLICT', credential: 'k', hint: expect.stringContaining('remove it') })
    expect(leaks([secret], { error: shown(error) })).toEqual([])
  })

  it.each<readonly [string, string]>([
    ['header', 'p\u00e4ss'],
    ['header', 'a\u007f'],
    ['header', '\u{1f600}'],
    ['cookie', 'a;b'],
    ['cookie', 'a b'],
    ['cookie', 'a,b'],
    ['cookie', '"a"'],
    ['cookie', 'a\\b'],
    ['cookie', '\u00e4'],
    ...['header', 'query', 'cookie'].flatMap((place) =>
      ['', 'a\r\nb', 'a\0', ' a', 'a\t', 'key\n'.repeat(3), 'x'.repeat(20_000)].map((value) => [place, value] as const),
    ),
  ])('H12 in a %s that is %.20j is CREDENTIAL_VALUE_INVALID', async (place, value) => {
    for (const given of [value, async () => value]) {
      const error = await failureOf(requestFor(place, 'key', given))
      expect(error).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID' })
      if (value.length > 8) expect(leaks([canaryOf(value)], { message: error.message, json: JSON.stringify(error) })).toEqual([])
    }
  })

  it('a key whose function fails is CREDENTIAL_SOURCE, and nothing is left behind', async () => {
    expect(await failureOf(requestFor('header', 'x-k', () => Promise.reject(new Error('hunter2'))))).toMatchObject({
      code: 'CREDENTIAL_SOURCE',
    })
  })
})

describe('a scheme of type apiKey', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['without a name', { in: 'header' }, ''],
    ['with a name that is no text', { in: 'header', name: {} }, '/name'],
    ['without a place', { name: 'a' }, ''],
    ['with an unknown place', { name: 'a', in: 'body' }, '/in'],
    ['with a place that is no text', { name: 'a', in: [] }, '/in'],
    ['with an empty query name', { name: '', in: 'query' }, '/name'],
  ])('%s is SCHEME_INVALID', async (_name, members, at) => {
    const { auth } = victim()
    expect(await failureOf(auth.authorize(target({ type: 'apiKey', ...members }, F)))).toMatchObject({
      code: 'SCHEME_INVALID',
      pointer: `/properties/auth:schemes/k${at}`,
    })
  })
})

describe('a credential of type apiKey', () => {
  it.each([
    ['header', 'Host'],
    ['header', 'a b'],
    ['cookie', 'a=b'],
    ['query', ''],
  ])('a credential of type apiKey in a %s named %j is CONFIG_INVALID', async (place, name) => {
    const auth = createAuth({ credentials: unchecked({ type: 'apiKey', in: place, name, value: 'v', sendTo: DATA }) })
    expect(await failureOf(auth.ready())).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/name' })
  })
})

import { Item } from 'stac-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browse } from '../../examples/adapters/stac-browser.ts'
import { injectionResolver } from '../../src/adapters/stac-browser.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import { bearer } from '../../src/auth/credential.ts'
import { type Strategy, singleStep } from '../../src/auth/strategy.ts'
import { item, type Json, scheme } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { bearerGuard, keyGuard } from '../servers/guards.ts'

describe('what STAC Browser adds', () => {
  let stranger: AnsweringServer
  let archive: AnsweringServer
  beforeAll(async () => {
    stranger = await startAnswering(() => ({ status: 200, body: 'strange' }))
    const token = bearerGuard((text) => text === 'right')
    const key = keyGuard('query', 'key', 'a+b')
    archive = await startAnswering((request) => {
      const refusal = request.path.startsWith('/key') ? key(request) : token(request)
      if (refusal) return refusal
      return request.path === '/moved'
        ? { status: 302, headers: { location: `${stranger.origin}/x` } }
        : { status: 200, body: request.path }
    })
  })
  afterAll(async () => {
    await archive.close()
    await stranger.close()
  })

  const SCHEMES = { token: scheme.bearer, query: scheme.key('key', 'query'), header: scheme.key('x-key') }
  const engine = (token = 'right', value = 'a+b', byAddress = false) => {
    const [key, sendTo] = [{ type: 'apiKey', value }, `${archive.origin}/`]
    return createAuth({
      byAddress,
      credentials: unchecked([
        bearer(token, sendTo),
        { ...key, id: 'query', in: 'query', name: 'key', sendTo },
        { ...key, id: 'header', in: 'header', name: 'x-key', sendTo },
      ]),
    })
  }
  const link = (path: string, refs: readonly string[], members: Json = {}) => {
    const href = archive.origin + path
    const object = new Item(
      item(SCHEMES, {}, { links: [{ rel: 'data', href, 'auth:refs': refs, ...members }] }),
      `${archive.origin}/item.json`,
    )
    return [object.links[0], href] as const
  }

  it('what STAC Browser adds opens what requests a token or a key in the URL, and a wrong one does not', async () => {
    expect(await (await browse(engine(), ...link('/a?b=c', ['token']))).text()).toBe('/a')
    expect(await (await browse(engine(), ...link('/key?b=c', ['query']))).text()).toBe('/key')
    expect((await browse(engine('wrong'), ...link('/a', ['token']))).status).toBe(401)
    expect((await browse(engine('right', 'wrong'), ...link('/key', ['query']))).status).toBe(403)
  })

  it('leaves other origins and what requests nothing unchanged', async () => {
    const [object] = link('/a', ['token'])
    const nothing = { headers: {}, query: {} }
    expect(await injectionResolver(engine())(object, `${stranger.origin}/a`)).toEqual(nothing)
    expect(await injectionResolver(engine())(...link('/a', []))).toEqual(nothing)
    expect(await injectionResolver(engine())(null, `${archive.origin}/a`)).toEqual(nothing)
  })

  it('adds the credential that covers the URL of a link without references where the engine allows that', async () => {
    const object = new Item(item(undefined, {}, { links: [{ rel: 'data', href: `${archive.origin}/a` }] }), `${archive.origin}/item.json`)
    const resolve = (byAddress: boolean, url: string) => injectionResolver(engine('right', 'a+b', byAddress))(object.links[0], url)
    expect(await resolve(true, `${archive.origin}/a`)).toEqual({ headers: { authorization: 'Bearer right' }, query: {} })
    expect(await resolve(false, `${archive.origin}/a`)).toEqual({ headers: {}, query: {} })
    expect(await resolve(true, `${stranger.origin}/a`)).toEqual({ headers: {}, query: {} })
  })

  it('refuses to be silent about a parameter that would have to be replaced', async () => {
    const resign: Strategy = {
      type: 'com.example.resign',
      forms: [{ fields: {} }],
      identity: ({ type }) => [[{ name: 'type', value: type, pointer: '/type' }]],
      schemeOf: () => ({ type: 'com.example.resign' }),
      describe: () => ({ credential: { type: 'com.example.resign' }, fields: {} }),
      authorize: singleStep(async (request) => {
        const url = new URL(request.url)
        url.searchParams.set('sig', 'new')
        return { ...request, url: url.href }
      }),
    }
    const auth = createAuth({ strategies: [resign], credentials: unchecked([{ type: resign.type, sendTo: `${archive.origin}/` }]) })
    const resolve = (path: string) => {
      const links = [{ rel: 'data', href: archive.origin + path, 'auth:refs': ['again'] }]
      const object = new Item(item({ again: { type: resign.type } }, {}, { links }), `${archive.origin}/item.json`)
      return injectionResolver(auth)(object.links[0], archive.origin + path)
    }
    expect(await failureOf(resolve('/a?sig=old'))).toMatchObject({
      code: 'SCHEME_UNSUPPORTED',
      message: expect.stringContaining('changes a parameter'),
    })
    expect(await resolve('/a?sig=new')).toEqual({ headers: {}, query: {} })
    expect((await resolve('/a?b=1&b=2&c=')).query).toEqual({ sig: 'new' })
  })

  it('leaves data: and other buckets unchanged', async () => {
    const object = new Item(
      item(SCHEMES, {}, { links: [{ rel: 'data', href: 's3://one/a', 'auth:refs': ['token'] }] }),
      `${archive.origin}/item.json`,
    )
    for (const url of ['data:,', 's3://other/a'])
      expect(await injectionResolver(engine())(object.links[0], url)).toEqual({ headers: {}, query: {} })
  })

  it('returns no key that would go along through a redirect; a token stays behind', async () => {
    expect(await failureOf(injectionResolver(engine())(...link('/a', ['header'])))).toMatchObject({ code: 'SCHEME_UNSUPPORTED' })
    expect(await (await browse(engine(), ...link('/moved', ['token']))).text()).toBe('strange')
    expect(stranger.exchanges.map(({ request }) => request.headers.authorization)).toEqual([undefined])
  })

  it('refuses a link that requires to choose more of the request', async () => {
    const failed = injectionResolver(engine())(...link('/a', ['token'], { method: 'POST', body: {} }))
    expect(await failureOf(failed)).toMatchObject({ code: 'LINK_REQUEST_FORBIDDEN' })
  })
})

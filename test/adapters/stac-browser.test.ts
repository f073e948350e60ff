import axios from 'axios'
import { Item } from 'stac-js'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { browserRequests } from '../../src/adapters/stac-browser.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import { apiKey, basic, bearer } from '../../src/auth/credential.ts'
import { memoryStore } from '../../src/auth/session.ts'
import { createLiveAuth } from '../../src/browser/live-auth.ts'
import { found, item, type Json, scheme } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { basicGuard, bearerGuard, type Guard, keyGuard } from '../servers/guards.ts'

const SCHEMES = { token: scheme.bearer, key: scheme.key('x-key'), account: scheme.basic }

describe('the requests of STAC Browser', () => {
  let archive: AnsweringServer
  let stranger: AnsweringServer
  beforeAll(async () => {
    stranger = await startAnswering(() => ({ status: 200, body: 'strange' }))
    const guards: Readonly<Record<string, Guard>> = {
      token: bearerGuard((text) => text === 't'),
      key: keyGuard('header', 'x-key', 'k'),
      account: basicGuard('ada', 'p'),
    }
    archive = await startAnswering((request) => {
      const refusal = guards[request.path.split('/')[1] ?? '']?.(request)
      if (refusal) return refusal
      if (request.path.endsWith('/moved')) return { status: 302, headers: { location: `${stranger.origin}/moved` } }
      return { status: 200, body: JSON.stringify({ path: request.path }) }
    })
  })
  afterAll(() => Promise.all([archive.close(), stranger.close()]))
  afterEach(() => vi.restoreAllMocks())

  /** Without references the token is used: its pattern comes first. */
  const engine = () =>
    createAuth({
      credentials: [
        { ...bearer('t', `${archive.origin}/`), id: 'token' },
        { ...apiKey('k', { in: 'header', name: 'x-key' }, `${archive.origin}/`), id: 'key' },
        { ...basic('ada', 'p', `${archive.origin}/`), id: 'account' },
      ],
      typed: [stranger.origin],
    })
  const asset = (path: string, refs?: unknown, origin = archive.origin): Json => ({
    href: origin + path,
    ...(refs !== undefined && { 'auth:refs': refs }),
  })
  const documentOf = (assets: Json, url = `${archive.origin}/item.json`, links: readonly Json[] = []) =>
    new Item(item(SCHEMES, assets, { links }), url)

  async function prepared(assets: Json, settings?: Parameters<typeof browserRequests>[1]) {
    const auth = engine()
    await auth.ready()
    const requests = browserRequests(auth, settings)
    const document = documentOf(assets)
    expect(requests.remember(document)).toBe(document)
    return requests
  }

  it('are those of the references of the asset, alternate or link that has the URL, on one host', async () => {
    const requests = await prepared({
      a: { ...asset('/key/a', ['key']), alternate: { b: asset('/account/b', ['account']), c: { href: `${archive.origin}/key/c` } } },
    })
    requests.remember(documentOf({}, undefined, [{ rel: 'data', href: './account/d', 'auth:refs': ['account'] }]))
    for (const path of ['/key/a', '/account/b', '/key/c', '/account/d', '/token/e']) {
      const { data } = await axios(requests.authorized({ url: archive.origin + path, headers: { 'accept-language': 'en' } }))
      expect(data).toEqual({ path })
      expect((await requests.fetch(`${archive.origin}${path}#part`)).status).toBe(200)
    }
  })

  it('show no secret in the options of axios or in its errors, which have the code of the engine', async () => {
    const requests = await prepared({ a: asset('/token/a', ['gone']) })
    const options = requests.authorized({ url: `${archive.origin}/token/e` })
    expect(JSON.stringify(options)).not.toContain('Bearer')
    expect(await failureOf(axios(requests.authorized({ url: `${archive.origin}/token/a` })))).toMatchObject({ code: 'SCHEME_NOT_FOUND' })
  })

  it('leave other hosts alone, also behind a redirect and for an alternate that inherits nothing', async () => {
    const requests = await prepared({
      a: { ...asset('/key/a', ['key']), alternate: { b: asset('/b', undefined, stranger.origin) } },
      m: asset('/key/moved', ['key']),
      s: asset('/s', ['key'], stranger.origin),
    })
    const before = stranger.exchanges.length
    expect(requests.needsFetch(`${stranger.origin}/b`)).toBe(false)
    for (const url of [`${stranger.origin}/b`, `${archive.origin}/key/moved`])
      expect(await (await requests.fetch(url)).text()).toBe('strange')
    expect(await failureOf(requests.fetch(`${stranger.origin}/s`))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
    const headers = stranger.exchanges.slice(before).map(({ request }) => request.headers)
    expect(headers).toHaveLength(2)
    for (const sent of headers) expect(sent['x-key'] ?? sent.authorization).toBeUndefined()
  })

  it('are decided by a document on the origin of the URL, whatever another one says before or after it', async () => {
    const auth = engine()
    const requests = browserRequests(auth)
    const hostile = () => requests.remember(documentOf({ a: asset('/key/a', ['gone']) }, 'https://hostile.example/item.json'))
    hostile()
    expect(await failureOf(requests.fetch(`${archive.origin}/key/a`))).toMatchObject({ code: 'SCHEME_NOT_FOUND' })
    requests.remember(documentOf({ a: asset('/key/a', ['key']) }))
    hostile()
    expect((await requests.fetch(`${archive.origin}/key/a`)).status).toBe(200)
  })

  it('say which URLs elements of a page cannot open', async () => {
    const requests = await prepared({ a: asset('/key/a', ['key']), open: asset('/open', []) })
    expect(requests.needsFetch(`${archive.origin}/key/a`)).toBe(true)
    expect(requests.needsFetch(`${archive.origin}/other`)).toBe(true)
    for (const url of [`${archive.origin}/open`, `${stranger.origin}/a`, 's3://bucket/key', 'data:,', 'relative', 'https://a@b.example/'])
      expect(requests.needsFetch(url)).toBe(false)
  })

  it('say when a file can be requested without a login', async () => {
    const state = { version: 0 }
    const requests = await prepared({ a: asset('/key/a', ['key']), gone: asset('/key/gone', ['gone']) }, { state })
    const url = `${archive.origin}/key/a`
    expect(requests.isReady(url)).toBe(false)
    await expect.poll(() => state.version).toBe(1)
    expect(requests.isReady(url)).toBe(true)
    requests.refresh()
    expect(requests.isReady(url)).toBe(false)
    for (const other of [`${archive.origin}/key/gone`, `${stranger.origin}/a`, 'data:,']) {
      requests.isReady(other)
      expect(requests.isReady(other)).toBe(false)
    }
  })

  it('say what a file lacks that a user wants to open, and correct it, without a login for public files', async () => {
    const auth = createLiveAuth({
      credentials: [],
      offers: [
        { id: 'key', type: 'apiKey', in: 'header', name: 'x-key', sendTo: `${archive.origin}/` },
        { id: 'account', type: 'http', scheme: 'basic', username: 'ada', sendTo: `${archive.origin}/` },
      ],
      typed: [archive.origin],
      anonymous: 'allow',
      tabs: false,
    })
    const state = { version: 0 }
    const onError = vi.fn()
    const requests = browserRequests(auth, { state, onError })
    requests.remember(documentOf({ a: asset('/account/a', ['account']), open: asset('/open', ['account']) }))
    const [url, open] = [`${archive.origin}/account/a`, `${archive.origin}/open`]
    const needs = () => auth.credentials.needs().map(({ credential, error }) => [credential, error.code])
    expect(await requests.open(open)).toBe(true)
    expect([requests.isReady(open), state.version, needs()]).toEqual([true, 1, []])
    expect(requests.needsFetch(url)).toBe(true)
    expect(await requests.open(url)).toBe(false)
    expect(needs()).toEqual([['account', 'NO_CREDENTIAL']])
    await auth.credentials.add({ ...basic('ada', 'mistyped', `${archive.origin}/`), id: 'account' })
    expect(await requests.open(url)).toBe(false)
    expect(needs()).toEqual([['account', 'AUTH_REJECTED']])
    await auth.credentials.change('account', { password: 'p' })
    expect(await requests.open(url)).toBe(true)
    expect([requests.isReady(url), needs()]).toEqual([true, []])
    expect(onError.mock.calls).toMatchObject([[{ code: 'NO_CREDENTIAL' }], [{ code: 'AUTH_REJECTED' }]])
  })

  it('say that a file needs a login', async () => {
    const openIdConnectUrl = 'https://id.example/.well-known/openid-configuration'
    const auth = createLiveAuth({
      credentials: [{ id: 'portal', type: 'openIdConnect', openIdConnectUrl, clientId: 'page', sendTo: [`${archive.origin}/`] }],
      anonymous: 'allow',
      tabs: false,
    })
    const requests = browserRequests(auth)
    requests.remember(
      new Item(item({ p: { type: 'openIdConnect', openIdConnectUrl } }, { a: asset('/token/a', ['p']) }), 'https://data.example/i'),
    )
    for (const path of ['/token/a', '/token/b']) {
      const url = archive.origin + path
      expect([requests.isReady(url), requests.needsFetch(url)]).toEqual([false, true])
      expect(await requests.open(url)).toBe(false)
      expect(auth.credentials.needs()).toMatchObject([{ credential: 'portal', error: { code: 'LOGIN_REQUIRED' } }])
      expect(requests.isReady(url)).toBe(false)
    }
    expect((await requests.fetch(`${archive.origin}/open`)).status).toBe(200)
  })

  it('report why it is unknown whether a file can be requested, but not that there is no credential', async () => {
    const openIdConnectUrl = 'https://id.example/.well-known/openid-configuration'
    const broken = () => Promise.reject(new Error('the store is broken'))
    const auth = createAuth({
      credentials: [{ id: 'portal', type: 'openIdConnect', openIdConnectUrl, clientId: 'page', sendTo: ['https://data.example/'] }],
      session: { ...memoryStore(), read: broken },
    })
    const onError = vi.fn()
    const requests = browserRequests(auth, { onError })
    requests.isReady('https://other.example/a')
    expect(requests.isReady('https://data.example/a')).toBe(false)
    await expect.poll(() => onError.mock.calls).toHaveLength(1)
    expect(onError.mock.calls).toEqual([[expect.objectContaining({ message: 'the store is broken' })]])
  })

  it('load images once, show them when they are there, and forget them when credentials change', async () => {
    const made: string[] = []
    const revoked: string[] = []
    vi.spyOn(URL, 'createObjectURL').mockImplementation(() => `blob:${made.push('image')}`)
    vi.spyOn(URL, 'revokeObjectURL').mockImplementation((revokedUrl) => revoked.push(revokedUrl))
    const state = { version: 0 }
    const requests = await prepared({ a: asset('/key/a', ['key']) }, { state })
    const url = `${archive.origin}/key/a`
    expect(requests.imageUrl(url)).toMatch(/^data:image\/gif/)
    expect(requests.imageUrl(url)).toMatch(/^data:image\/gif/)
    await expect.poll(() => state.version).toBe(1)
    expect([requests.imageUrl(url), requests.imageUrl(`${stranger.origin}/b`)]).toEqual(['blob:1', `${stranger.origin}/b`])
    requests.refresh()
    expect(revoked).toContain('blob:1')
    expect(requests.imageUrl(url)).toMatch(/^data:image\/gif/)
    await expect.poll(() => requests.imageUrl(url)).toBe('blob:2')
  })

  it('report an image that cannot be loaded, and leave it to the page', async () => {
    const errors: unknown[] = []
    const requests = await prepared({ a: asset('/key/a', ['account']) }, { onError: (error) => errors.push(error) })
    const url = `${archive.origin}/key/a`
    await expect.poll(() => requests.imageUrl(url)).toBe(url)
    expect(errors).toMatchObject([{ code: 'AUTH_REJECTED' }])
  })

  it('complete the options of maps, after a function of their own, for URLs with a credential', async () => {
    const requests = await prepared({ a: asset('/key/{z}', ['key']) })
    const own = async (_type: string, sourceOptions: object) => ({ ...sourceOptions, attributions: 'own' })
    const options = requests.layerOptions({ getSourceOptions: own as never, displayPreview: true } as never)
    expect(options).toMatchObject({ displayPreview: true })
    const reference = found(documentOf({ a: asset('/key/{z}', ['key']) }).getAsset('a') ?? undefined)
    const of = (url: string) => (options as ReturnType<typeof requests.layerOptions>).getSourceOptions('XYZ', { url }, reference as never)
    expect(await of(`${archive.origin}/key/{z}`)).toEqual({
      url: `${archive.origin}/key/{z}`,
      attributions: 'own',
      tileLoadFunction: expect.any(Function),
    })
    expect(await of(`${stranger.origin}/{z}`)).toEqual({ url: `${stranger.origin}/{z}`, attributions: 'own' })
  })
})

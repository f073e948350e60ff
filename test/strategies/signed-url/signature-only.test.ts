import { afterEach, describe, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { assetOf } from '../../../src/stac/target.ts'
import { found, item, type Json } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { type Reply, script } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { createCloudFront, createSas } from '../../servers/storage-signatures.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const NOW = Date.UTC(2026, 0, 1)
const API = 'https://sign.example/token'
const STORE = 'https://archive.blob.core.windows.net/'
const CDN = 'https://data.cdn.example/'

const file = (href: string) => found(assetOf(item(undefined, { data: { href } }), 'data'))

/** A store of Azure, an API that gives tokens for its containers, and a user of both. */
function azure({ entry = {}, answer }: { entry?: Json; answer?: (token: string) => Reply } = {}) {
  let time = NOW
  const sas = createSas('key of the account', () => time)
  const tokenOf = (container = '') => sas.query(`/${container}/`)
  const servers = script(({ url, headers }) => {
    const { origin, pathname, search } = new URL(url)
    if (origin !== 'https://sign.example') return { status: headers.authorization ? 400 : sas.statusOf(url), body: 'data' }
    const [, , account, container, ...rest] = pathname.split('/')
    if (search !== '' || account !== 'archive' || rest.length > 0) return { status: 422 }
    const token = tokenOf(container)
    return answer?.(token) ?? { body: { token, 'msft:expiry': new Date(time + 3_600_000).toISOString() } }
  })
  const credential = {
    id: 'sas',
    type: 'signedUrl',
    method: 'GET',
    authorizationApi: `${API}/{account}/{container}`,
    answer: 'query',
    signedUrlHosts: STORE,
    ...entry,
  }
  const auth = createAuth({ credentials: unchecked(credential), transport: servers.send, byAddress: true, clock: { now: () => time } })
  const calls = () => servers.sent.filter(({ url }) => url.startsWith(API)).map(({ url }) => url.slice(API.length))
  const pass = (milliseconds: number) => {
    time += milliseconds
  }
  return { auth, servers, calls, pass }
}

describe('a token that is added to URLs', () => {
  it('one token is used for all files of a container until it expires', async () => {
    const { auth, calls, pass } = azure()
    const paths = Array.from({ length: 50 }, (_, index) => `scenes/${index}.tif`)
    const statuses = await Promise.all(paths.map(async (path) => (await auth.fetch(file(STORE + path))).status))
    expect([...new Set(statuses)]).toEqual([200])
    expect((await auth.fetch(file(`${STORE}other/a.tif`))).status).toBe(200)
    expect(calls()).toEqual(['/archive/scenes', '/archive/other'])
    expect(auth.peek(file(`${STORE}scenes/later.tif`))?.url).toMatch(
      /^https:\/\/archive\.blob\.core\.windows\.net\/scenes\/later\.tif\?sv=/,
    )
    pass(3_600_000)
    expect((await auth.fetch(file(`${STORE}scenes/0.tif`))).status).toBe(200)
    expect(calls()).toHaveLength(3)
  })

  it('a token without parameters of Azure is used for all files that the API is told the same about', async () => {
    const { auth, servers, calls } = azure({ answer: () => ({ body: { token: '?ticket=a%2Fb&life=1' } }) })
    for (const path of ['scenes/a.tif', 'scenes/b.tif?x=1', 'other/c.tif']) await auth.authorize(file(STORE + path))
    expect(calls()).toEqual(['/archive/scenes', '/archive/other'])
    expect(servers.sent).toHaveLength(2)
    expect(auth.peek(file(`${STORE}scenes/b.tif?x=1`))?.url).toBe(`${STORE}scenes/b.tif?x=1&ticket=a%2Fb&life=1`)
  })

  it('the files in a folder use the token of its container', async () => {
    const { auth, calls } = azure()
    const folder = auth.fetchFor(file(`${STORE}scenes/a.zarr`))
    for (const name of ['.zmetadata', 'x/0.0', 'x/0.1']) expect((await folder(`${STORE}scenes/a.zarr/${name}`)).status).toBe(200)
    expect(calls()).toEqual(['/archive/scenes'])
  })

  it.each<[string, (token: string) => Reply, Json]>([
    ['a text', (token) => ({ body: token, headers: { 'content-type': 'text/plain' } }), {}],
    ['a string of JSON', (token) => ({ body: JSON.stringify(`?${token}`) }), {}],
    ['a member with a name of its own', (token) => ({ body: { data: { sas: token } } }), { responseField: 'data.sas' }],
  ])('%s is read as a token', async (_name, answer, entry) => {
    const { auth } = azure({ answer, entry })
    expect((await auth.fetch(file(`${STORE}scenes/a.tif`))).status).toBe(200)
  })

  it.each<[string, Reply, string]>([
    ['no token', { body: { href: 'https://evil.example/' } }, 'RESPONSE_FIELD_MISSING'],
    ['a URL', { body: { token: 'https://evil.example/#x' } }, 'RESPONSE_FIELD_MISSING'],
    ['a fragment', { body: { token: 'a=1#b' } }, 'RESPONSE_FIELD_MISSING'],
    ['a line break', { body: { token: 'a=1\r\nx: y' } }, 'RESPONSE_FIELD_MISSING'],
    ['a redirect', { status: 302, headers: { location: `${STORE}scenes/a.tif?sig=1` } }, 'SIGN_REDIRECT'],
  ])('%s in place of a token is refused', async (_name, answer, code) => {
    const { auth, servers } = azure({ answer: () => answer })
    expect(await failureOf(auth.fetch(file(`${STORE}scenes/a.tif`)))).toMatchObject({ code })
    expect(servers.sent).toHaveLength(1)
  })

  it('a URL that has a parameter of the token already is refused', async () => {
    const { auth, servers } = azure({ answer: () => ({ body: { token: 'ticket=1' } }) })
    expect(await failureOf(auth.fetch(file(`${STORE}scenes/a.tif?ticket=2`)))).toMatchObject({ code: 'QUERY_NAME_CONFLICT' })
    await auth.authorize(file(`${STORE}scenes/a.tif`))
    expect(await failureOf(auth.fetch(file(`${STORE}scenes/a.tif?ticket=2`)))).toMatchObject({ code: 'QUERY_NAME_CONFLICT' })
    expect(servers.sent.every(({ url }) => url.startsWith(API))).toBe(true)
  })

  it('a token is added to URLs in signedUrlHosts only, and for a URL elsewhere the API is not called', async () => {
    const entry = { sendTo: ['https://archive.blob.core.windows.net/', 'https://archive.blob.core.chinacloudapi.cn/'] }
    const { auth, servers } = azure({ entry })
    await auth.authorize(file(`${STORE}scenes/a.tif`))
    const elsewhere = file('https://archive.blob.core.chinacloudapi.cn/scenes/a.tif')
    expect(await failureOf(auth.fetch(elsewhere))).toMatchObject({ code: 'SIGNED_URL_FORBIDDEN' })
    expect(servers.sent).toHaveLength(1)
  })

  it('the token of one host is not sent to another that the API calls by the same names', async () => {
    const both = ['https://archive.blob.core.windows.net/', 'https://archive.blob.core.chinacloudapi.cn/']
    const { auth, calls } = azure({ entry: { signedUrlHosts: both } })
    for (const origin of both) await auth.authorize(file(`${origin}scenes/a.tif`))
    expect(calls()).toEqual(['/archive/scenes', '/archive/scenes'])
  })

  it('a file that is refused does not end the token of the others', async () => {
    const sas = createSas('another key', () => NOW)
    const { auth, calls } = azure({ answer: (token) => ({ body: { token: calls().length > 1 ? sas.query('/scenes/') : token } }) })
    expect((await auth.fetch(file(`${STORE}scenes/a.tif`))).status).toBe(200)
    expect((await auth.fetch(file(`${STORE}scenes/b.tif`))).status).toBe(200)
    expect(calls()).toHaveLength(1)
  })
})

/** A distribution of CloudFront with signed cookies, an API that gives them, and a user of both. */
function cloudFront(answer: (cookies: Readonly<Record<string, string>>) => Reply, entry: Json = {}) {
  const signer = createCloudFront('data.cdn.example', () => NOW)
  const servers = script(({ url, headers }) => {
    if (url.startsWith(API)) {
      const cookies = [...new URLSearchParams(signer.query('/protected/'))].map(([name, value]) => [`CloudFront-${name}`, value])
      return answer(Object.fromEntries(cookies))
    }
    const { origin, pathname, search } = new URL(url)
    if (search !== '' || origin !== new URL(CDN).origin) return { status: headers.cookie ? 400 : 200, body: 'elsewhere' }
    const query = (headers.cookie ?? '').split('; ').filter((pair) => pair.startsWith('CloudFront-'))
    const status = signer.statusOf(`${origin}${pathname}?${query.map((pair) => pair.slice('CloudFront-'.length)).join('&')}`)
    if (status === 200 && pathname.endsWith('/moved')) return { status: 302, headers: { location: 'https://other.example/x' } }
    return { status, body: 'data' }
  })
  const credential = {
    id: 'cdn',
    type: 'signedUrl',
    method: 'GET',
    authorizationApi: API,
    answer: 'cookies',
    signedUrlHosts: CDN,
    ...entry,
  }
  const auth = createAuth({ credentials: unchecked(credential), transport: servers.send, byAddress: true, clock: { now: () => NOW } })
  return { auth, servers, calls: () => servers.sent.filter(({ url }) => url.startsWith(API)) }
}

describe('signed cookies of CloudFront', () => {
  it.each<[string, (cookies: Readonly<Record<string, string>>) => Reply, Json]>([
    ['members of the response', (body) => ({ body }), {}],
    ['a member of the response', (cookies) => ({ body: { cookies } }), {}],
    ['a member that is named', (signed) => ({ body: { signed } }), { responseField: 'signed' }],
  ])('%s are sent as cookies with every file of the folder', async (_name, answer, entry) => {
    const { auth, servers, calls } = cloudFront(answer, entry)
    for (const name of ['a.tif', 'b.tif']) expect(await (await auth.fetch(file(`${CDN}protected/${name}`))).text()).toBe('data')
    expect(calls()).toHaveLength(1)
    expect(servers.sent.at(-1)?.url).toBe(`${CDN}protected/b.tif`)
    const made = await auth.authorize(file(`${CDN}protected/c.tif`), { headers: { cookie: 'theme=dark' } })
    expect(made.headers.cookie).toMatch(/^theme=dark; CloudFront-Policy=[^;]+; CloudFront-Signature=[^;]+; CloudFront-Key-Pair-Id=K1$/)
    expect(made).toMatchObject({ secretIn: { headers: ['cookie'], url: false }, expiresAt: new Date(NOW + 3_600_000).toISOString() })
  })

  it.each([200, 204, 302])('cookies that the API sets with status %i are sent', async (status) => {
    const { auth } = cloudFront((cookies) => {
      const lines = Object.entries(cookies).map(([name, value]) => `${name}=${value}; Domain=.cdn.example; Path=/; Secure; HttpOnly`)
      return { status, setCookies: [...lines, 'session=1'] }
    })
    expect(await (await auth.fetch(file(`${CDN}protected/a.tif`))).text()).toBe('data')
  })

  it('cookies are not sent to the host of a redirect', async () => {
    const { auth, servers } = cloudFront((body) => ({ body }))
    expect(await (await auth.fetch(file(`${CDN}protected/moved`))).text()).toBe('elsewhere')
    expect(servers.sent.at(-1)).toMatchObject({
      url: 'https://other.example/x',
      headers: expect.not.objectContaining({ cookie: expect.anything() }),
    })
  })

  it.each<[string, Json]>([
    ['one is missing', { 'CloudFront-Policy': 'p', 'CloudFront-Signature': 's' }],
    ['one has another cookie in it', { 'CloudFront-Policy': 'p; a=b', 'CloudFront-Signature': 's', 'CloudFront-Key-Pair-Id': 'k' }],
    ['one has a line break in it', { 'CloudFront-Policy': 'p\r\nx: y', 'CloudFront-Signature': 's', 'CloudFront-Key-Pair-Id': 'k' }],
  ])('cookies are refused when %s', async (_name, body) => {
    const { auth, servers } = cloudFront(() => ({ body }))
    expect(await failureOf(auth.fetch(file(`${CDN}protected/a.tif`)))).toMatchObject({ code: 'RESPONSE_FIELD_MISSING' })
    expect(servers.sent).toHaveLength(1)
  })

  it('cookies are refused in web pages before the API is called', async () => {
    const { auth, servers } = cloudFront((body) => ({ body }))
    vi.spyOn(platform, 'hidesHeaders', 'get').mockReturnValue(true)
    expect(await failureOf(auth.fetch(file(`${CDN}protected/a.tif`)))).toMatchObject({ code: 'UNSUPPORTED_IN_BROWSER' })
    expect(servers.sent).toEqual([])
  })

  it('cookies are sent to signedUrlHosts only', async () => {
    const { auth, servers } = cloudFront((body) => ({ body }), { sendTo: [CDN, 'https://www.cdn.example/'] })
    expect(await failureOf(auth.fetch(file('https://www.cdn.example/a.tif')))).toMatchObject({ code: 'SIGNED_URL_FORBIDDEN' })
    expect(servers.sent).toEqual([])
  })
})

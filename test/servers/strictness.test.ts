import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnsweringServer } from './answering-server.ts'
import { basicGuard, bearerGuard, keyGuard, wordGuard } from './guards.ts'
import { startProtectedFiles } from './protected-files.ts'
import { startSigningServer } from './signing-server.ts'
import { startTokenServer, type TokenServer } from './token-server.ts'
import { createUrlSigner } from './url-signer.ts'

type Headers = Readonly<Record<string, string>>

const statusOf = async (url: string, init?: RequestInit) => (await fetch(url, init)).status
const basic = (account: string) => ({ authorization: `Basic ${Buffer.from(account).toString('base64')}` })

let now = Date.parse('2026-01-01T00:00:00Z')
const clock = () => now

describe('protected files', () => {
  let files: AnsweringServer
  beforeAll(async () => {
    files = await startProtectedFiles({
      '/basic': { content: 'b', guard: basicGuard('ada', 'pass:wörd') },
      '/bearer': { content: 'b', guard: bearerGuard((token) => token === 'good') },
      '/portal': { content: 'b', guard: wordGuard('Portal', 'text with blanks') },
      '/header': { content: 'b', guard: keyGuard('header', 'X-Key', 'k') },
      '/query': { content: 'b', guard: keyGuard('query', 'key', 'k') },
      '/cookie': { content: 'b', guard: keyGuard('cookie', 'key', 'k') },
      '/open': { content: 'b' },
    })
  })
  afterAll(() => files.close())

  it.each<[string, Headers, number]>([
    ['/basic', basic('ada:pass:wörd'), 200],
    ['/basic', {}, 401],
    ['/basic', basic('ada:pass:word'), 401],
    ['/basic', basic('eve:pass:wörd'), 401],
    ['/basic', { authorization: 'Basic !!!' }, 401],
    ['/basic', { authorization: 'Bearer good' }, 401],
    ['/bearer', { authorization: 'bearer good' }, 200],
    ['/bearer', { authorization: 'Bearer bad' }, 401],
    ['/bearer', { authorization: 'Bearergood' }, 401],
    ['/portal', { authorization: 'Portal text with blanks' }, 200],
    ['/portal', { authorization: 'Portal text' }, 401],
    ['/portal', { authorization: 'Token text with blanks' }, 401],
    ['/header', { 'x-key': 'k' }, 200],
    ['/header', { 'x-key': 'K' }, 403],
    ['/header', { 'x-key': '' }, 403],
    ['/header', { 'x-other': 'k' }, 401],
    ['/query?key=k', {}, 200],
    ['/query?key=k&key=k', {}, 403],
    ['/query?Key=k', {}, 401],
    ['/query', { key: 'k' }, 401],
    ['/cookie', { cookie: 'a=b; key=k' }, 200],
    ['/cookie', { cookie: 'key=j' }, 403],
    ['/cookie', { cookie: 'monkey=k' }, 401],
    ['/open', {}, 200],
    ['/toString', {}, 404],
  ])('%s with %j: %i', async (path, headers, status) => {
    const response = await fetch(files.origin + path, { headers })
    expect([response.status, await response.text()]).toEqual([status, status === 200 ? 'b' : ''])
  })

  it('protected files say what they want, and what was wrong with it', async () => {
    const challenge = async (path: string, headers: Headers = {}) =>
      (await fetch(files.origin + path, { headers })).headers.get('www-authenticate')
    expect(await challenge('/basic')).toBe('Basic realm="files", charset="UTF-8"')
    expect(await challenge('/bearer')).toBe('Bearer realm="files"')
    expect(await challenge('/bearer', { authorization: 'Bearer bad' })).toBe('Bearer realm="files", error="invalid_token"')
  })

  it('protected files can only be read', async () => {
    expect(await statusOf(`${files.origin}/open`, { method: 'PUT', body: 'x' })).toBe(405)
    const { status, headers } = await fetch(`${files.origin}/open`, { method: 'HEAD' })
    expect([status, headers.get('content-length')]).toEqual([200, '1'])
  })

  it('remember what they were sent', async () => {
    await fetch(`${files.origin}/open?a=b`, { headers: { 'x-mark': 'm' } })
    const { request, answer } = files.exchanges.at(-1) ?? {}
    expect([request?.path, request?.query.get('a'), request?.headers['x-mark'], answer?.status]).toEqual(['/open', 'b', 'm', 200])
    expect(files.connections).toBeGreaterThan(0)
  })
})

describe('the token endpoint', () => {
  let server: TokenServer
  beforeAll(async () => {
    server = await startTokenServer({ client: { id: 'me', secret: 's e:c+r%t', scopes: ['read', 'list'] }, lifetime: 60, now: clock })
  })
  afterAll(() => server.close())

  const form = 'application/x-www-form-urlencoded'
  const account = basic('me:s+e%3Ac%2Br%25t')
  const ask = (body: string, headers: Headers = account) =>
    fetch(server.tokenUrl, { method: 'POST', body, headers: { 'content-type': form, ...headers } })

  it('issues tokens that end', async () => {
    const response = await ask('grant_type=client_credentials&scope=read')
    const answer = await response.json()
    expect(answer).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 60, scope: 'read' })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect([server.accepts(answer.access_token, 'read'), server.accepts(answer.access_token, 'list')]).toEqual([true, false])
    expect(server.accepts(`${answer.access_token}x`, 'read')).toBe(false)
    now += 60_000
    expect(server.accepts(answer.access_token, 'read')).toBe(false)
  })

  it('returns every token once', async () => {
    const tokens = await Promise.all([1, 2, 3].map(async () => (await (await ask('grant_type=client_credentials')).json()).access_token))
    expect(new Set(tokens).size).toBe(3)
  })

  it.each<[string, Headers, number, string]>([
    ['grant_type=client_credentials', basic('me:wrong'), 401, 'invalid_client'],
    ['grant_type=client_credentials', basic('you:s+e%3Ac%2Br%25t'), 401, 'invalid_client'],
    ['grant_type=client_credentials', basic('me:s e:c+r%t'), 401, 'invalid_client'],
    ['grant_type=client_credentials', {}, 401, 'invalid_client'],
    ['grant_type=client_credentials&client_secret=x', account, 400, 'invalid_request'],
    ['grant_type=client_credentials&scope=read&scope=list', account, 400, 'invalid_request'],
    ['grant_type=client_credentials', { ...account, 'content-type': 'application/json' }, 400, 'invalid_request'],
    ['scope=read', account, 400, 'invalid_request'],
    ['grant_type=password', account, 400, 'unsupported_grant_type'],
    ['grant_type=client_credentials&scope=read+admin', account, 400, 'invalid_scope'],
  ])('%s with %j: %i %s', async (body, headers, status, error) => {
    const response = await ask(body, headers)
    expect([response.status, await response.json()]).toEqual([status, { error }])
  })

  it('the token endpoint is asked by POST only', async () => {
    expect(await statusOf(server.tokenUrl, { headers: account })).toBe(405)
  })
})

describe('signed addresses', () => {
  const signer = createUrlSigner({ key: 'key of the signer', lifetime: 60, now: clock })
  let blobs: AnsweringServer
  let api: AnsweringServer
  beforeAll(async () => {
    blobs = await startProtectedFiles({
      '/bucket/a': { content: 'a', guard: signer.guard },
      '/bucket/b': { content: 'b', guard: signer.guard },
    })
    const guard = bearerGuard((token) => token === 'good')
    api = await startSigningServer({ signer, objects: blobs.origin, get: guard, post: guard })
  })
  afterAll(() => Promise.all([blobs.close(), api.close()]))

  const authorization = 'Bearer good'
  const get = (href: string, headers: Headers = { authorization }) =>
    fetch(`${api.origin}/get/sign?href=${encodeURIComponent(href)}`, { headers })
  const post = (body: string, headers: Headers = { authorization }) =>
    fetch(`${api.origin}/post/sign`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })

  it('open until their end', async () => {
    const { href, expires } = await (await get(`${blobs.origin}/bucket/a`)).json()
    expect([await statusOf(href), Date.parse(expires) - now]).toEqual([200, 60_000])
    now += 60_000
    expect(await statusOf(href)).toBe(403)
  })

  it('signed addresses come for bucket and key, and for an address', async () => {
    for (const body of [{ bucket: 'bucket', key: 'b' }, { url: `${blobs.origin}/bucket/b` }]) {
      const { signed_url } = await (await post(JSON.stringify(body))).json()
      expect(await statusOf(signed_url)).toBe(200)
    }
  })

  it('signed addresses are worth nothing when anything is changed', async () => {
    const { href } = await (await get(`${blobs.origin}/bucket/a`)).json()
    const later = new URL(href)
    later.searchParams.set('Expires', String(Number(later.searchParams.get('Expires')) + 1))
    const unsigned = `${blobs.origin}/bucket/a`
    for (const url of [href.replace('/a?', '/b?'), `${href}x`, later.href, unsigned, `${unsigned}?Signature=`]) {
      expect(await statusOf(url)).toBe(403)
    }
  })

  it('signed addresses are made for those who may ask, and for objects only', async () => {
    expect((await get(`${blobs.origin}/bucket/a`, {})).status).toBe(401)
    expect((await post('{"bucket":"bucket","key":"a"}', { authorization: 'Bearer bad' })).status).toBe(401)
    expect((await get('https://elsewhere.example/a')).status).toBe(404)
    expect((await get(`${blobs.origin}.elsewhere.example/a`)).status).toBe(404)
    expect((await post('{"bucket":"bucket"}')).status).toBe(404)
    expect((await post('bucket=bucket')).status).toBe(400)
    expect((await post('{}', { authorization, 'content-type': 'text/plain' })).status).toBe(415)
    expect(await statusOf(`${api.origin}/get/sign`, { method: 'POST', headers: { authorization } })).toBe(404)
  })
})

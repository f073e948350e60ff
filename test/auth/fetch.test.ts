import { describe, expect, it } from 'vitest'
import { bearer } from '../../src/auth/credential.ts'
import { CredentialError, isAuthError } from '../../src/errors.ts'
import { assetOf } from '../../src/stac/target.ts'
import { asset, found, item, scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { routes } from '../harness/scripted.ts'
import { DATA, entries, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const EVIL = 'https://evil.example/f.tif'

describe('fetch by address', () => {
  const wide = { ...entries.key, id: 'wide', name: 'x-wide', sendTo: 'https://*.victim.example/' }
  const { key } = entries

  it('uses the credential with the most specific URL pattern, and none elsewhere', async () => {
    const { auth, script: servers } = victim({ credentials: [wide, key] })
    for (const url of [F, new URL('https://x.victim.example/'), new Request(EVIL)]) await auth.fetch(url)
    expect(servers.sent.map(({ headers }) => Object.keys(headers))).toEqual([['x-api-key'], ['x-wide'], []])
  })

  it('fetch by URL accepts plain data and returns plain data', async () => {
    const { auth, script: servers } = victim({ credentials: [wide, key] })
    for (const url of [F, `${EVIL}#part`]) {
      const response = await auth.send({ method: 'GET', url, headers: { 'X-Own': '1' } })
      expect([response.status, response.url]).toEqual([url === F ? 200 : 404, url.replace('#part', '')])
      expect(await response.bytes(100)).toBeInstanceOf(Uint8Array)
    }
    expect(servers.sent.map(({ headers }) => Object.keys(headers).sort())).toEqual([['x-api-key', 'x-own'], ['x-own']])
  })

  it.each([
    ['Headers', new Headers({ 'x-part': '5' })],
    ['pairs', [['X-Part', '5']]],
    ['numbers', { 'X-Part': 5 }],
  ])('headers that are %s are sent as text, not left out', async (_kind, headers) => {
    const { auth, script: servers } = victim({ credentials: [key] })
    const given = { headers: headers as never }
    const expected = { headers: { 'x-part': '5' } }
    expect(await auth.authorize(target(scheme.key(), F), given)).toMatchObject(expected)
    await (await auth.send(target(scheme.key(), F), given)).discard()
    await (await auth.send({ method: 'GET', url: F, ...given })).discard()
    await (await auth.fetch(F, given)).text()
    expect(servers.sent).toMatchObject([expected, expected, expected])
  })

  it.each<[unknown, string]>([
    [{ 'x-own': 'secret\nof two lines' }, 'x-own'],
    [[['x-own', 'secret\nof two lines']], 'x-own'],
    [{ 'x-own': 'secret €' }, 'x-own'],
    [{ 'x-own: secret': '' }, 'x-own'],
    ['x-own: secret', 'x'],
    [['x-own: secret'], 'x'],
    [['xs'], 'x'],
    [[['x-own: secret']], 'x-own'],
    [[['x-own', 'secret', 'secret']], 'x-own'],
    [[null], 'undefined'],
    [[[Symbol('own'), 'secret']], 'Symbol(own)'],
  ])('invalid headers of fetch are refused without their values, which may be secrets: %j', async (headers, name) => {
    const { auth, script: servers } = victim()
    const error = await failureOf(auth.fetch(F, { headers: headers as HeadersInit }))
    expect(error).toMatchObject({ code: 'USAGE', message: `"${name}" is not a valid header` })
    expect(servers.sent).toEqual([])
  })

  it.each([
    ['https://127.0.0.1/', {}, 'URL_ADDRESS_FORBIDDEN'],
    ['file:///etc/passwd', {}, 'URL_SCHEME_FORBIDDEN'],
    [F, { 'x-a': '1\r\nx-b: 2' }, 'USAGE'],
  ])('fetch by address in plain data is refused as well: %j %j', async (url, headers, code) => {
    const { auth, script: servers } = victim()
    expect(await failureOf(auth.send({ method: 'GET', url, headers }))).toMatchObject({ code })
    expect(servers.sent).toEqual([])
  })

  it('uses a preferred credential first', async () => {
    const { auth, script: servers } = victim({ credentials: { credentials: [key, wide], preferred: ['wide'] } })
    await auth.fetch(F)
    expect(Object.keys(servers.sent[0]?.headers ?? {})).toEqual(['x-wide'])
  })

  it.each([
    ['https://u:p@data.victim.example/', 'URL_HAS_USERINFO'],
    ['https://127.0.0.1/', 'URL_ADDRESS_FORBIDDEN'],
    ['file:///etc/passwd', 'URL_SCHEME_FORBIDDEN'],
    ['/relative', 'URL_INVALID'],
    ['', 'URL_INVALID'],
  ])('refuses %j', async (url, code) => {
    const { auth, script: servers } = victim()
    expect(await failureOf(auth.fetch(url))).toMatchObject({ name: 'TrustError', code })
    expect(servers.sent).toEqual([])
  })

  it('reports where a password belongs, in the URL of a catalog and of a person', async () => {
    const { auth } = victim()
    const hint = expect.stringContaining('type "http"')
    for (const wanted of [
      'https://u:p4ss@data.victim.example/',
      assetOf({ assets: { a: { href: 'https://u:p4ss@data.victim.example/' } } }, 'a'),
    ]) {
      const error = await failureOf(auth.fetch(wanted))
      expect(error).toMatchObject({ code: 'URL_HAS_USERINFO', hint })
      expect(JSON.stringify(error)).not.toContain('p4ss')
    }
  })

  it('sends no key without encryption', async () => {
    const { auth, script: servers } = victim({ credentials: entries.key })
    await auth.fetch('http://data.victim.example/f.tif')
    expect(servers.sent).toMatchObject([{ headers: {} }])
  })

  it('passes method, headers and body of a Request, and of the call before it', async () => {
    const { auth, script: servers } = victim({ credentials: entries.key })
    const request = new Request(F, { method: 'POST', body: 'one', headers: { 'X-A': '1', 'content-type': 'text/x' } })
    await auth.fetch(request)
    await auth.fetch(F, { method: 'put', body: new URLSearchParams({ a: 'b' }) })
    const [first, second] = servers.sent
    expect(first).toMatchObject({ method: 'POST', headers: { 'x-a': '1', 'content-type': 'text/x' } })
    expect(new TextDecoder().decode(first?.body as Uint8Array)).toBe('one')
    expect(second).toMatchObject({ method: 'PUT', headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' } })
    expect(new TextDecoder().decode(second?.body as Uint8Array)).toBe('a=b')
  })
})

describe('fetchFor', () => {
  it('fetchFor is a fetch for URLs below the target, each checked by itself', async () => {
    const { auth, script: servers } = victim({ credentials: entries.key })
    const fetch = auth.fetchFor(found(assetOf(item({ k: scheme.key() }, { data: asset(DATA) }), 'data', { url: `${DATA}items/1` })))
    await fetch(`${DATA}zarr/0.0`)
    await fetch('chunk/0.1', { headers: { range: 'bytes=0-9' } })
    await fetch(new Request(`${DATA}zarr/0.2`, { method: 'HEAD' }))
    expect(servers.sent.map(({ method, url }) => [method, url])).toEqual([
      ['GET', `${DATA}zarr/0.0`],
      ['GET', `${DATA}items/chunk/0.1`],
      ['HEAD', `${DATA}zarr/0.2`],
    ])
    expect(servers.sent.every(({ headers }) => headers['x-api-key'] === secrets.key.value)).toBe(true)
    for (const url of [EVIL, 'http://data.victim.example/', 'https://169.254.169.254/'])
      expect(isAuthError(await failureOf(fetch(url)))).toBe(true)
    expect(servers.sent).toHaveLength(3)
  })

  it('takes members of a request that its options leave undefined, as the standard does', async () => {
    const { auth, script: servers } = victim({ credentials: entries.key })
    const fetch = auth.fetchFor(found(assetOf(item({ k: scheme.key() }, { data: asset(DATA) }), 'data', { url: `${DATA}items/1` })))
    const nothing = { method: undefined, headers: undefined, body: undefined, signal: undefined, redirect: undefined }
    await fetch(new Request(`${DATA}a`, { headers: { range: 'bytes=0-9' } }), nothing)
    await fetch(new Request(`${DATA}b`, { method: 'POST', body: 'text' }), nothing)
    await fetch(new Request(`${DATA}c`, { headers: { range: 'bytes=0-9' } }), { headers: { range: 'bytes=5-9' } })
    expect(
      servers.sent.map(({ method, headers, body }) => [method, headers.range, body && new TextDecoder().decode(body as Uint8Array)]),
    ).toEqual([
      ['GET', 'bytes=0-9', undefined],
      ['POST', undefined, 'text'],
      ['GET', 'bytes=5-9', undefined],
    ])
    const given = new Request(`${DATA}d`, { signal: AbortSignal.abort() })
    expect(await failureOf(fetch(given, nothing))).toMatchObject({ code: 'ABORTED' })
    expect(servers.sent).toHaveLength(3)
  })
})

describe('anonymous', () => {
  it('asks without credentials where no reference can be used, if the caller says so', async () => {
    const open = victim({ credentials: entries.key, anonymous: 'allow' })
    expect((await open.auth.fetch(target(scheme.basic, EVIL))).status).toBe(404)
    expect(open.script.sent).toMatchObject([{ url: EVIL, headers: {} }])
    expect((await open.auth.authorize(target(scheme.key(), F))).credential).toBe('key')
    expect(await failureOf(open.auth.fetch(target(scheme.key(), 'file:///x')))).toMatchObject({ code: 'URL_SCHEME_FORBIDDEN' })
    expect(await failureOf(victim({ credentials: [] }).auth.fetch(target(scheme.basic, F)))).toMatchObject({ code: 'NO_CREDENTIAL' })
  })
})

describe('a secret that cannot be read', () => {
  const gone = bearer(() => Promise.reject(new CredentialError('CREDENTIAL_SOURCE', 'the file is gone')), DATA)
  const wanted = target(scheme.bearer, F)

  it.each(['fetch', 'authorize'] as const)('lets %s go on without it, if the caller says so', async (call) => {
    const { auth } = victim({ credentials: [gone] })
    expect(await failureOf(auth[call](wanted))).toMatchObject({ code: 'CREDENTIAL_SOURCE' })
    const answer = await auth[call](wanted, { anonymous: 'allow' })
    expect('credential' in answer ? answer.credential : undefined).toBeUndefined()
  })

  it('lets nothing go on where the call refuses what the engine allows', async () => {
    const { auth, script: servers } = victim({ credentials: [gone], anonymous: 'allow' })
    expect((await auth.authorize(wanted)).headers).toEqual({})
    for (const call of ['fetch', 'authorize'] as const)
      expect(await failureOf(auth[call](wanted, { anonymous: 'refuse' }))).toMatchObject({ code: 'CREDENTIAL_SOURCE' })
    expect(servers.sent).toEqual([])
  })
})

describe('an abort', () => {
  it('an abort before the call sends nothing', async () => {
    const { auth, script: servers } = victim()
    const signal = AbortSignal.abort(new Error('enough'))
    for (const k of [scheme.key(), scheme.client(TOKEN_URL)]) {
      expect(await failureOf(auth.fetch(target(k, F), { signal }))).toMatchObject({
        name: 'AbortError',
        code: 'ABORTED',
        cause: signal.reason,
      })
    }
    expect(await failureOf(auth.fetch(new Request(F, { signal })))).toMatchObject({ code: 'ABORTED' })
    expect(await failureOf(auth.authorize(target(scheme.key(), F), { signal }))).toMatchObject({ code: 'ABORTED' })
    expect(servers.sent).toEqual([])
  })

  it.each(['fetch', 'send', 'authorize'] as const)(
    'an abort of %s does not wait for a secret, and nothing is sent afterwards',
    async (call) => {
      let answer = (_secret: string) => {}
      const asked = new Promise<string>((resolve) => {
        answer = resolve
      })
      const { auth, script: servers } = victim({ credentials: [bearer(() => asked, DATA)] })
      const controller = new AbortController()
      const failure = failureOf(auth[call](target(scheme.bearer, F), { signal: controller.signal }))
      await new Promise((resolve) => setTimeout(resolve, 20))
      controller.abort()
      expect(await failure).toMatchObject({ code: 'ABORTED' })
      answer('late')
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(servers.sent.filter(({ options }) => options.signal?.aborted !== true)).toEqual([])
    },
  )
})

describe('loopback', () => {
  it('loopback is reached only where the user typed or allowed it', async () => {
    const servers = routes({ 'http://127.0.0.1:8080/f': { body: 'x' } })
    const plain = found(assetOf(item({}, { data: { href: 'http://127.0.0.1:8080/f' } }), 'data'))
    expect(await failureOf(victim({}, servers).auth.fetch(plain))).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
    expect(await failureOf(victim({}, servers).auth.fetch('http://127.0.0.1:8080/f'))).toMatchObject({
      code: 'URL_ADDRESS_FORBIDDEN',
      hint: 'if you trust that host: type its URL, or stac-auth credentials trust ID URL; in code, "sendTo" of a credential, or "typed"',
    })
    const { auth } = victim({ typed: ['http://127.0.0.1:8080/item.json'] }, servers)
    expect((await auth.fetch(plain)).status).toBe(200)
    expect(servers.sent[0]?.options.allowPrivateNetwork).toBe(true)
    expect(await failureOf(auth.fetch({ ...plain, href: 'http://127.0.0.1:8081/f' }))).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
  })
})

import { describe, expect, it, onTestFinished } from 'vitest'
import type { Service } from '../../../src/auth/auth.ts'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { SelectionError } from '../../../src/errors.ts'
import { type GatewayDocument, Routes } from '../../../src/node/gateway/routes.ts'
import { failureOf } from '../../harness/failure.ts'
import { startS3Server } from '../../servers/s3-server.ts'
import { isToken, itemWith, openGateway, startArchive, TOKEN, withToken } from './origin.ts'

const FILES = { '/a/b.tif': 'image', '/a/b.tif.ovr': 'overviews', '/a/z/0.0': 'chunk', '/other/x': 'other', '/public/p.png': 'thumbnail' }

async function fixture(accepts = isToken) {
  const archive = await startArchive({ files: FILES, accepts: (authorization) => accepts(authorization) })
  return { archive, url: (path: string) => `${archive.origin}${path}` }
}

/** A credential that documents select, but that no URL selects by itself below `/other/`. */
const narrow = (origin: string, ...folders: string[]) => withToken(...folders.map((folder) => `${origin}${folder}`))

async function codeOf(response: Response) {
  return [response.status, response.headers.get('x-stac-auth-code')]
}

describe('the credential for a URL', () => {
  it('is that of the references for a target', async () => {
    const { archive, url } = await fixture()
    const document = itemWith({ B04: { href: url('a/b.tif'), 'auth:refs': ['token'] } })
    const gateway = await openGateway(withToken(archive.origin), { documents: [{ document }] })
    expect(await (await fetch(gateway.targets[0]?.url ?? '')).text()).toBe('image')
  })

  it('is that of the references for a URL below the folder of a target', async () => {
    const { archive, url } = await fixture()
    const document = itemWith({ B04: { href: url('a/b.tif'), 'auth:refs': ['token'] } })
    const gateway = await openGateway(narrow(archive.origin, 'a/'), { documents: [{ document }] })
    expect(await (await fetch(gateway.urlFor(url('a/b.tif.ovr')))).text()).toBe('overviews')
    expect(await (await fetch(gateway.urlFor(url('a/z/0.0')))).text()).toBe('chunk')
    expect(await codeOf(await fetch(gateway.urlFor(url('other/x'))))).toEqual([403, 'NO_CREDENTIAL'])
  })

  it('is never one that the references do not match', async () => {
    const { archive, url } = await fixture()
    const schemes = { basic: { type: 'http', scheme: 'basic' } }
    const document = { ...itemWith({ B04: { href: url('a/b.tif'), 'auth:refs': ['basic'] } }), properties: { 'auth:schemes': schemes } }
    const gateway = await openGateway(withToken(archive.origin), { documents: [{ document }] })
    expect(await codeOf(await fetch(gateway.targets[0]?.url ?? ''))).toEqual([403, 'SCHEME_MISMATCH'])
    expect(archive.sent).toEqual([])
  })

  it('is the one with the narrowest sendTo for any other URL', async () => {
    const { archive, url } = await fixture((authorization) => authorization === 'Bearer narrow')
    const wide = { id: 'wide', type: 'http', scheme: 'bearer', token: TOKEN, sendTo: [archive.origin] } as const
    const near = { id: 'near', type: 'http', scheme: 'bearer', token: 'narrow', sendTo: [url('a/')] } as const
    const gateway = await openGateway(createAuth({ credentials: [wide, near] }))
    expect(await (await fetch(gateway.urlFor(url('a/b.tif')))).text()).toBe('image')
    expect(gateway.events[0]?.credential).toBe('near')
  })

  it('is the one by sendTo where the references above a URL do not reach it', async () => {
    const { archive, url } = await fixture()
    const document = itemWith({}, [{ rel: 'root', href: archive.origin, 'auth:refs': ['basic'] }])
    const schemes = { basic: { type: 'http', scheme: 'basic' } }
    const gateway = await openGateway(withToken(archive.origin), {
      documents: [{ document: { ...document, properties: { 'auth:schemes': schemes } } }],
    })
    expect(await (await fetch(gateway.urlFor(url('other/x')))).text()).toBe('other')
  })

  it('is the one by sendTo for a target about which the document says nothing', async () => {
    const { archive, url } = await fixture()
    const document = itemWith({ thumbnail: { href: url('public/p.png') } })
    const gateway = await openGateway(withToken(archive.origin), { documents: [{ document }] })
    expect(await (await fetch(gateway.targets[0]?.url ?? '')).text()).toBe('thumbnail')
  })

  it('is none for a target whose references are an empty list', async () => {
    const { archive, url } = await fixture((authorization) => authorization === undefined)
    const document = itemWith({ thumbnail: { href: url('public/p.png'), 'auth:refs': [] } })
    const gateway = await openGateway(withToken(archive.origin), { documents: [{ document }] })
    const response = await fetch(gateway.targets[0]?.url ?? '')
    expect([await response.text(), response.headers.get('cache-control')]).toEqual(['thumbnail', null])
  })
})

describe('an object of a store', () => {
  const keys = { accessKeyId: 'AKIDGATEWAY', secretAccessKey: 'secret-of-the-gateway-tests' }

  it('is requested by its s3: URL, with a signature, in parts and for its length', async () => {
    const server = await startS3Server({ objects: { 'eo/a/b c.tif': 'image' }, keys: [keys], region: 'eu-west-1' })
    onTestFinished(() => server.close())
    const credential = { id: 'eo', type: 's3', ...keys, region: 'eu-west-1', endpoint: server.url, sendTo: ['s3://eo/'] } as const
    const gateway = await openGateway(createAuth({ credentials: [credential], typed: [server.url] }))
    const url = gateway.urlFor('s3://eo/a/b%20c.tif')
    expect(url).toBe(`${gateway.base}plain/s3/eo/a/b__2520c.tif`)
    expect(await (await fetch(url)).text()).toBe('image')
    expect((await fetch(url, { method: 'HEAD' })).headers.get('content-length')).toBe('5')
    expect(await (await fetch(url, { headers: { range: 'bytes=1-2' } })).text()).toBe('ma')
    expect(await codeOf(await fetch(gateway.urlFor('s3://other/a')))).toEqual([403, 'NO_CREDENTIAL'])
    expect(gateway.events.map(({ credential: used }) => used)).toEqual(['eo', 'eo', 'eo', undefined])
  })
})

describe('what no credential covers', () => {
  it('is requested without one where a document names it', async () => {
    const { archive, url } = await fixture((authorization) => authorization === undefined)
    const document = itemWith({ thumbnail: { href: url('public/p.png') } }, [{ rel: 'via', href: url('other/x') }])
    const auth = createAuth({ credentials: [], typed: [archive.origin] })
    const gateway = await openGateway(auth, { documents: [{ document }] })
    expect(await (await fetch(gateway.urlFor(url('public/p.png')))).text()).toBe('thumbnail')
    expect(await (await fetch(gateway.urlFor(url('other/x')))).text()).toBe('other')
    expect(await codeOf(await fetch(gateway.urlFor(url('other/y'))))).toEqual([403, 'NO_CREDENTIAL'])
    expect(await codeOf(await fetch(gateway.urlFor(url('a/b.tif'))))).toEqual([403, 'NO_CREDENTIAL'])
  })

  it('is refused with the command that would allow it, and nothing is sent', async () => {
    const { archive } = await fixture()
    const gateway = await openGateway(withToken(`${archive.origin}a/`))
    const response = await fetch(`${gateway.base}https/other.example/x?secret=1`)
    expect(await codeOf(response)).toEqual([403, 'NO_CREDENTIAL'])
    expect(await response.text()).toBe(
      'error NO_CREDENTIAL: https://other.example is not requested: no document names the URL and no credential may be sent there\n' +
        '  start the gateway with the document that names the URL, or, if you trust https://other.example: ' +
        'stac-auth credentials trust ID https://other.example/\n',
    )
    expect(archive.sent).toEqual([])
    expect(gateway.events).toMatchObject([{ status: 403, code: 'NO_CREDENTIAL', url: 'https://other.example/x' }])
    const odd = await fetch(`${gateway.base}https/a;id;.example/x`)
    expect(await odd.text()).toContain("stac-auth credentials trust ID 'https://a;id;.example/'\n")
  })

  it.each([
    ['http/data.example/x', 'URL_INSECURE'],
    ['http/169.254.169.254/latest/meta-data/', 'URL_INSECURE'],
    ['https/169.254.169.254/latest/meta-data/', 'URL_ADDRESS_FORBIDDEN'],
    ['https/localhost/', 'URL_ADDRESS_FORBIDDEN'],
    ['https/[::1]/x', 'URL_ADDRESS_FORBIDDEN'],
    ['https/2130706433/', 'URL_ADDRESS_FORBIDDEN'],
    ['https/data.example./x', 'URL_INVALID'],
    ['s3/bucket/key', 'NO_CREDENTIAL'],
  ])('such as %s is refused: %s', async (path, code) => {
    const { archive } = await fixture()
    const gateway = await openGateway(withToken(archive.origin))
    expect(await codeOf(await fetch(gateway.base + path))).toEqual([403, code])
  })

  it.each(['a/..%2fother/x', 'a/%252e%252e/other/x', 'a%2fb', 'a/x%5cy'])(
    'includes a path that servers read differently: %s',
    async (path) => {
      const { archive, url } = await fixture()
      const gateway = await openGateway(narrow(archive.origin, 'a/'))
      expect((await fetch(gateway.urlFor(url(path)))).status).toBeGreaterThanOrEqual(400)
      expect(archive.sent).toEqual([])
    },
  )
})

describe('a response that asks for authentication', () => {
  it('is an error of the gateway, without the challenge', async () => {
    const { archive, url } = await fixture()
    const document = itemWith({ thumbnail: { href: url('public/p.png') } })
    const gateway = await openGateway(createAuth({ credentials: [], typed: [archive.origin] }), { documents: [{ document }] })
    const response = await fetch(gateway.targets[0]?.url ?? '')
    expect(await codeOf(response)).toEqual([403, 'AUTH_REJECTED'])
    expect(response.headers.get('www-authenticate')).toBeNull()
    expect(await response.text()).toContain('requires authentication (Bearer)')
  })

  it('to a request with a credential names the credential', async () => {
    const { archive, url } = await fixture(() => false)
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(url('a/b.tif')))
    expect(await codeOf(response)).toEqual([403, 'AUTH_REJECTED'])
    expect(gateway.events[0]).toMatchObject({ credential: 'archive', status: 403 })
  })
})

describe('the network', () => {
  it('that fails is 502', async () => {
    const gateway = await openGateway(withToken('http://127.0.0.1:9/'))
    expect(await codeOf(await fetch(`${gateway.base}http/127.0.0.1:9/x`))).toEqual([502, 'NETWORK_REFUSED'])
  })

  it('that is too slow is 504', async () => {
    const archive = await startArchive({ answer: () => true })
    const { undiciTransport } = await import('../../../src/node/transport/undici-transport.ts')
    const transport = undiciTransport({ timeouts: { headers: 50 } })
    const credentials = [{ id: 'archive', type: 'http', scheme: 'bearer', token: TOKEN, sendTo: [archive.origin] } as const]
    const gateway = await openGateway(createAuth({ credentials, transport }))
    expect(await codeOf(await fetch(gateway.urlFor(`${archive.origin}x`)))).toEqual([504, 'TIMEOUT_HEADERS'])
  }, 30_000)
})

describe('a search', () => {
  const search = (url: string, init: RequestInit = {}) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"limit":1}', ...init })

  async function api() {
    const archive = await startArchive({
      accepts: isToken,
      answer: ({ url }, response) => response.end(`found by ${url}`) !== undefined,
    })
    return { archive, gateway: await openGateway(withToken(archive.origin)) }
  }

  it('is posted with its body and the credential of the API', async () => {
    const { archive, gateway } = await api()
    expect(await (await search(gateway.urlFor(`${archive.origin}v1/search?x=1`))).text()).toBe('found by /v1/search?x=1')
    expect(archive.sent).toMatchObject([{ method: 'POST', body: '{"limit":1}', headers: { 'content-type': 'application/json' } }])
  })

  it.each([
    ['to another path', 'collections', {}],
    ['to another path with a search in its query', 'users?next=/search', {}],
    ['to another path with a search at its end', 'research', {}],
    ['with another media type', 'search', { headers: { 'content-type': 'text/plain' } }],
    ['with a longer body', 'search', { body: ' '.repeat(2 ** 20 + 1) }],
  ])('%s is refused', async (_name, path, init) => {
    const { archive, gateway } = await api()
    expect(await codeOf(await search(gateway.urlFor(archive.origin + path), init))).toEqual([403, 'REQUEST_REFUSED'])
    expect(archive.sent).toEqual([])
  })

  it('of an origin that nothing allows is refused', async () => {
    const { gateway } = await api()
    expect(await codeOf(await search(`${gateway.base}https/other.example/search`))).toEqual([403, 'NO_CREDENTIAL'])
  })

  it('of a public API that a document names is posted without a credential', async () => {
    const archive = await startArchive({ answer: ({ headers }, response) => response.end(String(headers.authorization)) !== undefined })
    const document = { type: 'Catalog', stac_version: '1.0.0', id: 'api', links: [] }
    const auth = createAuth({ credentials: [], typed: [archive.origin] })
    const gateway = await openGateway(auth, { documents: [{ document, url: archive.origin }] })
    expect(await (await search(gateway.urlFor(`${archive.origin}search`))).text()).toBe('undefined')
  })

  it('that waits for 100 Continue is told to go on only when it is allowed', async () => {
    const { archive, gateway } = await api()
    const { raw } = await import('./origin.ts')
    const head = (path: string) =>
      `POST ${new URL(gateway.urlFor(archive.origin)).pathname}${path} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n'
    expect(await raw(gateway.port, head('search'))).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    expect(await raw(gateway.port, head('other'))).toMatch(/^HTTP\/1\.1 403 /)
  })
})

describe('documents through the gateway', () => {
  const item = (origin: string) =>
    itemWith({ B04: { href: `${origin}a/b.tif` }, logo: { href: 'https://public.example/logo.png' } }, [
      { rel: 'self', href: `${origin}items/scene.json` },
    ])

  async function served(options = {}) {
    const files: Record<string, string> = { '/a/b.tif': 'image' }
    const archive = await startArchive({ files, types: { '/items/scene.json': 'application/geo+json' }, accepts: isToken })
    files['/items/scene.json'] = JSON.stringify(item(archive.origin))
    const gateway = await openGateway(withToken(archive.origin), options)
    return { archive, gateway, url: gateway.urlFor(`${archive.origin}items/scene.json`), text: files['/items/scene.json'] ?? '' }
  }

  it('lead to the gateway, and elsewhere where only a public server answers', async () => {
    const { archive, gateway, url } = await served()
    const response = await fetch(url)
    const text = await response.text()
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
    const document = JSON.parse(text)
    expect(document.assets.B04.href).toBe(gateway.urlFor(`${archive.origin}a/b.tif`))
    expect(document.assets.logo.href).toBe('https://public.example/logo.png')
    expect(await (await fetch(document.assets.B04.href)).text()).toBe('image')
  })

  it('have the same length for HEAD, and the same bytes in parts', async () => {
    const { url } = await served()
    const text = await (await fetch(url)).text()
    const head = await fetch(url, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(text.length))
    const parts: string[] = []
    for (let start = 0; start < text.length; start += 200) {
      const part = await fetch(url, { headers: { range: `bytes=${start}-${start + 199}` } })
      const last = Math.min(start + 200, text.length) - 1
      expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes ${start}-${last}/${text.length}`])
      parts.push(await part.text())
    }
    expect(parts.join('')).toBe(text)
  })

  it('are passed through unchanged with rewrite: false', async () => {
    const { url, text } = await served({ rewrite: false })
    expect(await (await fetch(url)).text()).toBe(text)
  })

  it('that are compressed arrive without the coding', async () => {
    const { gzipSync } = await import('node:zlib')
    const archive = await startArchive({
      answer: (_request, reply) => {
        const body = gzipSync(JSON.stringify(item('https://data.example/')))
        const fields = { 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': body.length }
        reply.writeHead(200, fields).end(body)
        return true
      },
    })
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}x`))
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(await response.json()).toMatchObject({ id: 'scene' })
  })
})

describe('the way of a URL', () => {
  const S = 'https://data.example/'
  /** The routes of an engine whose credentials may be sent to these URLs. */
  const routesOf = (served: readonly GatewayDocument[], ...allowed: readonly string[]) => {
    const service = async (url: string): Promise<Service> => {
      if (allowed.some((start) => url.startsWith(start))) return {} as Service
      throw new SelectionError('NO_CREDENTIAL', 'no credential may be sent there')
    }
    return new Routes({ service }, served)
  }
  /** By which target a URL is requested: its href, its references, and whether it is the target itself; or the code of the refusal. */
  const wayOf = async (routes: Routes, url: string) =>
    routes.route(url).then(
      ({ target, ...way }) => (target ? [target.href, target.refs.join(), 'isExact' in way && way.isExact] : 'sendTo'),
      ({ code }) => code,
    )
  const asset = (href: string, ...refs: string[]) => ({ href, ...(refs.length > 0 && { 'auth:refs': refs }) })
  const documents = (assets: object, url?: string) => [{ document: itemWith(assets), ...(url !== undefined && { url }) }]

  it('below the folder of a target goes by its references, whichever credential has the narrowest sendTo', async () => {
    const { archive, url } = await fixture((authorization) => authorization === `Bearer ${TOKEN}`)
    const wide = { id: 'wide', type: 'http', scheme: 'bearer', token: TOKEN, sendTo: [archive.origin] } as const
    const near = { id: 'near', type: 'apiKey', in: 'header', name: 'x-key', value: 'narrow', sendTo: [url('a/')] } as const
    const document = itemWith({ B04: { href: url('a/b.tif'), 'auth:refs': ['token'] } })
    const gateway = await openGateway(createAuth({ credentials: [wide, near] }), { documents: [{ document }] })
    expect(await (await fetch(gateway.urlFor(url('a/z/0.0')))).text()).toBe('chunk')
    expect(archive.sent[0]?.headers).not.toHaveProperty('x-key')
    expect((await fetch(gateway.urlFor(url('other/x')))).status).toBe(200)
  })

  it('is that of the nearest folder, on the same origin only', async () => {
    const routes = routesOf(
      documents({
        root: asset(`${S}r.tif`, 'one'),
        deep: asset(`${S}a/b/d.tif?x=/y/`, 'two'),
        more: asset(`${S}a/b/e.tif`, 'no'),
        far: asset(`${S}far/away/behind/f`, 'no'),
      }),
    )
    expect(await wayOf(routes, `${S}a/b/d.tif?x=/y/#z`)).toEqual([`${S}a/b/d.tif?x=/y/`, 'two', true])
    expect(await wayOf(routes, `${S}a/b/c/x`)).toEqual([`${S}a/b/c/x`, 'two', false])
    expect(await wayOf(routes, `${S}a/b/`)).toEqual([`${S}a/b/`, 'two', false])
    expect(await wayOf(routes, `${S}a/b//x`)).toEqual([`${S}a/b//x`, 'two', false])
    for (const path of ['', '?q', 'a', 'a/b', 'a/bb/x', 'x/a/b/', '?u=/a/b/c'])
      expect(await wayOf(routes, S + path), path).toEqual([S + path, 'one', false])
    for (const url of [
      'https://data.example:8443/a/b/x',
      'http://data.example/a/b/x',
      'https://x.data.example/a/b/x',
      's3://data.example/a/b/x',
    ])
      expect(await wayOf(routes, url), url).toBe('NO_CREDENTIAL')
  })

  it('is the folder of a bucket, or of a host without a path', async () => {
    const routes = routesOf(documents({ bucket: asset('s3://eo/k', 'one'), host: asset('https://bare.example?x=1', 'two') }))
    expect(await wayOf(routes, 's3://eo/other/k')).toEqual(['s3://eo/other/k', 'one', false])
    expect(await wayOf(routes, 's3://eo2/k')).toBe('NO_CREDENTIAL')
    expect(await wayOf(routesOf(documents({ bucket: asset('s3://eo', 'one') })), 's3://eo/k')).toEqual(['s3://eo/k', 'one', false])
    expect(await wayOf(routes, 'https://bare.example/x/y')).toEqual(['https://bare.example/x/y', 'two', false])
  })

  it.each(['a/..%2fx', 'a/%252e%252e/x', 'a/b%5cx', 'a/..;/x'])(
    'is not that of a folder for %s, which servers read differently',
    async (path) => {
      expect(await wayOf(routesOf(documents({ a: asset(`${S}a/b.tif`, 'one') })), S + path)).toBe('NO_CREDENTIAL')
      expect(await wayOf(routesOf(documents({ a: asset(`${S}a/b.tif`) })), S + path)).toBe('NO_CREDENTIAL')
    },
  )

  it('of a file in a folder with a hundred slashes is found, and not of one with more', async () => {
    const folder = S + 'x/'.repeat(97)
    for (const [path, way] of [
      [folder, [`${folder}new`, 'one', false]],
      [`${folder}y/`, 'NO_CREDENTIAL'],
    ] as const)
      expect(await wayOf(routesOf(documents({ a: asset(`${path}f`, 'one') })), `${path}new`)).toEqual(way)
  })

  it('goes by the references of a URL that several targets name', async () => {
    for (const assets of [
      { a: asset(`${S}f`), b: asset(`${S}f`, 'one') },
      { a: asset(`${S}f`, 'one'), b: asset(`${S}f`) },
      { a: asset(`${S}f`, 'one'), b: asset(`${S}f`, 'two') },
    ])
      expect(await wayOf(routesOf(documents(assets), S), `${S}f`)).toEqual([`${S}f`, 'one', true])
  })

  it('goes by the first target of a URL that says whether a credential is needed', async () => {
    const assets = { a: { ...asset(`${S}f`), 'auth:refs': [] }, b: asset(`${S}f`) }
    expect(await wayOf(routesOf(documents(assets), S), `${S}f`)).toEqual([`${S}f`, '', true])
  })

  it('without a credential is that of targets without references, below their folders too', async () => {
    const routes = routesOf(documents({ a: asset(`${S}open/a.json`), b: asset(`${S}closed/b`, 'one') }), `${S}open/mine/`)
    expect(await wayOf(routes, `${S}open/a.json`)).toEqual([`${S}open/a.json`, '', true])
    expect(await wayOf(routes, `${S}open/b/c`)).toEqual([`${S}open/b/c`, '', false])
    expect(await wayOf(routes, `${S}open/mine/c`)).toBe('sendTo')
    expect(await wayOf(routes, `${S}other/c`)).toBe('NO_CREDENTIAL')
    expect(await Promise.all([`${S}open/a.json`, `${S}open/mine/c`, `${S}other/c`].map((url) => routes.allows(url)))).toEqual([
      true,
      true,
      false,
    ])
  })

  it('without a credential is not opened by links, asset templates, or what cannot be requested', async () => {
    const document = {
      ...itemWith({ nothing: { title: 'no href' }, ftp: asset('ftp://ftp.example/x'), local: asset('x.tif') }, [
        { rel: 'via', href: `${S}links/a` },
      ]),
      item_assets: { template: asset(`${S}template/a`) },
    }
    const routes = routesOf([{ document: { ...document, type: 'Collection' } }])
    expect(await wayOf(routes, `${S}links/a`)).toEqual([`${S}links/a`, '', true])
    for (const path of ['links/b', 'template/a', 'template/b']) expect(await wayOf(routes, S + path), path).toBe('NO_CREDENTIAL')
    expect(routes.targets).toEqual([])
  })

  it('of a document and of what is beside it needs no reference', async () => {
    const routes = routesOf(documents({}, `${S}items/1.json#x`))
    expect(await wayOf(routes, `${S}items/1.json`)).toEqual([`${S}items/1.json`, '', true])
    expect(await wayOf(routes, `${S}items/2.json`)).toEqual([`${S}items/2.json`, '', false])
    expect(await wayOf(routes, S)).toBe('NO_CREDENTIAL')
  })

  it.each(['items/1.json', '/data/1.json', 'file:///data/1.json', 'https://[/1.json', 'https://ada:secret@data.example/1.json', ''])(
    'is not opened by a document that was read from "%s"',
    async (url) => {
      const routes = routesOf(documents({}, url))
      expect(await failureOf(routes.search(`${S}search`))).toMatchObject({ code: 'NO_CREDENTIAL' })
      expect(await wayOf(routes, `${S}2.json`)).toBe('NO_CREDENTIAL')
    },
  )

  it('of a URL that cannot be parsed ends in an error', async () => {
    const routes = routesOf([], S)
    expect(await failureOf(routes.route('https://['))).toMatchObject({ name: 'TrustError', code: 'URL_INVALID' })
    expect(await routes.allows('https://[')).toBe(false)
  })

  it('is not decided by an engine that fails', async () => {
    const routes = new Routes({ service: () => Promise.reject(new Error('broken')) }, documents({ a: asset(`${S}a`) }))
    for (const work of [routes.route(`${S}a`), routes.allows(`${S}a`), routes.search(`${S}search`)])
      expect(await failureOf(work)).toMatchObject({ message: 'broken' })
  })

  it('that is refused by the rules of URLs is told as a URL, with advice where there is some', async () => {
    const routes = new Routes(createAuth({ credentials: [] }), [])
    const insecure = await failureOf(routes.route('http://data.example/x'))
    expect(insecure).toMatchObject({
      code: 'URL_INSECURE',
      message: expect.stringMatching(/^the URL is not/),
      hint: expect.stringMatching(/^use https:,/),
    })
    const invalid = await failureOf(routes.route('https://data.example./x'))
    expect(invalid).toMatchObject({ code: 'URL_INVALID' })
    expect(invalid).not.toHaveProperty('hint')
  })
})

describe('the targets of a list', () => {
  it('have the id of their document, else that of the list, else its URL without the query', () => {
    const item = (id: string | undefined, key: string) => ({ ...itemWith({ [key]: { href: 'https://data.example/x' } }), id })
    const named = (list: object) =>
      new Routes({ service: () => Promise.reject(new Error('not asked')) }, [
        {
          document: { type: 'FeatureCollection', features: [item('one', 'a'), item(undefined, 'b/~c')], ...list },
          url: 'https://api.example/items?key=1',
        },
      ]).targets.map(({ document, key }) => [document, key])
    expect(named({ id: 'list' })).toEqual([
      ['one', 'a'],
      ['list', 'b/~c'],
    ])
    expect(named({})).toEqual([
      ['one', 'a'],
      ['https://api.example/items', 'b/~c'],
    ])
  })

  it('have the keys of the asset and of the alternate', () => {
    const alternate = { 's/3': { href: 's3://eo/x' } }
    const document = itemWith({ 'a~b': { href: 'https://data.example/x', alternate } })
    const { targets } = new Routes({ service: () => Promise.reject(new Error('not asked')) }, [{ document }])
    expect(targets.map(({ key }) => key)).toEqual(['a~b', 'a~b/s/3'])
  })
})

describe('what the documents of a gateway have', () => {
  const document = itemWith(
    {
      good: { href: 'https://data.example/a.tif' },
      local: { href: 'file:///a.tif' },
      relative: { href: './a.tif' },
    },
    [{ rel: 'about', href: 'file:///about' }],
  )
  const routes = new Routes(createAuth({ credentials: [] }), [{ document }])

  it('is listed, with the reasons for what cannot be requested', () => {
    expect(routes.targets.map(({ key }) => key)).toEqual(['good'])
    expect(routes.refused).toStrictEqual([
      {
        document: 'scene',
        key: 'local',
        code: 'URL_SCHEME_FORBIDDEN',
        message: 'the URL of this asset has the scheme "file:"; only https:, s3: and gs: can be authorized',
      },
      {
        document: 'scene',
        key: 'relative',
        code: 'URL_INVALID',
        message: 'the URL of this asset is relative, and the URL of its document is unknown',
        hint: 'give the URL of the document, or a "self" link',
      },
    ])
  })

  it('is found by its URL', () => {
    expect(routes.targetAt('https://data.example/a.tif')?.href).toBe('https://data.example/a.tif')
    expect(routes.targetAt('https://data.example/other.tif')).toBeUndefined()
  })
})

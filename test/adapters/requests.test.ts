import { Asset, Item } from 'stac-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { headersAtOnce, urlAndFetch } from '../../examples/adapters/requests.ts'
import { authorizeWith } from '../../src/adapters/axios.ts'
import { tiffClient } from '../../src/adapters/geotiff.ts'
import { parquetFile } from '../../src/adapters/hyparquet.ts'
import { mapRequests } from '../../src/adapters/maplibre.ts'
import { stacLayerOptions } from '../../src/adapters/ol-stac.ts'
import { geoTiffSource, pictureLoader } from '../../src/adapters/openlayers.ts'
import { type Given, type GivenOptions, requestsFor } from '../../src/adapters/requests.ts'
import { authorizedQueries } from '../../src/adapters/stac-react.ts'
import { zarrStore } from '../../src/adapters/zarrita.ts'
import type { Auth } from '../../src/auth/auth.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import { basic, bearer } from '../../src/auth/credential.ts'
import { assetOf, linkOf } from '../../src/stac/target.ts'
import { canary, leaks, shown } from '../harness/canary.ts'
import { asset, found, item, scheme } from '../harness/documents.ts'
import { thrownBy } from '../harness/failure.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { bearerGuard } from '../servers/guards.ts'
import { keepsTheGrant } from './grant.ts'

const secret = canary('token')

keepsTheGrant({
  files: { 'a.txt': 'text' },
  name: 'a.txt',
  read: async (auth, target) => {
    const [url, { fetch }] = urlAndFetch(auth, target)
    return (await fetch(url)).text()
  },
  expected: 'text',
})

describe('what an adapter is given', () => {
  const URL_OF = 'https://data.example/a.tif'
  const auth = createAuth({
    credentials: [bearer('wide', 'https://data.example/'), basic('ada', 'narrow', 'https://data.example/a.tif')],
  })
  const document = item({ k: scheme.bearer }, { data: asset('./a.tif') }, { links: [{ rel: 'xyz', href: './a.tif', 'auth:refs': ['k'] }] })
  const url = 'https://data.example/item.json'
  const object = new Item(document, url)
  beforeAll(() => auth.ready())

  const NARROW = `Basic ${Buffer.from('ada:narrow').toString('base64')}`
  const WIDE = 'Bearer wide'
  const given: readonly (readonly [what: string, given: Given | undefined, sent: string | undefined])[] = [
    ['a URL as text', URL_OF, NARROW],
    ['a URL', new URL(URL_OF), NARROW],
    ['a target of an asset', assetOf(document, 'data', { url }), WIDE],
    ['a target of a link', linkOf(document, 'xyz', { url }), WIDE],
    ['an Asset of stac-js', object.getAsset('data') ?? undefined, WIDE],
    ['a Link of stac-js', object.links[0], WIDE],
    ['an asset with its own schemes', { ...asset(URL_OF), href: URL_OF, 'auth:schemes': { k: scheme.bearer } }, WIDE],
    ['a link with its own schemes', { rel: 'xyz', href: URL_OF, 'auth:refs': ['k'], 'auth:schemes': { k: scheme.bearer } }, WIDE],
    ['an asset without references', { href: URL_OF }, undefined],
    ['an Asset of stac-js outside a document', new Asset({ href: URL_OF }), undefined],
  ]

  it.each(given)('is %s: its URL and its credential', (_what, target, sent) => {
    const { url: href, peek } = requestsFor(auth, target)
    expect(href).toBe(URL_OF)
    expect(peek()?.headers.authorization).toBe(sent)
  })

  it('has URLs below it, with the credential for each', () => {
    const { peek } = requestsFor(auth, 'https://data.example/')
    expect(peek('https://data.example/b.tif')?.headers).toEqual({ authorization: WIDE })
    expect(peek(URL_OF)?.headers).toEqual({ authorization: NARROW })
  })

  it.each([
    ['nothing', undefined, 'TARGET_NOT_FOUND', 'see targetsOf'],
    ['an asset whose schemes are in its document', asset(URL_OF), 'TARGET_NOT_FOUND', 'use assetOf'],
    ['an object without URL', {}, 'TARGET_NOT_FOUND', 'use assetOf'],
    ['a relative URL', 'a.tif', 'URL_INVALID', 'absolute'],
    ['a relative asset', { href: 'a.tif' }, 'URL_INVALID', 'the URL of the document'],
    ['a URL of a program', 'file:///a', 'URL_SCHEME_FORBIDDEN', 'absolute'],
    ['a URL with a password', 'https://ada:b@data.example/', 'URL_HAS_USERINFO', 'absolute'],
  ])('is refused when it is %s', (_what, wrong, code, hint) => {
    expect(thrownBy(() => requestsFor(auth, wrong as Given))).toMatchObject({ code, hint: expect.stringContaining(hint) })
  })

  it('is refused by the engine when a link wants to choose more of the request', async () => {
    const link = { rel: 'data', href: URL_OF, 'auth:refs': ['k'], 'auth:schemes': { k: scheme.bearer }, method: 'POST', body: {} }
    expect(thrownBy(() => requestsFor(auth, link))).toMatchObject({ code: 'LINK_REQUEST_FORBIDDEN' })
  })
})

/** Requests a URL by an adapter that was given another one, or a target for it. */
const readers: Readonly<Record<string, (auth: Auth, given: Given, url: string, options?: GivenOptions) => unknown>> = {
  axios: async (auth, given, url, options) => {
    const client = (await import('axios')).default.create()
    client.interceptors.request.use(authorizeWith(auth, given, options))
    return client.get(url)
  },
  geotiff: (auth, given, _url, options) => tiffClient(auth, given, undefined, options).request(),
  hyparquet: (auth, given, _url, options) => parquetFile(auth, given, options),
  maplibre: async (auth, given, url, options) => {
    const { transformRequest, load } = mapRequests(auth, given, options)
    const transformed = transformRequest(url)
    return transformed ? load(transformed, new AbortController()) : fetch(url)
  },
  'ol-stac': (auth, _given, url, options) => stacLayerOptions(auth, options).httpRequestFn(url),
  openlayers: (auth, given, url, options) => geoTiffSource(auth, given, undefined, options).loader(url, {}, new AbortController().signal),
  pictures: (auth, given, url, options) =>
    new Promise((resolve) => {
      const image = Object.defineProperty(new EventTarget(), 'src', { set: resolve })
      pictureLoader(auth, given, resolve, options)({ getImage: () => image, setState: () => {} }, url)
    }),
  requests: (auth, given, url, options) => requestsFor(auth, given, options).fetch(url),
  peeked: async (auth, given, url) => {
    await auth.ready()
    const request = requestsFor(auth, given).peek(url)
    return fetch(request?.url ?? url, request && { headers: request.headers })
  },
  zarrita: async (auth, given, url, options) => {
    const [, { fetch }] = zarrStore(auth, given, options)
    return fetch(new Request(url))
  },
}

describe('a credential that needs a login', () => {
  let archive: AnsweringServer
  beforeAll(async () => {
    archive = await startAnswering(({ path }) => (path === '/public' ? { status: 200, body: '{}' } : { status: 401 }))
  })
  afterAll(() => archive.close())

  const engine = (anonymous?: 'allow') => {
    const { origin } = archive
    const flow = { flow: 'authorizationCode', clientId: 'c', authorizationUrl: `${origin}/a`, tokenUrl: `${origin}/t` } as const
    return createAuth({ credentials: [{ id: 'login', type: 'oauth2', ...flow, sendTo: [`${origin}/`] }], ...(anonymous && { anonymous }) })
  }
  /** What is read, or the error; libraries return some errors. */
  const outcome = async (name: string, auth: Auth, path: string, options?: GivenOptions) => {
    const url = archive.origin + path
    const read = Promise.resolve(readers[name]?.(auth, url, url, options))
    const result = await read.catch((error: unknown) => error)
    return result instanceof Error ? (result as { code?: string }).code : 'read'
  }

  it('stac-react reads a public API without it, if that is allowed', async () => {
    const queries = { setQueryDefaults: () => {}, setQueryData: () => {} }
    const read = (path: string) => authorizedQueries(engine('allow'), archive.origin + path, queries)
    expect(await read('/public')).toBe(queries)
    await expect(read('/closed')).rejects.toMatchObject({ code: 'LOGIN_REQUIRED' })
  })

  it.each(Object.keys(readers).filter((name) => name !== 'peeked'))(
    '%s reads public files without it, if that is allowed',
    async (name) => {
      for (const [auth, options] of [[engine('allow')], [engine(), { anonymous: 'allow' }]] as const) {
        expect(await outcome(name, auth, '/public', options)).toBe('read')
        expect(await outcome(name, auth, '/closed', options)).toBe('LOGIN_REQUIRED')
      }
      const before = archive.exchanges.length
      expect(await outcome(name, engine(), '/public')).toBe('LOGIN_REQUIRED')
      expect(await outcome(name, engine('allow'), '/public', { anonymous: 'refuse' })).toBe('LOGIN_REQUIRED')
      expect(archive.exchanges.length).toBe(before)
    },
  )
})

describe('the leak matrix', () => {
  let archive: AnsweringServer
  let stranger: AnsweringServer
  beforeAll(async () => {
    stranger = await startAnswering(() => ({ status: 200, body: '{}' }))
    const guard = bearerGuard((text) => text === secret.value)
    archive = await startAnswering((request) => {
      const refusal = guard(request)
      if (refusal || !request.path.startsWith('/moved')) return refusal ?? { status: 200, body: '{}' }
      return { status: Number(request.query.get('status')), headers: { location: `${stranger.origin}/taken` } }
    })
  })
  afterAll(() => Promise.all([archive.close(), stranger.close()]))

  const engine = () =>
    createAuth({
      credentials: [bearer(secret.value, `${archive.origin}/`)],
      typed: [stranger.origin, stranger.origin.replace('127.0.0.1', 'localhost')],
    })
  const received = () => shown(stranger.exchanges.map(({ request }) => [request.target, request.headers, request.body]))
  const inDocument = (href: string): Given =>
    found(assetOf(item({ k: scheme.bearer }, { data: asset(href) }), 'data', { url: `${archive.origin}/item.json` }))

  /** URLs that belong to the stranger and resemble those of the archive, or lead from the archive to the stranger. */
  const hostile = (): readonly string[] => {
    const port = new URL(stranger.origin).port
    const host = new URL(archive.origin).host
    return [
      `${stranger.origin}/`,
      `${stranger.origin}/${host}/`,
      `http://localhost:${port}/`,
      `${stranger.origin}/?${archive.origin}/`,
      `${stranger.origin}/#${archive.origin}/`,
      `http://${host}@127.0.0.1:${port}/`,
      `http://127.0.0.1:${port}\\@${host}/`,
      `http://127.1:${port}/`,
      `http://0x7f000001:${port}/`,
      ...[301, 302, 303, 307, 308].map((status) => `${archive.origin}/moved?status=${status}`),
    ]
  }

  it.each(Object.keys(readers))('%s sends nothing to look-alikes, other ports and targets of redirects', async (name) => {
    const read = found(readers[name])
    const opened = archive.exchanges.length
    const auth = engine()
    await read(auth, `${archive.origin}/a`, `${archive.origin}/a`)
    expect(archive.exchanges.slice(opened).some(({ answer }) => answer.status === 200) || name === 'hyparquet').toBe(true)
    const before = stranger.exchanges.length
    for (const url of hostile()) {
      for (const given of [url, { href: url }, inDocument(url), `${archive.origin}/a`] as const) {
        const outcome = await Promise.resolve()
          .then(() => read(auth, given, url))
          .catch((error: unknown) => error)
        expect(leaks([secret], { outcome: outcome instanceof Error ? shown(outcome) : '' })).toEqual([])
      }
    }
    expect(stranger.exchanges.length).toBeGreaterThan(before)
    expect(leaks([secret], { stranger: received() })).toEqual([])
  })

  it('would notice a leak', async () => {
    await fetch(`${stranger.origin}/?${secret.value}`)
    expect(leaks([secret], { stranger: received() })).not.toEqual([])
  })
})

describe('a library without redirects of its own', () => {
  it('gets no error for a URL of another origin', async () => {
    const auth = createAuth({ credentials: [bearer('t', 'https://data.example/')] })
    await auth.ready()
    const { peek } = requestsFor(auth, 'https://data.example/')
    for (const url of [
      'https://other.example/',
      'https://data.example.evil.example/',
      'https://data.example:444/',
      'blob:https://data.example/1',
    ])
      expect(peek(url)).toBeUndefined()
  })

  it('waits for a token that must be obtained', async () => {
    let asked = 0
    const token = () => {
      asked++
      return 'later'
    }
    const auth = createAuth({ credentials: [bearer(token, 'https://data.example/')] })
    await auth.ready()
    expect(headersAtOnce(auth, 'https://data.example/')).toBeUndefined()
    expect(asked).toBe(0)
  })
})

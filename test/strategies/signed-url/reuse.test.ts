import { describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { scheme, target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { type Reply, script } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { createCloudFront, createSas, type FolderSigner } from '../../servers/storage-signatures.ts'

const NOW = Date.UTC(2026, 0, 1)
const API = 'https://sign.example/sign'
const STORE = 'https://archive.blob.core.windows.net'

interface Setting {
  readonly host?: string
  readonly signer?: FolderSigner
  /** The folder that the API signs for an address. */
  readonly folder?: (pathname: string) => string
  readonly entry?: Record<string, unknown>
  /** A path at which there is nothing. */
  readonly missing?: string
  /** A last word of the signing API. */
  readonly api?: (href: string, call: number) => Reply | undefined
}

/** An account whose key is changed. */
const rotating = (key: () => string): FolderSigner => ({
  query: (folder, life) => createSas(key(), () => NOW).query(folder, life),
  statusOf: (address) => createSas(key(), () => NOW).statusOf(address),
})

const container = (pathname: string) => `/${pathname.split('/')[1]}/`

/** A store that checks signatures, its signing API and an engine that uses both. */
function setUp({ host = STORE, signer, folder = container, entry, missing, api }: Setting = {}) {
  let time = NOW
  const now = () => time
  const sas = signer ?? createSas('key of the account', now)
  const calls: string[] = []
  const servers = script(({ url }) => {
    if (!url.startsWith(`${API}?`)) return { status: new URL(url).pathname === missing ? 403 : sas.statusOf(url), body: 'data' }
    const href = new URL(url).searchParams.get('href') ?? ''
    calls.push(href)
    return api?.(href, calls.length) ?? { body: { href: `${href}?${sas.query(folder(new URL(href).pathname))}` } }
  })
  const credential = { type: 'signedUrl', id: 'sas', authorizationApi: API, method: 'GET', signedUrlHosts: `${host}/`, ...entry }
  const auth = createAuth({ credentials: unchecked(credential), transport: servers.send, clock: { now } })
  const wanted = (path: string, members = {}) => target(scheme.signed(API), `${host}${path}`, members)
  const pass = (milliseconds: number) => {
    time += milliseconds
  }
  return { auth, calls, servers, wanted, pass }
}

describe('a signature that covers a container', () => {
  it('a signature that covers a container is requested once for a thousand parallel assets', async () => {
    const { auth, calls, wanted } = setUp()
    const statuses = await Promise.all(
      Array.from({ length: 1000 }, async (_, index) => (await auth.fetch(wanted(`/scenes/${index}/B04.tif`))).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(calls).toHaveLength(1)
    expect(auth.peek(wanted('/scenes/later.tif'))?.url).toMatch(/^https:\/\/archive\.blob\.core\.windows\.net\/scenes\/later\.tif\?sv=/)
  })

  it('a signature that covers a container is requested once per container and account', async () => {
    const { auth, calls, wanted } = setUp({ entry: { signedUrlHosts: 'https://*.blob.core.windows.net/' } })
    const paths = ['/a/1', '/b/1', '/a/2', '/b/2', '/c/1', '/a-b/1']
    for (const path of paths) expect((await auth.fetch(wanted(path))).status).toBe(200)
    expect(calls.map((href) => new URL(href).pathname)).toEqual(['/a/1', '/b/1', '/c/1', '/a-b/1'])
    const other = { ...wanted('/a/3'), href: 'https://other.blob.core.windows.net/a/3' }
    await auth.fetch(other)
    expect(calls).toHaveLength(5)
  })

  it('a signature that covers a container is refreshed by one of a thousand 30 s before its end', async () => {
    const { auth, calls, wanted, pass } = setUp()
    await auth.authorize(wanted('/a/0'))
    pass(3_569_000)
    await auth.authorize(wanted('/a/1'))
    expect(calls).toHaveLength(1)
    pass(1_000)
    await Promise.all(Array.from({ length: 1000 }, (_, index) => auth.fetch(wanted(`/a/${index}`))))
    expect(calls).toHaveLength(2)
  })

  it('a signature that covers a container of a directory serves that directory, and no neighbour', async () => {
    const { auth, calls, wanted } = setUp({ folder: (pathname) => `${pathname.split('/').slice(0, 3).join('/')}/` })
    const paths = ['/c/d/1', '/c/d/x/2', '/c/e/1', '/c/e/2', '/c/de/1']
    for (const path of paths) expect((await auth.fetch(wanted(path))).status).toBe(200)
    expect(calls.map((href) => new URL(href).pathname)).toEqual(['/c/d/1', '/c/e/1', '/c/de/1'])
  })

  it('a signature that covers a container of CloudFront serves the folder of its policy', async () => {
    const host = 'https://d111111abcdef8.cloudfront.net'
    const signer = createCloudFront('d111111abcdef8.cloudfront.net', () => NOW)
    const { auth, calls, wanted } = setUp({ host, signer, folder: () => '/lp/protected/' })
    for (const path of ['/lp/protected/1', '/lp/protected/x/2']) expect((await auth.fetch(wanted(path))).status).toBe(200)
    expect(calls).toHaveLength(1)
    expect(await failureOf(auth.fetch(wanted('/lp/other')))).toMatchObject({ code: 'AUTH_REJECTED' })
    expect((await auth.authorize(wanted('/lp/protected/3'))).expiresAt).toBe('2026-01-01T01:00:00.000Z')
  })

  it.each([
    ['an address with a query of its own', '/a/2?snapshot=2026'],
    ['a path that servers read in two ways', '/a/..%2fb/2'],
    ['another container', '/ab/2'],
  ])('a signature that covers a container is not put on %s', async (_name, path) => {
    const { auth, calls, wanted } = setUp()
    await auth.authorize(wanted('/a/1'))
    await auth.authorize(wanted(path))
    expect(calls).toHaveLength(2)
  })

  it('a signature that covers a container is not put where signedUrlHosts does not reach', async () => {
    const { auth, calls, wanted } = setUp({ entry: { signedUrlHosts: `${STORE}/a/open/`, sendTo: `${STORE}/a/` } })
    await auth.authorize(wanted('/a/open/1'))
    expect(await failureOf(auth.authorize(wanted('/a/closed/1')))).toMatchObject({ code: 'SIGNED_URL_FORBIDDEN' })
    expect(calls).toHaveLength(2)
  })

  it('a signature that covers a container is asked for per URL where the credential says so', async () => {
    const { auth, calls, wanted } = setUp({ entry: { reuse: 'address' } })
    for (const path of ['/a/1', '/a/2', '/a/1']) await auth.fetch(wanted(path))
    expect(calls).toHaveLength(2)
  })

  it('a signature that covers a container is not shared by calls that were told different things', async () => {
    const { auth, calls, wanted } = setUp({ entry: { parameters: { who: 'me' } } })
    const parameters = { href: { in: 'query', required: true }, who: { in: 'query', required: false } }
    await auth.authorize(wanted('/a/1'))
    await auth.authorize({ ...target(scheme.signed(API, { parameters }), `${STORE}/a/2`) })
    expect(calls).toHaveLength(2)
  })

  it('a signature that covers a container is not given up because one URL below it is refused', async () => {
    const { auth, calls, wanted } = setUp({ missing: '/a/gone' })
    await auth.fetch(wanted('/a/1'))
    expect(await failureOf(auth.fetch(wanted('/a/gone')))).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(calls).toHaveLength(2)
    expect((await auth.fetch(wanted('/a/2'))).status).toBe(200)
    expect(calls).toHaveLength(2)
  })

  it('a signature that covers a container is given up when a new one opens what it no longer does', async () => {
    let key = 'first'
    const { auth, calls, wanted } = setUp({ signer: rotating(() => key) })
    await auth.fetch(wanted('/a/1'))
    key = 'second'
    for (const path of ['/a/2', '/a/3', '/a/4', '/a/2']) expect((await auth.fetch(wanted(path))).status).toBe(200)
    expect(calls.map((href) => new URL(href).pathname)).toEqual(['/a/1', '/a/2', '/a/3'])
  })

  it('does not make the failure of one URL that of others', async () => {
    const { auth, wanted } = setUp({ api: (_href, call) => (call === 1 ? { status: 404 } : undefined) })
    const [first, ...others] = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const response = auth.fetch(wanted(`/a/${index}`))
        return response.then(({ status }) => status).catch(({ code }) => code)
      }),
    )
    expect(first).toBe('HTTP_404')
    expect(new Set(others)).toEqual(new Set([200]))
  })
})

describe('what lies below an asset', () => {
  it('what lies below an asset is opened by the signature of the asset, requested once', async () => {
    const { auth, calls, wanted } = setUp()
    const fetch = auth.fetchFor(wanted('/era5/t2m.zarr'))
    const keys = ['.zmetadata', ...Array.from({ length: 200 }, (_, index) => `t2m/${index}.0.0`)]
    const statuses = await Promise.all(keys.map(async (key) => (await fetch(`${STORE}/era5/t2m.zarr/${key}`)).status))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(calls).toEqual([`${STORE}/era5/t2m.zarr`])
  })

  it('files below an asset are refused when the signature covers only the asset, without a call per key', async () => {
    const { auth, calls, servers, wanted } = setUp({ api: (href) => ({ body: { href: `${href}?sv=1&sr=b&sig=x` } }) })
    const fetch = auth.fetchFor(wanted('/era5/t2m.zarr'))
    for (const key of ['.zmetadata', 't2m/0', 't2m/1', 't2m/2']) {
      expect(await failureOf(fetch(`${STORE}/era5/t2m.zarr/${key}`))).toMatchObject({ code: 'SCHEME_UNSUPPORTED', credential: 'sas' })
    }
    expect(calls.length).toBeLessThanOrEqual(2)
    expect(servers.to('archive.blob.core.windows.net')).toEqual([])
  })

  it('what lies below an asset is refused where the credential requires a signature per URL', async () => {
    const { auth, wanted } = setUp({ entry: { reuse: 'address' } })
    const fetch = auth.fetchFor(wanted('/era5/t2m.zarr/'))
    expect(await failureOf(fetch(`${STORE}/era5/t2m.zarr/.zgroup`))).toMatchObject({ code: 'SCHEME_UNSUPPORTED' })
  })

  it('what lies below an asset is the asset itself for ranges, and a file of its own beside it', async () => {
    const { auth, calls, wanted } = setUp({ entry: { reuse: 'address' } })
    const fetch = auth.fetchFor(wanted('/a/b.tif'))
    expect((await fetch(`${STORE}/a/b.tif`, { headers: { range: 'bytes=0-9' } })).status).toBe(200)
    expect((await fetch(`${STORE}/a/b.tif.ovr`)).status).toBe(200)
    expect(calls).toEqual([`${STORE}/a/b.tif`, `${STORE}/a/b.tif.ovr`])
  })

  it('what lies below an asset that is refused is signed again once, when the signature is not fresh', async () => {
    let key = 'first'
    const { auth, calls, wanted, pass } = setUp({ signer: rotating(() => key) })
    const fetch = auth.fetchFor(wanted('/era5/t2m.zarr'))
    await fetch(`${STORE}/era5/t2m.zarr/0`)
    key = 'second'
    expect(await failureOf(fetch(`${STORE}/era5/t2m.zarr/1`))).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(calls).toHaveLength(1)
    pass(60_000)
    expect((await fetch(`${STORE}/era5/t2m.zarr/1`)).status).toBe(200)
    expect((await fetch(`${STORE}/era5/t2m.zarr/2`)).status).toBe(200)
    expect(calls).toHaveLength(2)
  })
})

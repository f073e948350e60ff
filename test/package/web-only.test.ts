import vm from 'node:vm'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from '../architecture/files.ts'

/** The globals of every browser that the library may use, and nothing that only Node has. */
const WEB = {
  AbortController,
  AbortSignal,
  Blob,
  Headers,
  ReadableStream,
  Request,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  atob,
  btoa,
  clearTimeout,
  crypto,
  performance,
  setTimeout,
}

const ITEM = {
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
  id: 'a',
  geometry: null,
  properties: {
    datetime: '2026-01-01T00:00:00Z',
    'auth:schemes': {
      token: { type: 'http', scheme: 'bearer' },
      key: { type: 'apiKey', in: 'query', name: 'key' },
      bucket: { type: 's3' },
    },
  },
  links: [],
  assets: {
    token: { href: 'https://data.example/a.tif', 'auth:refs': ['token'] },
    key: { href: 'https://keys.example/a.tif?b=1', 'auth:refs': ['key'] },
    bucket: { href: 's3://pictures/a.tif', 'auth:refs': ['bucket'] },
    refused: { href: 'https://other.example/a.tif', 'auth:refs': ['token'] },
  },
}

const CATALOG = JSON.stringify({ type: 'Catalog', links: ['item.json', 'page.html'].map((href) => ({ rel: 'item', href })) })

const PROGRAM = `
import { assetOf, bearer, createAuth } from 'stac-auth'
import { lint } from 'stac-auth/lint'
import { crawl, sendWith } from 'stac-auth/crawl'

const auth = createAuth({ credentials: [
  bearer(async () => 'token-1', 'https://data.example/'),
  { id: 'key', type: 'apiKey', in: 'query', name: 'key', value: 'a key', sendTo: 'https://keys.example/' },
  { id: 'bucket', type: 's3', accessKeyId: 'AKID', secretAccessKey: 'secret', region: 'eu-central-1', sendTo: 's3://pictures/' },
] })
const authorized = (key) => auth.authorize(assetOf(item, key)).then(
  ({ url, headers }) => ({ url, authorization: headers.authorization }),
  ({ name, code, pointer }) => ({ name, code, pointer }),
)
const walked = async () => {
  const found = []
  for await (const visit of crawl({ start: ['https://data.example/catalog.json'], send: sendWith(auth.fetch) }))
    found.push([visit.job.url, visit.document?.type, visit.outcome.failure?.code])
  return found
}
globalThis.results = (async () => ({
  token: await authorized('token'),
  key: await authorized('key'),
  bucket: await authorized('bucket'),
  refused: await authorized('refused'),
  sent: (await auth.fetch(assetOf(item, 'token'))).status,
  problems: lint(item).map(({ code }) => code),
  crawled: await walked(),
}))()
`

/** The published code as a browser runs it: bundled, with the web's globals only. */
describe('without anything of Node', () => {
  const requests: { url: string; authorization: string | null }[] = []
  let results: Record<string, unknown> = {}

  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: { contents: PROGRAM, resolveDir: root },
      bundle: true,
      format: 'iife',
      platform: 'browser',
      target: 'es2022',
      write: false,
      logLevel: 'silent',
    })
    const fetch = async (url: string | URL | Request, init?: RequestInit) => {
      const request = new Request(url, init)
      requests.push({ url: request.url, authorization: request.headers.get('authorization') })
      const text = request.url.endsWith('catalog.json') ? CATALOG : request.url.endsWith('item.json') ? JSON.stringify(ITEM) : 'bytes'
      return new Response(text, { status: 200 })
    }
    const context = vm.createContext({ ...WEB, fetch, item: ITEM })
    vm.runInContext(outputFiles[0]?.text ?? '', context)
    results = await context.results
  })

  it('puts a token into its header', () => {
    expect(results.token).toEqual({ url: 'https://data.example/a.tif', authorization: 'Bearer token-1' })
  })

  it('puts a key into the address', () => {
    expect(results.key).toMatchObject({ url: 'https://keys.example/a.tif?b=1&key=a%20key' })
  })

  it('signs for an object store with the hashes of the web', () => {
    expect(results.bucket).toMatchObject({
      url: 'https://pictures.s3.eu-central-1.amazonaws.com/a.tif',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/s3\/aws4_request, SignedHeaders=.*, Signature=[0-9a-f]{64}$/,
      ),
    })
  })

  it('refuses what it refuses everywhere', () => {
    expect(results.refused).toEqual({ name: 'SelectionError', code: 'CREDENTIAL_TARGET_UNTRUSTED', pointer: '/assets/refused/href' })
  })

  it('fetches, and only what was requested', () => {
    expect(results.sent).toBe(200)
    expect(requests[0]).toEqual({ url: 'https://data.example/a.tif', authorization: 'Bearer token-1' })
    expect(requests.filter(({ url }) => !/\/(?:a\.tif|catalog\.json|item\.json|page\.html)$/.test(url))).toEqual([])
  })

  it('crawls with the credentials that each URL is allowed', () => {
    expect(results.crawled).toEqual([
      ['https://data.example/catalog.json', 'Catalog', undefined],
      ['https://data.example/item.json', 'Feature', undefined],
      ['https://data.example/page.html', undefined, 'DOC_NOT_JSON'],
    ])
    expect(requests.every(({ authorization }) => authorization === 'Bearer token-1')).toBe(true)
  })

  it('lints', () => {
    expect(results.problems).toEqual(['s3-without-storage'])
  })
})

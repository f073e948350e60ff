/** Adapters in three browsers: look-alikes of the archive, other ports and paths, and redirects; no secret reaches any of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AnsweringServer, Inquiry } from '../servers/answering-server.ts'
import { type InPage, usePages } from './in-page.ts'
import { scriptOf } from './page-script.ts'
import { png, startHoldings, startSite } from './page-server.ts'

const KINDS = ['bearer', 'basic', 'key in a header', 'key in the query'] as const
const ADAPTERS = ['requests', 'axios', 'zarrita', 'hyparquet', 'geotiff', 'openlayers', 'maplibre']
const HEADERS = 'authorization, x-archive-key, range'
const SECRET = 'Zq7secret'
/** As it stands in a request: as it is, and in the base64 of Basic. */
const FORMS = [SECRET, Buffer.from(`ada:${SECRET}`).toString('base64')]

let site: AnsweringServer
let archive: AnsweringServer
let stranger: AnsweringServer

beforeAll(async () => {
  const page = '<!doctype html><meta charset="utf-8"><script src="/probe.js"></script>'
  const script = await scriptOf('test/peers/adapter-leaks-in-page.ts')
  site = await startSite({ '/': { type: 'text/html', body: page }, '/probe.js': { type: 'text/javascript', body: script } }, () => ({
    status: 405,
  }))
  const files = { '/tile': { type: 'image/png', body: png(16) }, '/other.png': { type: 'image/png', body: png(16) } }
  stranger = await startHoldings({ files, allows: { origin: site.origin, headers: HEADERS } })
  archive = await startHoldings({ files, moved: stranger.origin, allows: { origin: site.origin, headers: HEADERS } })
}, 60_000)
afterAll(() => Promise.all([site.close(), archive.close(), stranger.close()]))
beforeEach(() => {
  for (const { exchanges } of [archive, stranger]) (exchanges as unknown[]).length = 0
})

/** URLs of others than those that may have the secret, and how each resembles them. */
function strangers(): Readonly<Record<string, string>> {
  const { host, port } = new URL(archive.origin)
  const other = stranger.origin
  return {
    'another port': `${other}/tiles/1.png`,
    'another name of the host': `http://localhost:${port}/tiles/2.png`,
    'a name that begins with that of the host': `http://127.0.0.1.localhost:${port}/tiles/7.png`,
    'a name that ends in that of the host': `http://a.localhost:${port}/tiles/8.png`,
    'another path': `${archive.origin}/other.png`,
    'a path that begins alike': `${archive.origin}/tilesets/3.png`,
    'a path that leaves the folder': `${archive.origin}/tiles/../other.png`,
    'a path that leaves the folder, encoded': `${archive.origin}/tiles/%2e%2e/other.png`,
    'the archive as the user name': other.replace('//', `//${host}@`),
    'the archive in the path': `${other}/${archive.origin}/tiles/4.png`,
    'the archive in the query': `${other}/tiles/5.png?u=${archive.origin}/tiles/`,
    'a redirect to another host': `${archive.origin}/moved/6.png`,
  }
}

/** Requests that carry the secret, by method, host and path. */
function carrying(server: AnsweringServer): readonly string[] {
  return server.exchanges
    .filter(({ request }) => isCarrying(request))
    .map(({ request }) => `${request.method} ${request.headers.host}${request.path}`)
}

function isCarrying(request: Inquiry): boolean {
  return FORMS.some((form) => JSON.stringify(request).includes(form))
}

/** Adapters that sent such requests to a server, each once. */
function askers(server: AnsweringServer, isMeant: (request: Inquiry) => boolean): readonly string[] {
  const names = server.exchanges.flatMap(({ request }) =>
    request.method === 'GET' && isMeant(request) ? (request.query.get('by') ?? []) : [],
  )
  return [...new Set(names)].sort()
}

describe.each(usePages('Chromium', 'Firefox', 'WebKit'))('adapters in %s', (_name, open) => {
  async function opened(): Promise<InPage> {
    const page = await open()
    await page.goto(`${site.origin}/`)
    return page
  }

  it.each(KINDS)(
    'send a %s to the archive, and to nobody who resembles it',
    async (kind) => {
      const page = await opened()
      const urls = [`${archive.origin}/tiles/0.png`, ...Object.values(strangers())]
      await page.run(`probe(${JSON.stringify(kind)}, '${SECRET}', '${archive.origin}', ${JSON.stringify(urls)})`)
      const { host } = new URL(archive.origin)
      // A request before the request (CORS) has the same URL.
      const ours = new RegExp(`^(?:GET|OPTIONS) ${host}/(?:tiles|moved)/`)
      expect(carrying(archive).filter((line) => !ours.test(line))).toEqual([])
      expect(carrying(stranger)).toEqual([])
      // Every adapter reached the archive with the secret, and strangers without it, or the test would prove nothing.
      expect(askers(archive, isCarrying)).toEqual([...ADAPTERS].sort())
      expect(askers(stranger, () => true)).toEqual([...ADAPTERS].sort())
    },
    60_000,
  )

  it('an adapter that adds the secret to everything is noticed', async () => {
    const page = await opened()
    const urls = JSON.stringify(Object.values(strangers()))
    await page.run(`(addCareless('${SECRET}'), probe('bearer', '${SECRET}', '${archive.origin}', ${urls}))`)
    expect(askers(stranger, isCarrying)).toEqual(['careless'])
    expect(askers(archive, (request) => isCarrying(request) && request.headers.host !== new URL(archive.origin).host)).toEqual(['careless'])
  }, 60_000)

  it('the servers notice a program that does not look where it sends', async () => {
    const page = await opened()
    await page.run(`leak('${SECRET}', '${stranger.origin}/tiles/1.png')`)
    expect(carrying(stranger)).toHaveLength(4)
  })
})

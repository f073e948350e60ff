import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from '../folder.ts'
import { itemWith } from '../items.ts'
import { run } from '../run.ts'
import { eventsIn, filesIn } from './fixture.ts'

const TOKEN = 'right-right-right'
const PAST = '2026-01-01T00:00:00Z'
const DATA = Buffer.from('II*\0the file')

/** Seconds for which the API signs, and what it has signed; a catalog that is served again has new signatures. */
let lifetime = 3600
let reads = 0
const asked: { url: string; authorization: string | undefined }[] = []

const server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
afterAll(() => server.close())
const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`

/** An Azure signature, which ends at that time. */
const sas = (path: string, end: Date | string) =>
  `${origin}${path}?sv=2022-11-02&sr=b&sp=r&se=${typeof end === 'string' ? end : end.toISOString()}&sig=c2lnbmF0dXJl`

function catalogItem(id: string, end: Date | string): object {
  return {
    ...itemWith(
      { a: { href: sas('/files/a.tif', end) }, b: { href: sas('/files/b.tif', end) } },
      { schemes: {}, links: [{ rel: 'self', href: `${origin}/items/${id}.json` }] },
    ),
    id,
  }
}

function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  asked.push({ url, authorization: headers.authorization })
  const { pathname, searchParams } = new URL(url, origin)
  const json = (value: unknown) => response.writeHead(200, { 'content-type': 'application/geo+json' }).end(JSON.stringify(value))
  if (pathname.startsWith('/files/')) {
    if (headers.authorization !== undefined) return void response.writeHead(400).end()
    if (!(Date.parse(searchParams.get('se') ?? '') > Date.now())) return void response.writeHead(403).end()
    return void response.writeHead(200, { 'content-length': DATA.length }).end(DATA)
  }
  reads++
  const end = reads === 1 ? PAST : new Date(Date.now() + lifetime * 1000)
  if (pathname === '/search') json({ type: 'FeatureCollection', features: [catalogItem('one', end)], links: [] })
  else if (pathname.startsWith('/items/')) json(catalogItem(/([^/]*)\.json$/.exec(pathname)?.[1] ?? '', end))
  else response.writeHead(404).end()
}

const folder = await temporaryFolder()
/** A credential that covers the server: it is never sent to a signed URL. */
const credentials = await put(folder, 'credentials.json', {
  version: 1,
  credentials: [{ id: 'archive', type: 'http', scheme: 'bearer', token: { env: 'STAC_AUTH_TEST_TOKEN' }, sendTo: [`${origin}/`] }],
})

beforeEach(() => {
  vi.stubEnv('STAC_AUTH_TEST_TOKEN', TOKEN)
  reads = 0
  lifetime = 3600
  asked.length = 0
})
afterEach(() => vi.unstubAllEnvs())

async function download(...argv: string[]) {
  const into = await temporaryFolder()
  const outcome = await run(['download', ...argv, '-d', into, '--credentials', credentials])
  return { ...outcome, files: Object.keys(await filesIn(into)) }
}

describe('a signed URL that has expired', () => {
  it('is replaced by the one that the document has when it is read again, once for all of its files', async () => {
    const { code, files, stderr } = await download(`${origin}/items/one.json`)
    expect([code, files, stderr]).toEqual([0, ['one/a.tif', 'one/b.tif'], ''])
    expect(reads).toBe(2)
    expect(asked.filter(({ url }) => url.startsWith('/files/')).every(({ authorization }) => authorization === undefined)).toBe(true)
  })

  it('in a search result is replaced by that of the Item itself', async () => {
    const { code, files } = await download(`${origin}/search`)
    expect([code, files]).toEqual([0, ['one/a.tif', 'one/b.tif']])
    expect(asked.map(({ url }) => url)).toContain('/items/one.json')
  })

  it('is not replaced with --no-reread: the error says when it expired and what to do', async () => {
    const { code, files, stderr } = await download(`${origin}/items/one.json`, '--no-reread')
    expect([code, files, reads]).toEqual([3, [], 1])
    expect(stderr).toContain(
      `the signed URL of this asset expired at 2026-01-01T00:00:00.000Z: ${origin}/files/a.tif (the server answered 403)`,
    )
    expect(stderr).toContain(`read the document again, from ${origin}/items/one.json`)
    expect(stderr).not.toMatch(/by-address|c2lnbmF0dXJl/)
  })

  it('of a local document is reported: its self link is not followed', async () => {
    const path = await put(folder, 'local.json', catalogItem('one', PAST))
    const { code, stderr } = await download(path)
    expect([code, reads]).toEqual([3, 0])
    expect(stderr).toContain('expired at 2026-01-01T00:00:00.000Z')
  })

  it('is reported where the document still has it, after one more reading', async () => {
    lifetime = -100
    const { code, stderr } = await download(`${origin}/items/one.json`, '--asset', 'a')
    expect([code, reads]).toEqual([3, 2])
    expect(stderr).toMatch(/the signed URL of this asset expired at .*\(the server answered 403\)/)
  })

  it('is not read again from a self link on another origin', async () => {
    const foreign = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
    await new Promise((resolve) => foreign.once('listening', resolve))
    let isAsked = false
    foreign.on('request', () => {
      isAsked = true
    })
    const { port } = foreign.address() as { port: number }
    const item = { ...catalogItem('one', PAST), links: [{ rel: 'self', href: `http://127.0.0.1:${port}/one.json` }] }
    const catalog = createServer((_, response) => response.end(JSON.stringify(item))).listen(0, '127.0.0.1')
    await new Promise((resolve) => catalog.once('listening', resolve))
    const { code } = await download(`http://127.0.0.1:${(catalog.address() as { port: number }).port}/one.json`)
    expect([code, isAsked]).toEqual([3, false])
    foreign.close()
    catalog.close()
  })

  it('is reported by the dry run, without a request for it', async () => {
    const { code, stdout } = await download(`${origin}/items/one.json`, '--dry-run')
    expect([code, asked.filter(({ url }) => url.startsWith('/files/'))]).toEqual([3, []])
    expect(stdout).toMatch(
      /^x 2 files: one\/a.tif, one\/b.tif: AUTH_REJECTED: the signed URL of this asset expired at 2026-01-01T00:00:00.000Z/,
    )
    const outcome = await run(['download', `${origin}/items/one.json`, '--dry-run', '--json', '--credentials', credentials])
    expect(eventsIn(outcome)[0]).toMatchObject({ kind: 'planned' })
  })

  it('is reported by fetch', async () => {
    const path = await put(folder, 'fetched.json', catalogItem('one', PAST))
    const { code, stderr } = await run(['fetch', path, '--asset', 'a', '--credentials', credentials])
    expect(code).toBe(3)
    expect(stderr).toMatch(/^error AUTH_REJECTED \/assets\/a\/href: the signed URL of this asset expired at 2026-01-01T00:00:00.000Z/)
    expect(stderr).not.toContain('by-address')
  })
})

it.each([
  [
    'Amazon',
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a%2Fb&X-Amz-Date=20260101T000000Z&X-Amz-Expires=1&X-Amz-SignedHeaders=host&X-Amz-Signature=0`,
  ],
  [
    'Google',
    `X-Goog-Algorithm=GOOG4&X-Goog-Credential=a%2Fb&X-Goog-Date=20260101T000000Z&X-Goog-Expires=1&X-Goog-SignedHeaders=host&X-Goog-Signature=0`,
  ],
  ['CloudFront', 'Expires=1767225601&Key-Pair-Id=K&Signature=s'],
  ['an unknown service', 'token=abc&expires=1767225601'],
])('names the end of a signed URL of %s', async (_service, query) => {
  const path = await put(folder, 'kinds.json', itemWith({ a: { href: `${origin}/files/a.tif?${query}` } }, { schemes: {} }))
  const { code, stdout } = await download(path, '--dry-run')
  expect(code).toBe(3)
  expect(stdout).toContain('expired at 2026-01-01T00:00:01.000Z')
  const { stderr } = await download(path)
  expect(stderr).toContain('expired at 2026-01-01T00:00:01.000Z')
})

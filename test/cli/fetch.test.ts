import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, keyFor } from './items.ts'
import { run } from './run.ts'
import { body, KEY, serve } from './server.ts'

const data = Buffer.concat([Buffer.from('II*\0'), randomBytes(299_996)])
const text = Buffer.from('{"type":"FeatureCollection","features":[]}')
const packed = gzipSync(text)
const checksum = (bytes: Buffer) => `1220${createHash('sha256').update(bytes).digest('hex')}`
const item = itemWith({
  data: { href: '../private/data.tif', 'auth:refs': ['key'] },
  lost: { href: '../lost' },
  hidden: { href: '../hidden' },
  packed: { href: '../a.json', 'file:checksum': checksum(packed) },
  unpacked: { href: '../a.json.gz', 'file:checksum': checksum(text) },
  neither: { href: '../a.json.gz', 'file:checksum': checksum(Buffer.from('x')) },
})
const coded: Parameters<typeof serve>[0][string] = (_request, response) =>
  response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length }).end(packed)
const server = await serve({
  '/private/data.tif': body(data),
  '/private/items/x.json': body(JSON.stringify(item)),
  '/items/x.json': body(JSON.stringify(item)),
  '/items/moved.json': (_request, response) => response.writeHead(302, { location: '/items/x.json' }).end(),
  '/short': (_request, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('only this')
    setTimeout(() => response.destroy(), 20)
  },
  '/a.json': coded,
  '/a.json.gz': coded,
  '/hidden': (_request, response) =>
    response.writeHead(404, { 'content-type': 'application/xml' }).end('<?xml version="1.0"?><Error><Code>ResourceNotFound</Code></Error>'),
  '/circle': (_request, response) => response.writeHead(302, { location: '/circle' }).end(),
  '/silent': () => {},
  '/broken': (_request, response) => response.writeHead(503).end(),
  '/limited': (_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end(),
  '/closed': (_request, response) =>
    response.writeHead(503, { date: 'Fri, 01 Jan 2100 00:00:00 GMT', 'retry-after': 'Fri, 01 Jan 2100 00:02:00 GMT' }).end(),
  '/odd': (_request, response) => response.writeHead(503, { 'retry-after': 'later' }).end(),
  '/gone': (_request, response) => response.writeHead(410, { 'retry-after': '5' }).end(),
  '/endless': (_request, response) => {
    const more = () => response.destroyed || response.write(Buffer.alloc(65536), () => setTimeout(more, 1))
    more()
  },
})
const folder = await temporaryFolder()
const credentials = await put(folder, 'credentials.json', keyFor(server.origin))
const fetchIt = (...argv: string[]) => run(['fetch', ...argv, '--credentials', credentials])

beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_KEY', KEY))
afterEach(() => vi.unstubAllEnvs())

describe('fetch', () => {
  it('writes the body to stdout, and one line about it to stderr', async () => {
    const outcome = await fetchIt(`${server.origin}items/x.json`, '--asset', 'data')
    expect(outcome.code).toBe(0)
    expect(outcome.bytes.equals(data)).toBe(true)
    expect(outcome.stderr).toMatch(/^200, 300000 bytes in \d+ ms, credential "portal"\n$/)
  })

  it('reads a document that is protected itself, and sends nothing to an asset that requests nothing', async () => {
    const outcome = await fetchIt(`${server.origin}private/items/x.json`, '--asset', 'lost')
    expect(server.requests.slice(-2)).toEqual([
      { path: '/private/items/x.json', key: KEY },
      { path: '/private/lost', key: undefined },
    ])
    expect([outcome.code, outcome.stderr]).toEqual([
      3,
      `error AUTH_REJECTED: ${server.origin.slice(0, -1)} requires authentication (ApiKey) and the document does not name a scheme for it (auth:refs): ` +
        `${server.origin}private/lost. The server says: who are you?\n  --by-address sends the credential whose sendTo matches the URL: stac-auth fetch ${server.origin}private/lost\n`,
    ])
  })

  it('says how to send a credential to a store that answers 404, where the document names no scheme', async () => {
    const outcome = await fetchIt(`${server.origin}items/x.json`, '--asset', 'hidden')
    expect([outcome.code, outcome.stderr]).toEqual([
      5,
      `error HTTP_404: ${server.origin}hidden: the server answered 404 ResourceNotFound\n  if it requires a credential: ` +
        `--by-address sends the credential whose sendTo matches the URL: stac-auth fetch ${server.origin}hidden\n`,
    ])
  })

  it('resolves addresses against where the document was found after redirects', async () => {
    const moved = await serve({
      '/start.json': (_request, response) => response.writeHead(302, { location: `${server.origin}items/x.json` }).end(),
    })
    const both = await put(folder, 'both.json', keyFor(server.origin, moved.origin))
    const outcome = await run(['fetch', `${moved.origin}start.json`, '--asset', 'data', '--credentials', both])
    expect(outcome).toMatchObject({ code: 0 })
    expect(outcome.bytes.equals(data)).toBe(true)
  })

  it('sends the key to a URL in its sendTo, and names the credential', async () => {
    const outcome = await fetchIt(`${server.origin}private/data.tif`, '-o', '-')
    expect(outcome.bytes.equals(data)).toBe(true)
    expect(outcome.stderr).toMatch(/^200, 300000 bytes in \d+ ms, credential "portal"\n$/)
  })

  it('fetch of a file that cannot be read says so, also without a target', async () => {
    const { code, stderr } = await fetchIt(join(folder, 'missing.json'))
    expect([code, stderr]).toEqual([
      6,
      expect.stringContaining(`error FILE_ACCESS: cannot read "${join(folder, 'missing.json')}": no such file`),
    ])
  })

  it('writes into a folder under the name of the file, and replaces a file only with --force', async () => {
    const into = join(folder, 'into')
    await mkdir(into)
    await put(folder, 'into/data.tif', 'older')
    const source = [`${server.origin}items/x.json`, '--asset', 'data']
    const refused = await fetchIt(...source, '-o', `${into}/`)
    expect([refused.code, refused.stderr]).toEqual([
      6,
      expect.stringMatching(/^error PATH_EXISTS: .*\n {2}use --force to replace it, or choose another name\n$/),
    ])
    expect(await fetchIt(...source, '-o', into, '--force')).toMatchObject({ code: 0 })
    expect((await readFile(join(into, 'data.tif'))).equals(data)).toBe(true)
    expect(await fetchIt(`${server.origin}private/data.tif`, '-o', into)).toMatchObject({ code: 6 })
  })

  it('keeps the older file where the new one is incomplete', async () => {
    const path = await put(folder, 'kept.bin', 'older')
    expect(await fetchIt(`${server.origin}short`, '-o', path, '--force')).toMatchObject({ code: 5 })
    expect(await readFile(path, 'utf8')).toBe('older')
  })

  it('names no credential that was not sent', async () => {
    expect((await fetchIt(`${server.origin}items/x.json`)).stderr).toContain('credential "portal"')
    const bare = await serve({ '/f': body('x') })
    expect((await fetchIt(`${bare.origin}f`)).stderr).toMatch(/ ms\n$/)
  })

  it('reports which server requests what when no credential covers it, without the query', async () => {
    const challenge = 'Basic realm="a, Digest b", charset="UTF-8", Bearer'
    const asking = await serve({ '/f?sig=1': (_request, response) => response.writeHead(401, { 'www-authenticate': challenge }).end() })
    const { code, stderr } = await fetchIt(`${asking.origin}f?sig=1`)
    const origin = asking.origin.slice(0, -1)
    expect(code).toBe(3)
    expect(stderr).toContain(`${origin} requires authentication (Basic, Bearer) and none of your credentials matches it: ${origin}/f\n`)
    expect(stderr).toContain(`"scheme":"basic"`)
    expect(stderr).toContain(`"sendTo":["${origin}/"]`)
    expect(stderr).not.toContain('sig')
  })

  describe('a web page', () => {
    const page = async () => {
      const { origin } = await serve({
        '/page': (_request, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('log in'),
        '/sniffed.tif': body('<!DOCTYPE html><title>log in'),
      })
      const { origin: archive } = await serve({
        '/granule.h5': (_request, response) => response.writeHead(302, { location: `${origin}page` }).end(),
      })
      const granted = await put(folder, 'page-credentials.json', keyFor(origin, archive))
      return { origin, archive, get: (...argv: string[]) => run(['fetch', ...argv, '--credentials', granted]) }
    }

    it('a web page is refused before a byte is written where the document says something else', async () => {
      const { origin, get } = await page()
      const path = await put(folder, 'page.json', itemWith({ page: { href: `${origin}page`, type: 'image/tiff; application=geotiff' } }))
      const stderr = expect.stringMatching(
        /^error FILE_INTEGRITY \/assets\/page: .*page was not saved: it is a web page, but image\/tiff was expected/,
      )
      expect(await get(path, '--asset', 'page')).toMatchObject({ code: 6, stdout: '', stderr })
      expect(await get(path, '--asset', 'page', '-o', join(folder, 'page.tif'))).toMatchObject({ code: 6, stderr })
      expect(existsSync(join(folder, 'page.tif'))).toBe(false)
      const accepted = await get(path, '--asset', 'page', '--accept-html')
      expect(accepted).toMatchObject({ code: 0, stdout: 'log in', stderr: expect.stringMatching(/^warning CONTENT_TYPE_UNEXPECTED /) })
    })

    it('a web page is refused by its first bytes where the name says something else', async () => {
      const { origin, get } = await page()
      expect(await get(`${origin}sniffed.tif`)).toMatchObject({ code: 6, stdout: '' })
      expect(await get(`${origin}page`, '-o', join(folder, 'named.tif'))).toMatchObject({ code: 6 })
      expect(await get(`${origin}page`, '-o', join(folder, 'named.html'))).toMatchObject({ code: 0 })
    })

    it('a web page of another host names that host and the credential to add', async () => {
      const { origin, archive, get } = await page()
      const { code, stdout, stderr } = await get(`${archive}granule.h5`)
      expect([code, stdout]).toEqual([3, ''])
      expect(stderr).toContain(
        `error LOGIN_PAGE: the file was not saved: "granule.h5" was requested from ${archive.slice(0, -1)}, but ${origin.slice(0, -1)} answered with a web page`,
      )
      expect(stderr).toContain(`"sendTo":["${archive}"]`)
    })

    it('a web page is what a document may promise', async () => {
      const { origin, get } = await page()
      const path = await put(folder, 'html.json', itemWith({ page: { href: `${origin}page`, type: 'text/html' } }))
      expect(await get(path, '--asset', 'page')).toMatchObject({ code: 0, stdout: 'log in', stderr: expect.stringMatching(/^200, /) })
    })
  })

  it('writes a new file whole, and never over another', async () => {
    const path = join(folder, 'data.tif')
    const first = await fetchIt(`${server.origin}private/data.tif`, '-o', path)
    expect(first).toMatchObject({ code: 0, stdout: '' })
    expect((await readFile(path)).equals(data)).toBe(true)
    const before = server.requests.length
    const second = await fetchIt(`${server.origin}private/data.tif`, '-o', path, '--json')
    expect(second.code).toBe(2)
    const third = await fetchIt(`${server.origin}private/data.tif`, '-o', path)
    expect([third.code, third.stderr]).toEqual([6, expect.stringMatching(/^error PATH_EXISTS: /)])
    expect(server.requests).toHaveLength(before)
  })

  it.each([
    ['lost', 5, 'HTTP_404'],
    ['broken', 5, 'HTTP_503'],
    ['short', 5, 'FILE_INCOMPLETE'],
  ])('/%s ends in %i with %s and leaves no file', async (path, exit, code) => {
    const target = join(folder, `${path}.bin`)
    const outcome = await fetchIt(`${server.origin}${path}`, '-o', target)
    expect(outcome.stderr).toMatch(new RegExp(`^error ${code}: ${server.origin}${path}: `))
    expect(outcome.code).toBe(exit)
    expect((await readdir(folder)).filter((name) => name.startsWith(path))).toEqual([])
  })

  it.each([
    ['limited', 'the server asks to wait 3600 s before the next request (Retry-After)'],
    ['closed', 'the server asks to wait 120 s before the next request (Retry-After)'],
    ['odd', 'try again later'],
    ['gone', 'check the URL: the server has nothing there'],
  ])('says for /%s how long the server asks to wait', async (path, hint) => {
    const [, second] = (await fetchIt(`${server.origin}${path}`)).stderr.trimEnd().split('\n')
    expect(second?.trim()).toBe(hint)
  })

  describe('of an asset with alternates', () => {
    const keys = { key: { type: 'apiKey', name: 'x-api-key', in: 'header' }, s3: { type: 's3' } }
    const twofold = (href: string, other: string) =>
      put(folder, 'twofold.json', {
        ...itemWith(
          { B04: { href, 'auth:refs': ['s3'], alternate: { web: { href: other, 'auth:refs': ['key'] } } } },
          { schemes: keys, links: [{ rel: 'self', href: `${server.origin}items/x.json` }] },
        ),
      })

    it('fetches the first of them that can be requested, as download does, and says so', async () => {
      const { code, bytes, stderr } = await fetchIt(await twofold('s3://bucket/B04.tif', '../private/data.tif'), '--asset', 'B04')
      expect([code, bytes.equals(data)]).toEqual([0, true])
      expect(stderr).toContain('"B04" is fetched from its alternate "web", because no credential can be used for s3://bucket/B04.tif\n')
    })

    it('reports the asset where none of them can be requested', async () => {
      const { code, stderr } = await fetchIt(await twofold('s3://bucket/B04.tif', 'https://far.example/B04.tif'), '--asset', 'B04')
      expect(code).toBe(3)
      expect(stderr).toMatch(/^error NO_CREDENTIAL \/assets\/B04\/auth:refs\/0: /)
    })

    it('names the alternate when the server has no such asset', async () => {
      const path = await put(
        folder,
        'gone.json',
        itemWith(
          { B04: { href: '../gone', alternate: { web: { href: '../private/data.tif', 'auth:refs': ['key'] } } } },
          { links: [{ rel: 'self', href: `${server.origin}items/x.json` }] },
        ),
      )
      const { code, stderr } = await fetchIt(path, '--asset', 'B04')
      expect(code).toBe(5)
      expect(stderr).toContain('the document has an alternate: --alternate B04/web')
    })
  })

  it('stores a file whose name ends in its content coding as it is sent, and others without it', async () => {
    for (const [path, bytes] of [
      ['a.json', text],
      ['a.json.gz', packed],
    ] as const) {
      const file = join(await temporaryFolder(), 'out')
      expect(await fetchIt(server.origin + path, '-o', file)).toMatchObject({ code: 0 })
      expect((await readFile(file)).equals(bytes)).toBe(true)
      expect((await fetchIt(server.origin + path)).bytes.equals(bytes)).toBe(true)
    }
  })

  it('stores what the document promises, in its content coding or without it', async () => {
    for (const [asset, bytes] of [
      ['packed', packed],
      ['unpacked', text],
    ] as const) {
      const file = join(await temporaryFolder(), 'out')
      expect(await fetchIt(`${server.origin}items/x.json`, '--asset', asset, '-o', file)).toMatchObject({ code: 0 })
      expect((await readFile(file)).equals(bytes)).toBe(true)
    }
    const out = await temporaryFolder()
    const outcome = await fetchIt(`${server.origin}items/x.json`, '--asset', 'neither', '-o', join(out, 'out'))
    expect([outcome.code, await readdir(out)]).toEqual([6, []])
    expect(outcome.stderr).toContain('error FILE_INTEGRITY')
  })

  it('ends in 3 when the server refuses the key, which is not shown', async () => {
    vi.stubEnv('STAC_AUTH_TEST_KEY', 'wrong-wrong-wrong')
    const outcome = await fetchIt(`${server.origin}private/data.tif`)
    expect(outcome).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/^error AUTH_REJECTED: /) })
    expect(outcome.stderr).not.toContain('wrong-wrong-wrong')
  })

  it('ends quietly in 130 when the reader of stdout goes away', async () => {
    const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(gone) })
    const outcome = await run(['fetch', `${server.origin}private/data.tif`, '--credentials', credentials], { stdout })
    expect(outcome).toMatchObject({ code: 130, stderr: '' })
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('stops at %s with %i and leaves no file', async (name, exit) => {
    const interruption = new AbortController()
    const path = join(folder, 'endless.bin.part')
    const argv = ['fetch', `${server.origin}endless`, '-o', join(folder, 'endless.bin'), '--credentials', credentials]
    const running = run(argv, { signal: interruption.signal })
    await expect.poll(async () => (await stat(path).catch(() => undefined))?.size).toBeGreaterThan(0)
    interruption.abort(name)
    const outcome = await running
    expect([outcome.code, outcome.stderr]).toEqual([exit, expect.stringMatching(/^error ABORTED: /)])
    expect((await readdir(folder)).filter((file) => file.startsWith('endless'))).toEqual([])
  })
})

it('shows on a terminal how much of a file is received, and takes that away', async () => {
  const argv = ['fetch', `${server.origin}private/data.tif`, '--credentials', credentials, '-o']
  const env = { TERM: 'xterm' }
  const { stderr } = await run([...argv, join(folder, 'shown.tif')], { isTTY: true, env })
  expect(stderr).toMatch(/^\r\d+% {2}[\d.]+ kB of 300 kB {2}[^\r]*\x1b\[K.*\r\x1b\[J200, 300000 bytes/s)
  expect((await run([...argv, join(folder, 'plain.tif')], { env })).stderr).not.toContain('\r')
})

it('writes no binary file to a terminal, unless -o - asks for it', async () => {
  const refused = await run(['fetch', `${server.origin}private/data.tif`, '--credentials', credentials], { isTTY: true })
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('write it to a file with -o FILE') })
  const { code, bytes } = await run(['fetch', `${server.origin}private/data.tif`, '-o', '-', '--credentials', credentials], { isTTY: true })
  expect([code, bytes.length]).toEqual([0, 300_000])
})

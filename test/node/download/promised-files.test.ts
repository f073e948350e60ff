import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { DownloadOptions } from '../../../src/node/download/download.ts'
import { verifyFolder } from '../../../src/node/download/index.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { noise } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run, SMALL_RANGES, serveBy, serveFiles } from './fixture.ts'

const tiff = noise(5000, 'a.tif')
const sum = (bytes: Buffer | string) => `1220${createHash('sha256').update(bytes).digest('hex')}`

/** Downloads one asset from a server that sends this body. */
async function sent(body: Buffer | string, asset: object, options: Partial<DownloadOptions> = {}, type?: string) {
  const origin = await serveBy((_, response) => response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(body))
  const server = { origin }
  const folder = await temporaryFolder()
  const items = [itemOf(server, { data: asset })]
  const result = await run(items, { folder, server, ...options })
  return { server, folder, items, result, files: await filesIn(folder) }
}

describe('a body that is not the promised file', () => {
  const error = '{"error":{"message":"Maximum number of 4 concurrent flows"}}'

  it.each([
    [
      'JSON',
      { href: 'a.tif' },
      error,
      'it is an error in JSON, but "a.tif" was expected. The server says: Maximum number of 4 concurrent flows',
    ],
    [
      'XML',
      { href: 'a.zip' },
      '<Error><Message>later</Message></Error>',
      'it is an error in XML, but "a.zip" was expected. The server says: later',
    ],
    ['another format', { href: 'a', type: 'image/tiff' }, '\u00ff', 'it is a file of another format, but image/tiff was expected'],
    ['nothing', { href: 'a.nc' }, '', 'it is empty, but "a.nc" was expected'],
  ])('is refused with the reason, also with strict: %s', async (_, asset, body, message) => {
    for (const strict of [false, true]) {
      const { result, files } = await sent(body, asset, { strict })
      expect([codesOf(result), files]).toEqual([['FILE_INTEGRITY'], {}])
      expect(ofKind(result, 'failed')[0]?.error.message).toContain(message)
      // What is an error is no file that a wrong document hides.
      expect(ofKind(result, 'failed')[0]?.error.hint?.includes('--trust-server') ?? false).toBe(!message.includes('an error in'))
    }
  })

  it('is kept with a warning, a mark in the manifest and in verifyFolder where the server is trusted', async () => {
    const jp2 = noise(500, 'a.jp2')
    const { items, folder, server, result, files } = await sent(jp2, { href: 'a', type: 'image/tiff' }, { trustServer: true })
    expect(ofKind(result, 'warning')).toMatchObject([
      { code: 'CONTENT_TYPE_UNEXPECTED', message: expect.stringContaining('it is JPEG 2000, but image/tiff was expected') },
    ])
    expect(ofKind(result, 'written')).toMatchObject([{ unverified: ['type'] }])
    expect(Object.values(files)).toEqual([jp2])
    const verified: object[] = []
    for await (const event of verifyFolder({ folder })) verified.push(event)
    expect(verified).toMatchObject([
      { kind: 'verified', unverified: ['type'] },
      { kind: 'summary', unverified: 1 },
    ])
    expect((await run(items, { folder, server, trustServer: true })).summary).toMatchObject({ kept: 1 })
  })

  it('is no page where the server is trusted: a login page needs its own option', async () => {
    for (const type of ['text/html', 'application/octet-stream'])
      expect(codesOf((await sent('<!doctype html>', { href: 'a.tif' }, { trustServer: true }, type)).result)).toEqual(['FILE_INTEGRITY'])
  })

  it('is the file where the checksum of the document says so', async () => {
    const { result } = await sent(error, { href: 'a.tif', 'file:checksum': sum(error) })
    expect([codesOf(result), ofKind(result, 'warning'), result.summary.written]).toEqual([[], [], 1])
  })

  it('is noticed where the file comes in several ranges', async () => {
    const bytes = Buffer.concat([Buffer.from('{"error":"x"}'), noise(5 * 2 ** 20)])
    const server = await serveFiles(() => ({ bytes }))
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, { data: { href: 'a.tif' } })], { folder, server, ...SMALL_RANGES, ranges: 4 })
    expect([codesOf(result), await filesIn(folder)]).toEqual([['FILE_INTEGRITY'], {}])
  })

  it('is found in the folder, unless the manifest knows it', async () => {
    const { items, folder, server } = await sent(error, { href: 'a.tif' }, { trustServer: true })
    const { rm } = await import('node:fs/promises')
    await rm(`${folder}/.stac-auth-manifest`)
    const [failed] = ofKind(await run(items, { folder, server }), 'failed')
    expect([failed?.error.code, failed?.error.message]).toEqual([
      'PATH_EXISTS',
      '"a.tif" exists already and is an error in JSON, but "a.tif" was expected: an earlier run may have saved a login page or an error',
    ])
  })
})

describe('a size or checksum of the document that is wrong', () => {
  it.each<[string, object, string[], RegExp]>([
    ['larger size', { 'file:size': 5001 }, ['size'], /it has 5000 bytes, its document states 5001/],
    ['smaller size', { 'file:size': 4999 }, ['size'], /it has 5000 bytes, its document states 4999/],
    ['checksum', { 'file:checksum': sum('x'), 'file:size': 5000 }, ['checksum'], /it has another sha256 than its document states/],
    ['size and checksum', { 'file:size': 1, 'file:checksum': sum('x') }, ['size', 'checksum'], /./],
  ])('refuses the file by its %s, and keeps it with a warning where the server is trusted', async (_, facts, unverified, message) => {
    const asset = { href: 'a.tif', ...facts }
    const refused = await sent(tiff, asset)
    expect([codesOf(refused.result), refused.files]).toEqual([['FILE_INTEGRITY'], {}])
    for (const framed of [true, false]) {
      const server = await serveFiles(
        () => ({ bytes: tiff }),
        () => (framed ? undefined : { framing: 'chunked' }),
      )
      const folder = await temporaryFolder()
      const items = [itemOf(server, { data: asset })]
      const result = await run(items, { folder, server, trustServer: true })
      expect(ofKind(result, 'written')).toMatchObject([{ bytes: 5000, unverified }])
      expect(ofKind(result, 'written')[0]?.verified).not.toEqual(expect.arrayContaining(unverified))
      expect(ofKind(result, 'warning').map(({ code }) => code)).toEqual(unverified.map(() => 'FILE_INTEGRITY'))
      expect(ofKind(result, 'warning')[0]?.message).toMatch(message)
      expect(await filesIn(folder)).toEqual({ 'a.tif': tiff })
      expect((await run(items, { folder, server, trustServer: true })).summary).toMatchObject({ kept: 1 })
      const [again] = ofKind(await run(items, { folder, server }), 'failed')
      expect([again?.error.code, again?.error.hint]).toEqual(['PATH_EXISTS', expect.stringContaining('--trust-server')])
    }
  })

  it('is no excuse for what differs from the hash of the server', async () => {
    const headers = { 'repr-digest': `sha-256=:${createHash('sha256').update('x').digest('base64')}:` }
    const server = await serveFiles(() => ({ bytes: tiff, headers }))
    const result = await run([itemOf(server, { data: { href: 'a.tif' } })], { folder: await temporaryFolder(), server, trustServer: true })
    expect(codesOf(result)).toEqual(['FILE_INTEGRITY'])
  })
})

describe('a file that its server is still preparing', () => {
  /** Answers 202 that many times; the clock of the download does not wait. */
  async function prepared(times: number, retryAfter: string | undefined, options: Partial<DownloadOptions> = {}) {
    let n = 0
    const origin = await serveBy((_, response) => {
      const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
      if (n++ < times) response.writeHead(202, headers).end('{"message":"your order is being staged"}')
      else response.writeHead(200).end(tiff)
    })
    const server = { origin }
    const folder = await temporaryFolder()
    let now = 0
    const clock = {
      now: () => now,
      setTimer: (milliseconds: number, call: () => void) => {
        if (milliseconds < 1e6) now += milliseconds
        const timer = setImmediate(call)
        return () => clearImmediate(timer)
      },
    }
    const result = await run([itemOf(server, { data: { href: 'a.tif' } })], { folder, server, clock: clock as never, ...options })
    return { result, files: await filesIn(folder), requests: n, waited: () => now }
  }

  it.each([['60'], [undefined]])('is waited for, with Retry-After %s', async (retryAfter) => {
    const { result, files, requests } = await prepared(3, retryAfter)
    expect([codesOf(result), files, requests]).toEqual([[], { 'a.tif': tiff }, 4])
    const [first] = ofKind(result, 'retry')
    expect(first).toMatchObject({
      error: { code: 'HTTP_202', message: expect.stringContaining('still preparing the file (202): your order is being staged') },
    })
    if (retryAfter) expect(first?.delay).toBeGreaterThanOrEqual(60_000)
  })

  it.each([
    ['a limit that has passed', 1000, '60', { wait: 150_000 }, 'it was not ready within 150 s'],
    ['a Retry-After beyond the limit', 1000, '700', {}, 'Retry-After of 700 s exceeds the limit of 600 s'],
    ['no wait at all', 1, '1', { wait: 0 }, 'Retry-After of 1 s exceeds the limit of 0 s'],
  ])('fails with %s', async (_, times, retryAfter, options, message) => {
    const { result, files } = await prepared(times, retryAfter, options)
    expect([codesOf(result), files]).toEqual([['HTTP_202'], {}])
    expect(ofKind(result, 'failed')[0]?.error.message).toContain(message)
    expect(ofKind(result, 'failed')[0]?.error.hint).toContain('--wait')
  })
})

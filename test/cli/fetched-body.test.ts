import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, keyFor } from './items.ts'
import { run } from './run.ts'
import { type Answer, body, KEY, serve } from './server.ts'

const TRUST = 'if the document is wrong, --trust-server keeps the file with a warning, in code trustServer'
const bytes = Buffer.from('the bytes of a file')
const checksum = (data: Buffer) => `1220${createHash('sha256').update(data).digest('hex')}`
const headed =
  (status: number, headers: Readonly<Record<string, string | number>>, data = bytes): Answer =>
  (_request, response) =>
    response.writeHead(status, headers).end(data)
/** Ends with its connection, and says nothing about how long it is. */
const unframed: Answer = (_request, response) => {
  response.removeHeader('transfer-encoding')
  response.useChunkedEncodingByDefault = false
  response.writeHead(200, { connection: 'close' }).end(bytes)
}

const server = await serve({
  '/whole': body(bytes),
  '/none': (_request, response) => response.writeHead(204).end(),
  '/part': headed(206, { 'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}`, 'content-length': bytes.length }),
  '/unframed': unframed,
  '/gzip': headed(200, { 'content-encoding': 'gzip' }, gzipSync(bytes)),
  '/cut': headed(200, { 'content-encoding': 'gzip' }, gzipSync(bytes).subarray(0, 20)),
  '/zstd': headed(200, { 'content-encoding': 'zstd', 'content-length': bytes.length }),
})
const folder = await temporaryFolder()
const credentials = await put(folder, 'credentials.json', keyFor(server.origin))

/** Fetches a path, or an asset there with those promises, to stdout and to a file; both must come to the same. */
async function fetched(path: string, promises?: object) {
  const item = promises && (await put(folder, 'item.json', itemWith({ data: { href: `${server.origin}${path}`, ...promises } })))
  const wanted = item ? [item, '--asset', 'data'] : [`${server.origin}${path}`]
  const target = await temporaryFolder()
  const shown = await run(['fetch', ...wanted, '--credentials', credentials])
  const { code, stderr } = await run(['fetch', ...wanted, '--credentials', credentials, '-o', join(target, 'f')])
  const [file] = await readdir(target)
  return { shown, code, stderr, file: file === undefined ? undefined : await readFile(join(target, file)) }
}

beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_KEY', KEY))
afterEach(() => vi.unstubAllEnvs())

describe('what was fetched', () => {
  it.each(['whole', 'gzip'])('what was fetched is what came: %s', async (path) => {
    const { shown, code, stderr, file } = await fetched(path)
    expect([shown.code, shown.bytes, shown.stderr]).toEqual([0, bytes, expect.stringMatching(/^200, 19 bytes in /)])
    expect([code, file, stderr]).toEqual([0, bytes, expect.stringMatching(/^200, 19 bytes in /)])
  })

  it.each([
    ['size', { 'file:size': bytes.length }],
    ['checksum', { 'file:checksum': checksum(bytes) }],
  ])('what was fetched has the %s that its document promises', async (_, promises) => {
    expect(await fetched('whole', promises)).toMatchObject({ code: 0, file: bytes, shown: { code: 0 } })
  })

  it.each([
    ['size', { 'file:size': bytes.length + 1 }, 'has 19 bytes, its document states 20'],
    ['size of nothing', { 'file:size': 0 }, 'has 19 bytes, its document states 0'],
    ['checksum', { 'file:checksum': checksum(Buffer.from('other')) }, 'has another sha256 than its document states'],
  ])('ends in 6 with another %s, and is not a file', async (_, promises, problem) => {
    const { shown, code, stderr, file } = await fetched('whole', promises)
    expect([code, stderr, file]).toEqual([6, `error FILE_INTEGRITY /assets/data: the response ${problem}\n  ${TRUST}\n`, undefined])
    expect([shown.code, shown.stderr]).toEqual([6, stderr])
  })

  it.each([
    ['never a part of a file', 'part', /^error RANGE_INVALID: .* returned a part that was not requested\n$/],
    ['not a file when it was cut', 'cut', /^error FILE_INCOMPLETE: /],
  ])('what was fetched is %s', async (_, path, error) => {
    const { shown, code, stderr, file } = await fetched(path)
    expect([code, stderr, file, shown.code]).toEqual([5, expect.stringMatching(error), undefined, 5])
  })

  it('a response whose end is unknown is not saved, and is written to stdout with a warning', async () => {
    const { shown, code, stderr, file } = await fetched('unframed')
    expect([code, stderr, file]).toEqual([
      5,
      expect.stringMatching(
        /^error FILE_INCOMPLETE: .*\/unframed: .*no length or checksum.*\n {2}without -o the body is written to stdout unverified\n$/,
      ),
      undefined,
    ])
    expect([shown.code, shown.bytes, shown.stderr]).toEqual([
      0,
      bytes,
      expect.stringMatching(/^warning FILE_INCOMPLETE: .*no length or checksum.*\n200, 19 /),
    ])
  })

  it('what was fetched may end with its connection where its document tells its size', async () => {
    expect(await fetched('unframed', { 'file:size': bytes.length })).toMatchObject({ code: 0, file: bytes })
    expect(await fetched('unframed', { 'file:size': bytes.length + 1 })).toMatchObject({ code: 6, file: undefined })
  })

  it('what was fetched is reported when it stays in a coding, unless a checksum decides', async () => {
    const { code, stderr, file } = await fetched('zstd')
    expect([code, stderr, file]).toEqual([0, expect.stringMatching(/^warning CONTENT_CODING_UNKNOWN: .*"zstd".*\n200, /), bytes])
    expect((await fetched('zstd', { 'file:checksum': checksum(bytes) })).stderr).toMatch(/^200, /)
  })
})

describe('a body that is not the promised file', () => {
  const error = '{"error":"quota exceeded"}'
  const jp2 = Buffer.from('\xff\x4f\xff\x51 more', 'latin1')
  let prepared = 0

  async function asked(answer: Answer, asset: object, ...options: string[]) {
    const other = await serve({ '/a.tif': answer })
    const item = await put(folder, 'item.json', itemWith({ data: { href: `${other.origin}a.tif`, ...asset } }))
    const own = await put(folder, 'own.json', keyFor(other.origin))
    const target = join(await temporaryFolder(), 'f')
    const { code, stderr } = await run(['fetch', item, '--asset', 'data', '--credentials', own, '-o', target, ...options])
    return { code, stderr, file: await readFile(target).catch(() => undefined) }
  }

  it.each<[string, Answer, string]>([
    ['an error', headed(200, {}, Buffer.from(error)), 'it is an error in JSON, but "a.tif" was expected. The server says: quota exceeded'],
    ['another format', headed(200, {}, jp2), 'it is JPEG 2000, but "a.tif" was expected'],
    ['nothing', headed(200, {}, Buffer.alloc(0)), 'it is empty, but "a.tif" was expected'],
    ['no content', (_request, response) => response.writeHead(204).end(), 'it is empty (204), but "a.tif" was expected'],
  ])('is no file, and is one with --trust-server and a warning: %s', async (_, answer, message) => {
    const refused = await asked(answer, {})
    expect([refused.code, refused.file]).toEqual([6, undefined])
    expect(refused.stderr).toContain(message)
    const kept = await asked(answer, {}, '--trust-server')
    expect([kept.code, kept.file !== undefined]).toEqual([0, true])
    expect(kept.stderr).toMatch(
      /^warning CONTENT_TYPE_UNEXPECTED \/assets\/data: it is .*; it is kept because the server is trusted\n200, |204, /,
    )
  })

  it('is kept with a warning where only size or checksum differ', async () => {
    const tiff = headed(200, {}, Buffer.from('II*\0 more'))
    const facts = { 'file:size': 5, 'file:checksum': checksum(bytes) }
    expect((await asked(tiff, facts)).code).toBe(6)
    const { code, stderr, file } = await asked(tiff, facts, '--trust-server')
    expect([code, file?.length]).toEqual([0, 9])
    expect(stderr.match(/^warning FILE_INTEGRITY /gm)).toHaveLength(2)
  })

  const staged: Answer = (_request, response) =>
    prepared++ < 2
      ? response.writeHead(202, { 'retry-after': '0.1' }).end('{"message":"staging"}')
      : response.writeHead(200).end('II*\0 more')

  it('is waited for while the server prepares it, which stderr shows', async () => {
    prepared = 0
    const { code, stderr, file } = await asked(staged, {})
    expect([code, file?.length]).toEqual([0, 9])
    expect(stderr).toMatch(/a\.tif: the server is still preparing the file \(202\): staging; it is requested again in /)
  })

  it('is an error after the time of --wait', async () => {
    prepared = -1000
    const { code, stderr, file } = await asked(staged, {}, '--wait', '0')
    expect([code, file]).toEqual([5, undefined])
    expect(stderr).toMatch(/^error HTTP_202: .*staging; Retry-After of 1 s exceeds the limit of 0 s\n {2}.*--wait SECONDS/)
  })
})

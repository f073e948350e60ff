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

  it('what was fetched may be nothing', async () => {
    expect(await fetched('none')).toMatchObject({ code: 0, file: Buffer.alloc(0), shown: { code: 0, stdout: '' } })
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

  it('what was fetched is never a part of a file', async () => {
    const { shown, code, stderr, file } = await fetched('part')
    expect([code, stderr, file]).toEqual([
      5,
      expect.stringMatching(/^error RANGE_INVALID: .* returned a part that was not requested\n$/),
      undefined,
    ])
    expect([shown.code, shown.stdout]).toEqual([5, ''])
  })

  it('what was fetched is not a file when it was cut', async () => {
    const { shown, code, stderr, file } = await fetched('cut')
    expect([code, stderr, file]).toEqual([5, expect.stringMatching(/^error FILE_INCOMPLETE: /), undefined])
    expect(shown.code).toBe(5)
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

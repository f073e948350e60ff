/** Parts are combined only when both are of one version (RFC 9110 §15.3.7.3): servers here ignore `If-Range`, and the file changes. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { type Asking, type Fault, type FileServer, noise, type ServedContent, startFileServer } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run } from './fixture.ts'

const MiB = 2 ** 20
const old = noise(3 * MiB)
const changed = noise(3 * MiB, 'b')
const assets = { data: { href: 'data.bin' } }
const cut = { endAfter: 2 * MiB }

/** Far enough apart to be a strong validator (RFC 9110 §8.8.2.2). */
const modified = 'Sun, 22 Nov 2026 10:00:00 GMT'
const later = 'Sun, 22 Nov 2026 11:00:00 GMT'
const date = 'Sun, 22 Nov 2026 12:00:00 GMT'
const dated = (lastModified: string) => ({ 'last-modified': lastModified, date })

const servers: FileServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

/** The first answer is cut; parts are given whatever the condition says. */
async function serve(first: ServedContent, then: ServedContent, faultOf?: (asking: Asking, n: number) => Fault) {
  let n = 0
  const blind = (_: Asking, at: number): Fault => ({ ignoreIfRange: true, ...(at === 0 && cut) })
  const server = await startFileServer(() => (n++ === 0 ? first : then), faultOf ?? blind)
  servers.push(server)
  return server
}

async function fetched(first: ServedContent, then: ServedContent) {
  const server = await serve(first, then)
  const folder = await temporaryFolder()
  const result = await run([itemOf(server, assets)], { folder, server })
  return { result, files: await filesIn(folder), ranges: server.asked.map(({ range }) => range) }
}

describe('a 206 of a changed file', () => {
  it.each<[string, ServedContent, ServedContent]>([
    ['without ETag', { bytes: old, etag: '"a"' }, { bytes: changed, etag: null }],
    ['with a weak ETag', { bytes: old, etag: '"a"' }, { bytes: changed, etag: 'W/"a"' }],
    ['with another ETag', { bytes: old, etag: '"a"' }, { bytes: changed, etag: '"b"' }],
    [
      'with another Last-Modified instead of the ETag',
      { bytes: old, etag: '"a"', headers: dated(modified) },
      { bytes: changed, etag: null, headers: dated(later) },
    ],
    [
      'with a Last-Modified that the first response did not have',
      { bytes: old, etag: '"a"' },
      { bytes: changed, etag: null, headers: dated(modified) },
    ],
    [
      'with another Last-Modified, where no response has an ETag',
      { bytes: old, etag: null, headers: dated(modified) },
      { bytes: changed, etag: null, headers: dated(later) },
    ],
    [
      'with the Last-Modified of a file that changed twice in a second',
      { bytes: old, etag: '"a"', headers: dated(date) },
      { bytes: changed, etag: null, headers: dated(date) },
    ],
    ['of another length without ETag', { bytes: old, etag: '"a"' }, { bytes: Buffer.concat([changed, old]), etag: null }],
  ])('%s is not appended: the file starts again from byte 0', async (_, first, then) => {
    const { result, files } = await fetched(first, then)
    expect(codesOf(result)).toEqual([])
    expect(files['data.bin']?.equals(then.bytes)).toBe(true)
    expect(Object.keys(files)).toEqual(['data.bin'])
  })

  it('a 206 of a changed file is not appended by a later run, after the first one was killed', async () => {
    const server = await serve({ bytes: changed, etag: null }, { bytes: changed, etag: null }, () => ({ ignoreIfRange: true }))
    const folder = await temporaryFolder()
    const version = { format: 1, url: `${server.origin}/data.bin`, validator: '"a"', size: old.length }
    await writeFile(join(folder, 'data.bin.part'), old.subarray(0, 2 * MiB))
    await writeFile(join(folder, 'data.bin.part.json'), `${JSON.stringify(version)}\n[0,${2 * MiB}]\n`)
    const result = await run([itemOf(server, assets)], { folder, server })
    expect(codesOf(result)).toEqual([])
    expect(server.asked[0]?.range).toBe(`bytes=${2 * MiB}-`)
    expect((await filesIn(folder))['data.bin']?.equals(changed)).toBe(true)
  })
})

describe('a 206 of the same file', () => {
  it.each<[string, ServedContent, ServedContent]>([
    ['the ETag', { bytes: old, etag: '"a"' }, { bytes: old, etag: '"a"' }],
    [
      'the Last-Modified, without ETag in it',
      { bytes: old, etag: '"a"', headers: dated(modified) },
      { bytes: old, etag: null, headers: dated(modified) },
    ],
    [
      'the Last-Modified, without ETag in any response',
      { bytes: old, etag: null, headers: dated(modified) },
      { bytes: old, etag: null, headers: dated(modified) },
    ],
  ])('a 206 of the same file is appended when %s is equal', async (_, first, then) => {
    const { result, files, ranges } = await fetched(first, then)
    expect(codesOf(result)).toEqual([])
    expect(ranges).toEqual([undefined, `bytes=${2 * MiB}-`])
    expect(result.summary.received).toBe(old.length)
    expect(files['data.bin']?.equals(old)).toBe(true)
  })
})

describe('a server whose parts never say which version they are of', () => {
  it('a server whose parts never name their version is asked for the whole file from then on', async () => {
    const server = await startFileServer(
      (_, { range }) => ({ bytes: old, etag: range ? null : '"a"' }),
      (_, n) => ({ ignoreIfRange: true, ...(n < 4 && cut) }),
    )
    servers.push(server)
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, assets)], { folder, server })
    expect(codesOf(result)).toEqual([])
    expect(server.asked.filter(({ range }) => range !== undefined)).toHaveLength(1)
    expect((await filesIn(folder))['data.bin']?.equals(old)).toBe(true)
  })

  it('leaves no part that a later run would have to distrust', async () => {
    const server = await startFileServer(
      (_, { range }) => ({ bytes: old, etag: range ? null : '"a"' }),
      (_, n) => (n < 4 ? { ignoreIfRange: true, ...cut } : { status: 500, body: '' }),
    )
    servers.push(server)
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, assets)], { folder, server, retries: 3 })
    expect(ofKind(result, 'failed')).toMatchObject([{ resumable: 0 }])
    expect(await filesIn(folder)).toEqual({})
  })
})

describe('a 416', () => {
  it('a 416 is not believed to be the end of a file that has changed', async () => {
    // What came of the old file is as long as the new one.
    const short = changed.subarray(0, 2 * MiB)
    let n = 0
    const server = await startFileServer(
      (_, { range }) => (n++ === 0 ? { bytes: old, etag: '"a"' } : { bytes: short, etag: range ? null : '"b"' }),
      (_, index) => (index === 0 ? { framing: 'chunked', ...cut } : { ignoreIfRange: true }),
    )
    servers.push(server)
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, assets)], { folder, server })
    expect(codesOf(result)).toEqual([])
    expect((await filesIn(folder))['data.bin']?.equals(short)).toBe(true)
  })
})

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { type Asking, type Fault, type FileServer, noise, type ServedContent, startFileServer, tagOf } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run } from './fixture.ts'

const bytes = noise(3 * 2 ** 20)
const other = noise(3 * 2 ** 20, 'b')
const plain = { data: { href: 'data.bin' } }
const small = noise(5000)
const hash = (algorithm: string, data: Buffer) => createHash(algorithm).update(data).digest()
const multihash = (code: string, digest: Buffer) => code + digest.toString('hex')
const promising = (checksum: string, size?: number) => ({ data: { href: 'data.bin', 'file:checksum': checksum, 'file:size': size } })

const servers: FileServer[] = []
afterEach(async () => {
  const violations = servers.flatMap((server) => server.violations)
  for (const server of servers.splice(0)) await server.close()
  expect(violations).toEqual([])
})

type Faults = (asking: Asking, n: number) => Fault | undefined

async function fetched(
  content: ServedContent | ((asking: Asking) => ServedContent),
  faultOf?: Faults,
  assets: object = plain,
  options = {},
) {
  const server = await startFileServer((_, asking) => (typeof content === 'function' ? content(asking) : content), faultOf)
  servers.push(server)
  const folder = await temporaryFolder()
  const result = await run([itemOf(server, assets)], { folder, server, ...options })
  return { result, files: await filesIn(folder), server }
}

const first =
  (fault: Fault): Faults =>
  (_, n) =>
    n === 0 ? fault : undefined
const always =
  (fault: Fault): Faults =>
  () =>
    fault

describe('a body that is cut', () => {
  it.each<[string, ServedContent, Fault]>([
    ['below its length', { bytes: small }, { endAfter: 100 }],
    ['in a chunk', { bytes: small }, { framing: 'chunked', endAfter: 100 }],
    [
      'inside gzip, with the right length',
      { bytes: small },
      { headers: { 'content-encoding': 'gzip' }, body: gzipSync(small).subarray(0, 4000) },
    ],
  ])('%s is fetched again', async (_, content, fault) => {
    const { result, files } = await fetched(content, first(fault))
    expect(result.summary).toMatchObject({ written: 1, retries: 1 })
    expect(files).toEqual({ 'data.bin': small })
  })

  it('is no file when it stays cut', async () => {
    const { result, files, server } = await fetched({ bytes: small, etag: null }, always({ endAfter: 100 }), plain, { retries: 2 })
    expect(codesOf(result)).toEqual(['FILE_INCOMPLETE'])
    expect(server.asked).toHaveLength(3)
    expect(files).toEqual({})
  })

  it('is no file when nothing would tell that it is whole', async () => {
    const { result, files } = await fetched({ bytes: small }, always({ framing: 'close' }))
    expect(codesOf(result)).toEqual(['FILE_INCOMPLETE'])
    expect(files).toEqual({})
  })

  it('may end with its connection where the document tells its size', async () => {
    const assets = { data: { href: 'data.bin', 'file:size': small.length } }
    const { result, files } = await fetched({ bytes: small }, first({ framing: 'close', endAfter: 4999 }), assets)
    expect(result.summary).toMatchObject({ written: 1, retries: 1 })
    expect(files).toEqual({ 'data.bin': small })
  })
})

describe('an answer to a range', () => {
  const cut = { endAfter: 2 ** 21 }
  const then =
    (fault: Fault): Faults =>
    (_, n) =>
      n === 0 ? cut : n === 1 ? fault : undefined

  it.each<[string, Fault]>([
    ['another start', { headers: { 'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}` } }],
    ['another total', { headers: { 'content-range': `bytes 2097152-${bytes.length - 1}/${bytes.length + 1}` } }],
    ['no range at all', { headers: { 'content-range': 'bytes' } }],
  ])('with %s is refused', async (_, fault) => {
    const { result, files } = await fetched({ bytes }, then(fault))
    expect(codesOf(result)).toEqual(['RANGE_INVALID'])
    expect(files).toEqual({})
  })

  it('that nobody asked for is refused', async () => {
    const part = { status: 206, headers: { 'content-range': `bytes 0-${small.length - 1}/${small.length}` } }
    expect(codesOf((await fetched({ bytes: small }, always(part))).result)).toEqual(['RANGE_INVALID'])
  })

  it('that gives all begins anew', async () => {
    const { result, files } = await fetched({ bytes }, then({ ignoreRange: true }))
    expect(result.summary).toMatchObject({ written: 1, retries: 1 })
    expect(files['data.bin']?.equals(bytes)).toBe(true)
  })

  it('begins anew once when the file has changed', async () => {
    let n = 0
    const { result, files } = await fetched(() => ({ bytes: n++ === 0 ? bytes : other }), first(cut))
    expect(result.summary).toMatchObject({ written: 1 })
    expect(files['data.bin']?.equals(other)).toBe(true)
  })

  it('is an end when the file changes over and over', async () => {
    let n = 0
    const { result, files } = await fetched(() => ({ bytes: noise(bytes.length, String(n++)) }), always(cut))
    expect(codesOf(result)).toEqual(['FILE_CHANGED'])
    expect(files).toEqual({})
  })

  it('is asked for with a strong validator only', async () => {
    const { result, files, server } = await fetched({ bytes, etag: 'W/"weak"' }, first(cut))
    expect(result.summary).toMatchObject({ written: 1 })
    expect(server.asked.map(({ range }) => range)).toEqual([undefined, undefined])
    expect(files['data.bin']?.equals(bytes)).toBe(true)
  })

  it('compares sizes when there is nothing behind what is here', async () => {
    // The first answer does not tell its length and ends too early by one byte less than nothing.
    const faults: Faults = (_, n) => (n === 0 ? { framing: 'chunked', endAfter: bytes.length } : undefined)
    const { result, files, server } = await fetched({ bytes }, faults)
    expect(server.asked[1]?.range).toBe(`bytes=${bytes.length}-`)
    expect(result.summary).toMatchObject({ written: 1 })
    expect(files['data.bin']?.equals(bytes)).toBe(true)
  })
})

describe('what was promised', () => {
  it.each([
    ['sha1', '1114', small],
    ['sha256', '1220', small],
    ['sha512', '1340', small],
    ['md5', 'd50110', small],
    ['sha256', '1220', bytes],
  ])('by a %s is compared', async (algorithm, code, data) => {
    const { result, files } = await fetched({ bytes: data }, undefined, promising(multihash(code, hash(algorithm, data)), data.length))
    expect(ofKind(result, 'written')[0]?.verified).toEqual(['size', 'checksum'])
    expect(files['data.bin']?.equals(data)).toBe(true)
  })

  it.each<[string, object, Buffer]>([
    ['another checksum', promising(multihash('1220', hash('sha256', other))), small],
    ['another checksum of a large file', promising(multihash('1220', hash('sha256', other))), bytes],
    ['another size', promising('', 4999), small],
    ['another size of a large file', promising('', 4999), bytes],
  ])('refuses %s and keeps nothing', async (_, assets, data) => {
    const { result, files } = await fetched({ bytes: data }, undefined, assets)
    expect(codesOf(result)).toEqual(['FILE_INTEGRITY'])
    expect(files).toEqual({})
  })

  it('is told when it cannot be compared', async () => {
    const { result } = await fetched({ bytes: small }, undefined, promising(`1e20${'00'.repeat(32)}`))
    expect(ofKind(result, 'warning').map(({ code }) => code)).toEqual(['CHECKSUM_UNSUPPORTED'])
    expect(result.summary).toMatchObject({ written: 1 })
  })

  it.each<[string, Record<string, string>, string | undefined]>([
    ['Repr-Digest', { 'repr-digest': `sha-256=:${hash('sha256', other).toString('base64')}:` }, undefined],
    ['Content-MD5', { 'content-md5': hash('md5', other).toString('base64') }, undefined],
    ['the entity tag of an object store', { 'x-amz-request-id': 'A1' }, `"${hash('md5', other).toString('hex')}"`],
  ])('by a server with %s is compared', async (_, headers, etag) => {
    const said = (data: Buffer) => ({ bytes: data, headers, ...(etag !== undefined && { etag }) })
    expect(codesOf((await fetched(said(small))).result)).toEqual(['FILE_INTEGRITY'])
    expect(ofKind((await fetched(said(other))).result, 'written')[0]?.verified).toEqual(['length', 'digest'])
  })

  it.each<[string, Record<string, string>]>([
    ['that says nothing else', {}],
    ['of a key service', { 'x-amz-request-id': 'A1', 'x-amz-server-side-encryption': 'aws:kms' }],
  ])('by an entity tag is not taken for an MD5 from a server %s', async (_, headers) => {
    const { result } = await fetched({ bytes: small, headers, etag: `"${hash('md5', other).toString('hex')}"` })
    expect(result.summary).toMatchObject({ written: 1 })
  })
})

describe('a web page instead of a raster', () => {
  const page = { bytes: Buffer.from('<html>log in</html>'), type: 'text/html; charset=utf-8' }
  const raster = { data: { href: 'data.tif', type: 'image/tiff; application=geotiff' } }

  it('is told', async () => {
    const { result } = await fetched(page, undefined, raster)
    expect(ofKind(result, 'warning')).toMatchObject([{ code: 'CONTENT_TYPE_UNEXPECTED' }])
  })

  it('is refused by those who are strict', async () => {
    const { result, files } = await fetched(page, undefined, raster, { strict: true })
    expect(codesOf(result)).toEqual(['CONTENT_TYPE_UNEXPECTED'])
    expect(files).toEqual({})
  })

  it('is what a document may promise', async () => {
    const { result } = await fetched(page, undefined, { data: { href: 'index.html', type: 'text/html' } }, { strict: true })
    expect(result.summary).toMatchObject({ written: 1 })
  })

  it('with 403 is a refusal', async () => {
    expect(codesOf((await fetched(page, always({ status: 403 }), raster)).result)).toEqual(['AUTH_REJECTED'])
  })
})

it('names versions by strong tags', () => {
  expect(tagOf(small)).not.toBe(tagOf(bytes))
})

describe('a body in a coding that nobody here knows', () => {
  const coded = { bytes: small, headers: { 'content-encoding': 'zstd' } }

  it('is told, and stays as it came', async () => {
    const { result, files } = await fetched(coded)
    expect(ofKind(result, 'warning')).toMatchObject([{ code: 'CONTENT_CODING_UNKNOWN', message: expect.stringContaining('"zstd"') }])
    expect(ofKind(result, 'written')).toMatchObject([{ bytes: small.length, verified: ['length'] }])
    expect(files).toEqual({ 'data.bin': small })
  })

  it('is refused by those who are strict', async () => {
    const { result, files } = await fetched(coded, undefined, plain, { strict: true })
    expect([codesOf(result), files]).toEqual([['CONTENT_CODING_UNKNOWN'], {}])
  })

  it('is what a checksum may promise', async () => {
    const { result } = await fetched(coded, undefined, promising(multihash('1220', hash('sha256', small))), { strict: true })
    expect(result.summary).toMatchObject({ written: 1 })
    expect(ofKind(result, 'warning')).toEqual([])
  })

  it('has no end of its own', async () => {
    const { result, files } = await fetched(coded, always({ framing: 'close' }))
    expect([codesOf(result), files]).toEqual([['FILE_INCOMPLETE'], {}])
  })
})

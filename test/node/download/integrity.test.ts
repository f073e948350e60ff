import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { type Asking, type Fault, noise, type ServedContent, tagOf } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run, serveFiles } from './fixture.ts'

const bytes = noise(3 * 2 ** 20)
const other = noise(3 * 2 ** 20, 'b')
const plain = { data: { href: 'data.bin' } }
const small = noise(5000)
const hash = (algorithm: string, data: Buffer) => createHash(algorithm).update(data).digest()
const multihash = (code: string, digest: Buffer) => code + digest.toString('hex')
const promising = (checksum: string, size?: number) => ({ data: { href: 'data.bin', 'file:checksum': checksum, 'file:size': size } })

type Faults = (asking: Asking, n: number) => Fault | undefined

async function fetched(
  content: ServedContent | ((asking: Asking) => ServedContent),
  faultOf?: Faults,
  assets: object = plain,
  options = {},
) {
  const server = await serveFiles((_, asking) => (typeof content === 'function' ? content(asking) : content), faultOf)
  const folder = await temporaryFolder()
  const result = await run([itemOf(server, assets)], { folder, server, ...options })
  return { result, files: await filesIn(folder), server }
}

const always =
  (fault: Fault): Faults =>
  () =>
    fault

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
  ])('an answer to a range with %s is refused, and what was there stays', async (_, fault) => {
    const { result, files } = await fetched({ bytes }, then(fault))
    expect(codesOf(result)).toEqual(['RANGE_INVALID'])
    expect(Object.keys(files).sort()).toEqual(['data.bin.part', 'data.bin.part.json'])
  })

  it('an answer to a range that no one requested is refused', async () => {
    const part = { status: 206, headers: { 'content-range': `bytes 0-${small.length - 1}/${small.length}` } }
    expect(codesOf((await fetched({ bytes: small }, always(part))).result)).toEqual(['RANGE_INVALID'])
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
  ])('what was promised by a %s is compared', async (algorithm, code, data) => {
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

  it('what was promised is reported when it cannot be compared', async () => {
    const { result } = await fetched({ bytes: small }, undefined, promising(`1e20${'00'.repeat(32)}`))
    expect(ofKind(result, 'warning').map(({ code }) => code)).toEqual(['CHECKSUM_UNSUPPORTED'])
    expect(result.summary).toMatchObject({ written: 1 })
  })

  it.each<[string, Record<string, string>, string | undefined]>([
    ['Repr-Digest', { 'repr-digest': `sha-256=:${hash('sha256', other).toString('base64')}:` }, undefined],
    ['Content-MD5', { 'content-md5': hash('md5', other).toString('base64') }, undefined],
    ['the entity tag of an object store', { 'x-amz-request-id': 'A1' }, `"${hash('md5', other).toString('hex')}"`],
  ])('what was promised by a server with %s is compared', async (_, headers, etag) => {
    const said = (data: Buffer) => ({ bytes: data, headers, ...(etag !== undefined && { etag }) })
    expect(codesOf((await fetched(said(small))).result)).toEqual(['FILE_INTEGRITY'])
    expect(ofKind((await fetched(said(other))).result, 'written')[0]?.verified).toEqual(['length', 'digest'])
  })

  it.each<[string, Record<string, string>]>([
    ['that says nothing else', {}],
    ['of a key service', { 'x-amz-request-id': 'A1', 'x-amz-server-side-encryption': 'aws:kms' }],
  ])('what was promised by an entity tag is not taken for an MD5 from a server %s', async (_, headers) => {
    const { result } = await fetched({ bytes: small, headers, etag: `"${hash('md5', other).toString('hex')}"` })
    expect(result.summary).toMatchObject({ written: 1 })
  })
})

describe('a web page instead of a raster', () => {
  const page = { bytes: Buffer.from('<html>log in</html>'), type: 'text/html; charset=utf-8' }
  const raster = { data: { href: 'data.tif', type: 'image/tiff; application=geotiff' } }

  it('a web page instead of a raster with 403 is a refusal', async () => {
    expect(codesOf((await fetched(page, always({ status: 403 }), raster)).result)).toEqual(['AUTH_REJECTED'])
  })
})

describe('a file that is served with the content coding that its name ends in', () => {
  const text = noise(5000, 'data.json')
  const packed = gzipSync(text)
  const sent: ServedContent = { bytes: packed, headers: { 'content-encoding': 'gzip' } }
  const named = (name: string, more: object = {}) => ({ data: { href: name, ...more } })
  const sum = (data: Buffer) => multihash('1220', hash('sha256', data))

  it.each(['data.json.gz', 'data.tgz'])(
    'a file that is served with the content coding that its name ends in is stored as it is sent: %s',
    async (name) => {
      const { result, files } = await fetched(sent, undefined, named(name))
      expect(codesOf(result)).toEqual([])
      expect(files).toEqual({ [name]: packed })
      expect(ofKind(result, 'written')[0]?.verified).toEqual(['length'])
    },
  )

  it.each(['data.json', 'data.json.br'])(
    'a file served with the content coding of its suffix is not stored packed under another name: %s',
    async (name) => {
      expect((await fetched(sent, undefined, named(name))).files).toEqual({ [name]: text })
    },
  )

  it.each<[string, string, object, Buffer]>([
    ['the size of the packed one', 'data.json', { 'file:size': packed.length }, packed],
    ['the size of the unpacked one', 'data.json.gz', { 'file:size': text.length }, text],
    ['the checksum of the packed one', 'data.json', { 'file:checksum': sum(packed) }, packed],
    ['the checksum of the unpacked one', 'data.json.gz', { 'file:checksum': sum(text) }, text],
    ['size and checksum of the packed one', 'data.json.gz', { 'file:checksum': sum(packed), 'file:size': packed.length }, packed],
  ])('a file served with the content coding of its suffix is what the document promises: %s', async (_, name, promised, data) => {
    for (const fault of [undefined, always({ framing: 'chunked' })]) {
      const { result, files } = await fetched(sent, fault, named(name, promised))
      expect(codesOf(result)).toEqual([])
      expect(files).toEqual({ [name]: data })
    }
  })

  it('a file served with the content coding of its suffix fails where the document promises another', async () => {
    const { result, files, server } = await fetched(sent, undefined, named('data.gz', { 'file:checksum': sum(other) }))
    expect([codesOf(result), files, server.asked.length]).toEqual([['FILE_INTEGRITY'], {}, 2])
  })

  it('needs no warning where it is one that cannot be taken off', async () => {
    const { result, files } = await fetched({ bytes: text, headers: { 'content-encoding': 'zstd' } }, undefined, named('data.zst'))
    expect([ofKind(result, 'warning'), files]).toEqual([[], { 'data.zst': text }])
  })

  it('a file served with the content coding of its suffix resumes as sent, even if parts name no coding', async () => {
    for (const coding of ['gzip', 'identity']) {
      const large: ServedContent = { bytes, headers: { 'content-encoding': 'gzip' } }
      const faults: Faults = (_, n) => (n === 0 ? { endAfter: 2 ** 21 } : { headers: { 'content-encoding': coding } })
      const { result, files } = await fetched(large, faults, named('data.gz'))
      expect([codesOf(result), result.summary.received]).toEqual([[], bytes.length])
      expect(files['data.gz']?.equals(bytes)).toBe(true)
    }
  })

  it('a file is requested as a whole when a part of it comes in another content coding', async () => {
    const faults: Faults = (_, n) => (n === 0 ? { endAfter: 2 ** 21 } : n === 1 ? { headers: { 'content-encoding': 'gzip' } } : undefined)
    const { result, files } = await fetched({ bytes }, faults, named('data.bin'))
    expect([codesOf(result), files['data.bin']?.equals(bytes)]).toEqual([[], true])
    expect(ofKind(result, 'retry').map(({ error }) => error.message)).toEqual([
      expect.any(String),
      expect.stringContaining('cannot be resumed: the part in the 206 response has another content coding'),
    ])
  })

  it('a file served with the content coding of its suffix ignores the hash of what a store unpacked', async () => {
    const md5 = hash('md5', packed).toString('base64')
    const headers = { 'x-goog-stored-content-encoding': 'gzip', 'x-goog-hash': `md5=${md5}` }
    const { result, files } = await fetched({ bytes: text, headers }, undefined, named('data.json'))
    expect([codesOf(result), files]).toEqual([[], { 'data.json': text }])
  })
})

it('names versions by strong tags', () => {
  expect(tagOf(small)).not.toBe(tagOf(bytes))
})

describe('a body in a coding that no one here knows', () => {
  const coded = { bytes: small, headers: { 'content-encoding': 'zstd' } }

  it('a body in a coding that no one here knows is reported, and stays as it came', async () => {
    const { result, files } = await fetched(coded)
    expect(ofKind(result, 'warning')).toMatchObject([{ code: 'CONTENT_CODING_UNKNOWN', message: expect.stringContaining('"zstd"') }])
    expect(ofKind(result, 'written')).toMatchObject([{ bytes: small.length, verified: ['length'] }])
    expect(files).toEqual({ 'data.bin': small })
  })

  it('a body in a coding that is named like a member of every object is reported', async () => {
    const { result, files } = await fetched({ bytes: small, headers: { 'content-encoding': 'constructor' } })
    expect(ofKind(result, 'warning')).toMatchObject([{ code: 'CONTENT_CODING_UNKNOWN' }])
    expect(files).toEqual({ 'data.bin': small })
  })

  it('a body in a coding that no one here knows is refused by those who are strict', async () => {
    const { result, files } = await fetched(coded, undefined, plain, { strict: true })
    expect([codesOf(result), files]).toEqual([['CONTENT_CODING_UNKNOWN'], {}])
  })

  it('a body in a coding that no one here knows is what a checksum may promise', async () => {
    const { result } = await fetched(coded, undefined, promising(multihash('1220', hash('sha256', small))), { strict: true })
    expect(result.summary).toMatchObject({ written: 1 })
    expect(ofKind(result, 'warning')).toEqual([])
  })

  it('a body in a coding that no one here knows has no end of its own', async () => {
    const { result, files } = await fetched(coded, always({ framing: 'close' }))
    expect([codesOf(result), files]).toEqual([['FILE_INCOMPLETE'], {}])
  })
})

/** Bodies that unpack to far more than came, that never end, or that are not what their head says. */

import { createHash } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { Readable, type Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { constants, createBrotliCompress, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../../../src/auth/create-auth.ts'
import { temporaryFolder } from '../../../cli/folder.ts'
import { unchecked } from '../../../harness/unchecked.ts'
import { noise } from '../../../servers/file-server.ts'
import { startServer, startSocketServer } from '../../../servers/harness.ts'
import { codesOf, filesIn, itemOf, ofKind, run } from '../fixture.ts'

const MIB = 2 ** 20
const ZEROS = Buffer.alloc(256 * MIB)
/** A member for each 16 MiB: packing them is most of the work. */
const member = gzipSync(ZEROS.subarray(0, 16 * MIB), { level: 9 })
const once = Buffer.concat(Array.from({ length: 16 }, () => member))
/** Both unpack to 1 GiB, so that whoever holds what they unpack to is told from whoever leaves some garbage. */
const twice = gzipSync(Buffer.concat(Array.from({ length: 4 }, () => once)), { level: 9 })
const brotli = await buffer(
  Readable.from(Array.from({ length: 4 }, () => ZEROS)).pipe(createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 3 } })),
)
const HELD = 512 * MIB
const digestOf = (bytes: Buffer) => `1220${createHash('sha256').update(bytes).digest('hex')}`

async function fetched(listener: RequestListener, asset: object = {}, options: object = {}) {
  const server = await startServer(listener)
  onTestFinished(() => server.close())
  const folder = await temporaryFolder()
  const assets = { data: { href: `${server.origin}/data.bin`, ...asset } }
  const result = await run([itemOf(server, assets)], { folder, server, retries: 2, ...options })
  const [failed] = ofKind(result, 'failed')
  return {
    codes: codesOf(result),
    received: failed?.received ?? 0,
    resumable: failed?.resumable,
    files: await filesIn(folder),
    server,
    result,
  }
}

const coded =
  (coding: string, body: Buffer): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { 'content-encoding': coding, 'content-length': body.length, etag: '"a"' }).end(body)

/** Bytes until nobody wants any more. */
const endless =
  (head: Readonly<Record<string, string>>): RequestListener =>
  (_request, response) => {
    response.writeHead(200, head)
    flood(response)
  }

function flood(stream: Writable): void {
  const piece = Buffer.alloc(65_536, 65)
  const more = (): void => {
    while (!stream.destroyed) if (!stream.write(piece)) return void stream.once('drain', more)
  }
  more()
}

describe('a body that unpacks to far more', () => {
  it.each([
    ['gzip, gzip', twice],
    ['br', brotli],
  ])('a body that unpacks to far more than such a body can hold is given up: %s', async (coding, body) => {
    expect(body.length).toBeLessThan(10_000)
    const before = process.memoryUsage().rss
    const { codes, received, files, server } = await fetched(coded(coding, body))
    expect([codes, files, server.requests.length]).toEqual([['RESPONSE_TOO_LARGE'], {}, 1])
    expect(received).toBeLessThanOrEqual(64 * MIB)
    expect(process.memoryUsage().rss - before).toBeLessThan(HELD)
  })

  it.each([
    ['gzip, gzip', twice, 1000],
    ['gzip', once, 5 * MIB],
    ['br', brotli, 100],
  ])('a body that unpacks to far more than its document states is given up there: %s', async (coding, body, size) => {
    const { codes, received, files, server } = await fetched(coded(coding, body), { 'file:size': size })
    // The second request asks whether the size is that of the coded bytes.
    expect([codes, files, server.requests.length]).toEqual([['FILE_INTEGRITY'], {}, 2])
    expect(received).toBeLessThan(2 * (size + MIB))
  })

  it('a body that unpacks to far more is given up also where the document tells a checksum only', async () => {
    const { codes, files } = await fetched(coded('gzip, gzip', twice), { 'file:checksum': digestOf(noise(100)) })
    expect([codes, files]).toEqual([['RESPONSE_TOO_LARGE'], {}])
  })

  it('a body that unpacks to far more as one coding well may is a file', async () => {
    const zeros = ZEROS.subarray(0, 66 * MIB)
    const asset = { 'file:checksum': digestOf(zeros) }
    const { codes, files } = await fetched(coded('gzip', gzipSync(zeros, { level: 9 })), asset)
    expect([codes, files['data.bin']?.equals(zeros)]).toEqual([[], true])
  })

  it('a body that unpacks to far more in five codings is not even begun', async () => {
    const { codes, received, files, server } = await fetched(coded('gzip, gzip, gzip, gzip, gzip', twice))
    expect([codes, received, files, server.requests.length]).toEqual([['RESPONSE_TOO_LARGE'], 0, {}, 1])
  })

  it('a body that unpacks to far more is not read as a token', async () => {
    const issuer = await startServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip, gzip' }).end(twice),
    )
    const depot = await startServer()
    onTestFinished(() => Promise.all([issuer.close(), depot.close()]).then(() => undefined))
    const tokenUrl = `${issuer.origin}/token`
    const entry = { id: 'a', type: 'oauth2', flow: 'clientCredentials', tokenUrl, clientId: 'a', clientSecret: 'secret-of-a' }
    const auth = createAuth({ credentials: unchecked([{ ...entry, sendTo: [`${depot.origin}/`] }]), typed: [depot.origin, issuer.origin] })
    const schemes = { oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: {} } } } }
    const names = ['a', 'b', 'c']
    const assets = Object.fromEntries(names.map((name) => [name, { href: `${depot.origin}/${name}.bin`, 'auth:refs': ['oauth'] }]))
    const folder = await temporaryFolder()
    const before = process.memoryUsage().rss
    const result = await run([itemOf(depot, assets, { properties: { 'auth:schemes': schemes } })], { folder, auth })
    expect(codesOf(result)).toEqual(names.map(() => 'RESPONSE_TOO_LARGE'))
    expect(process.memoryUsage().rss - before).toBeLessThan(HELD)
    expect([depot.requests, await filesIn(folder)]).toEqual([[], {}])
    expect(JSON.stringify(result.events)).not.toContain('secret-of-a')
  })
})

describe('a body without an end', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['in chunks', {}],
    ['in chunks, of a version', { etag: '"a"', 'accept-ranges': 'bytes' }],
    ['until the connection closes', { connection: 'close', 'transfer-encoding': 'identity' }],
  ])('a body without an end is read to where the document says that it ends: %s', async (_, head) => {
    const { codes, received, files, server } = await fetched(endless(head), { 'file:size': 3 * MIB })
    expect([codes, files, server.requests.length]).toEqual([['FILE_INTEGRITY'], {}, 1])
    expect(received).toBeLessThan(4 * MIB)
  })

  it('a body without an end is left when whoever requires it stops', async () => {
    const end = new AbortController()
    const server = await startServer(endless({}))
    onTestFinished(() => server.close())
    const folder = await temporaryFolder()
    const running = run([itemOf(server, { data: { href: 'data.bin' } })], { folder, server, signal: end.signal })
    setTimeout(() => end.abort(), 300)
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await filesIn(folder)).toEqual({})
  })

  it('a body without an end is no longer than its length: what comes behind it belongs to no one', async () => {
    const bytes = noise(5000)
    const server = await startSocketServer((socket) => {
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n`)
        socket.write(bytes)
        flood(socket)
      })
    })
    onTestFinished(() => server.close())
    const folder = await temporaryFolder()
    const assets = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { href: `${name}.bin`, 'file:checksum': digestOf(bytes) }]))
    const result = await run([itemOf(server, assets)], { folder, server, perHost: 1 })
    expect([codesOf(result), await filesIn(folder)]).toEqual([[], { 'a.bin': bytes, 'b.bin': bytes, 'c.bin': bytes }])
  })

  it('a body without an end behind a part is cut off where the part ends', async () => {
    const bytes = noise(4 * MIB)
    const { codes, files } = await fetched(({ headers: { range } }, response) => {
      const [, from] = /^bytes=(\d+)-$/.exec(range ?? '') ?? []
      const head = { etag: '"a"', 'accept-ranges': 'bytes' }
      if (from === undefined) {
        response.writeHead(200, { ...head, 'content-length': bytes.length })
        response.write(bytes.subarray(0, 2 * MIB), () => response.destroy())
        return
      }
      response.writeHead(206, { ...head, 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` })
      response.write(bytes.subarray(Number(from)))
      flood(response)
    })
    // Every byte of the part was there before the one too many, so nothing is missing.
    expect(codes).toEqual([])
    expect(files['data.bin']?.equals(bytes)).toBe(true)
  })
})

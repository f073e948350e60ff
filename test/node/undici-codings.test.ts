import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../harness/failure.ts'
import { get, granted, MIB, send, server, sockets } from './transport-fixture.ts'

describe('content codings', () => {
  const text = 'a text that is worth compressing '.repeat(2000)
  it.each([
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['deflate', deflateSync(text)],
    ['identity', Buffer.from(text)],
    ['gzip, br', brotliCompressSync(gzipSync(text))],
    ['GZIP,gzip', gzipSync(gzipSync(text))],
  ])('%s is taken off', async (coding, body) => {
    const good = await server((_request, reply) =>
      reply.writeHead(200, { 'content-encoding': coding, 'content-length': body.length }).end(body),
    )
    expect(await (await send(get(`${good.origin}/`), granted)).text(text.length)).toBe(text)
    const response = (await send(get(`${good.origin}/`), granted)).toResponse()
    expect(response.headers.has('content-encoding')).toBe(coding === 'identity')
    expect(await response.text()).toBe(text)
  })

  it('stays on when it is unknown, or on a part of a file', async () => {
    const good = await server((request, response) => {
      const [status, coding] = request.url === '/part' ? [206, 'gzip'] : [200, 'zstd']
      response.writeHead(status, { 'content-encoding': coding }).end('bytes')
    })
    for (const path of ['/part', '/unknown']) {
      const response = (await send(get(good.origin + path), granted)).toResponse()
      expect(response.headers.has('content-encoding')).toBe(true)
      expect(await response.text()).toBe('bytes')
    }
  })

  it('an empty body with a content coding is not an error', async () => {
    const good = await server((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end())
    expect(await (await send(get(`${good.origin}/`), granted)).text(0)).toBe('')
  })

  it.each([
    ['close-delimited', {}],
    ['of the announced length', { length: true }],
  ])('cut short, %s, is an error', async (_name, { length = false }: { length?: boolean }) => {
    const cut = gzipSync(text).subarray(0, -20)
    const { origin } = await sockets((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n${length ? `content-length: ${cut.length}\r\n` : ''}connection: close\r\n\r\n`,
      )
      socket.end(cut)
    })
    expect(await failureOf((await send(get(origin), granted)).bytes(MIB))).toMatchObject({ code: 'RESPONSE_TRUNCATED', retryable: true })
    expect(await failureOf((await send(get(origin), granted)).toResponse().text())).toMatchObject({ code: 'RESPONSE_TRUNCATED' })
  })

  it.each(['gzip', 'br', 'deflate'])('%s that is none is an error', async (coding) => {
    const good = await server((_request, response) =>
      response.writeHead(200, { 'content-encoding': coding }).end('this was never compressed'),
    )
    expect(await failureOf((await send(get(`${good.origin}/`), granted)).bytes(MIB))).toMatchObject({
      code: 'RESPONSE_INVALID',
      retryable: false,
    })
  })

  it('five of them are not decoded', async () => {
    const good = await server((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip, gzip, gzip, gzip, gzip' }).end('x'),
    )
    expect(await failureOf((await send(get(`${good.origin}/`), granted)).text(MIB))).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  })

  it('a bomb is stopped in little memory', async () => {
    // 1 GiB, as members one behind another are one body: more than anything that waits to be collected.
    const member = gzipSync(Buffer.alloc(256 * MIB), { level: 9 })
    const bomb = gzipSync(Buffer.concat([member, member, member, member]), { level: 9 })
    expect(bomb.length).toBeLessThan(10_000)
    const good = await server((_request, reply) => reply.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(bomb))
    const response = await send(get(`${good.origin}/`), granted)
    const before = process.memoryUsage().rss
    expect(await failureOf(response.bytes(MIB))).toMatchObject({ code: 'RESPONSE_TOO_LARGE', retryable: false })
    expect(process.memoryUsage().rss - before).toBeLessThan(512 * MIB)
  })
})

import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { HttpResponse } from '../../src/http/message.ts'
import { failureOf } from '../harness/failure.ts'
import { get, granted, MIB, send, server } from './transport-fixture.ts'

describe('a request', () => {
  it('a request arrives as it is given, with nothing of ours but the codings', async () => {
    const good = await server()
    const response = await send(
      { method: 'POST', url: `${good.origin}/a%2Fb?x=1&y=a+b`, headers: { 'x-api-key': 'k' }, body: 'text' },
      granted,
    )
    expect(response.status).toBe(200)
    expect(response.url).toBe(`${good.origin}/a%2Fb?x=1&y=a+b`)
    expect(await response.text(10)).toBe('ok')
    const { method, path, body, headers } = good.requests[0] ?? {}
    expect({ method, path, body }).toEqual({ method: 'POST', path: '/a%2Fb?x=1&y=a+b', body: 'text' })
    const ours = { host: `127.0.0.1:${good.port}`, connection: 'keep-alive', 'content-length': '4', 'accept-encoding': 'gzip, br' }
    expect(headers).toEqual({ ...ours, 'x-api-key': 'k' })
  })

  it('sends bytes, and the same request again', async () => {
    const good = await server()
    const request = { method: 'PUT', url: `${good.origin}/`, headers: {}, body: new Uint8Array([0x61, 0x62]) }
    for (let times = 0; times < 2; times++) await (await send(request, granted)).discard()
    expect(good.requests.map(({ body }) => body)).toEqual(['ab', 'ab'])
  })

  it('requests no coding beside a range or a choice of the caller', async () => {
    const good = await server()
    await (await send(get(`${good.origin}/`, { range: 'bytes=0-1' }), granted)).discard()
    await (await send(get(`${good.origin}/`, { 'accept-encoding': 'identity' }), granted)).discard()
    expect(good.requests.map(({ headers }) => headers['accept-encoding'])).toEqual([undefined, 'identity'])
  })

  it('follows no redirect', async () => {
    const good = await server((_request, reply) => reply.writeHead(302, { location: '/elsewhere' }).end())
    const response = await send(get(`${good.origin}/`), granted)
    expect([response.status, response.headers.get('Location')]).toEqual([302, '/elsewhere'])
    expect(good.requests).toHaveLength(1)
  })

  it('uses connections again', async () => {
    const good = await server((_request, response) => response.writeHead(401).end('x'.repeat(5000)))
    for (let times = 0; times < 9; times++) await (await send(get(`${good.origin}/`), granted)).discard()
    expect(good.connections).toBeLessThanOrEqual(2)
  })

  it.each([
    ['a line break in a header', { 'x-key': 'secret\r\nx: y' }],
    ['a header name that is none', { 'x key': 'secret' }],
    ['a transfer coding of its own', { 'transfer-encoding': 'secret' }],
  ])('a request is refused with %s, without quoting it', async (_name, headers) => {
    const good = await server()
    const error = await failureOf(send(get(`${good.origin}/`, headers), granted))
    expect(error).toMatchObject({ code: 'REQUEST_INVALID', name: 'ConfigurationError' })
    expect(error).not.toHaveProperty('cause')
    expect(JSON.stringify(error)).not.toContain('secret')
    expect(good.requests).toHaveLength(0)
  })

  it('a request is refused without a valid address', async () => {
    expect(await failureOf(send(get('not a url')))).toMatchObject({ code: 'REQUEST_INVALID' })
    expect(await failureOf(send(get('file:///etc/passwd')))).toMatchObject({ code: 'REQUEST_INVALID' })
  })
})

describe('an answer', () => {
  it('an answer has headers by any case, own ones only, and every cookie', async () => {
    const good = await server((_request, response) =>
      response
        .writeHead(
          200,
          [
            ['X-One', '1'],
            ['x-one', '2'],
            ['Set-Cookie', 'a=1'],
            ['Set-Cookie', 'b=2'],
          ].flat(),
        )
        .end(),
    )
    const { headers } = await send(get(`${good.origin}/`), granted)
    expect(headers.get('X-ONE')).toBe('1, 2')
    expect(headers.getSetCookie?.()).toEqual(['a=1', 'b=2'])
    expect(headers.get('constructor')).toBeNull()
    expect(headers.get('absent')).toBeNull()
    expect(inspect(headers)).toContain("'x-one': [ '1', '2' ]")
    expect(inspect(headers)).toContain("'set-cookie': '[secret]'")
  })

  it('becomes a standard Response', async () => {
    const good = await server((_request, reply) =>
      reply.writeHead(206, 'Some of it', { 'content-type': 'text/plain', 'x-latin': 'é' }).end('body'),
    )
    const response = (await send(get(`${good.origin}/x`), granted)).toResponse()
    expect(response).toBeInstanceOf(globalThis.Response)
    expect([response.status, response.statusText, response.url]).toEqual([206, 'Some of it', `${good.origin}/x`])
    expect(response.headers.get('content-type')).toBe('text/plain')
    expect(await response.text()).toBe('body')
  })

  it.each([204, 205, 304])('an answer has no body with status %i', async (status) => {
    const good = await server((_request, reply) => reply.writeHead(status).end())
    const response = (await send(get(`${good.origin}/`), granted)).toResponse()
    expect([response.status, response.body]).toEqual([status, null])
  })

  it('refuses to give a body twice, which would look like an empty file', async () => {
    const good = await server()
    const readers = [
      (response: HttpResponse) => response.text(10),
      (response: HttpResponse) => response.bytes(10),
      async (response: HttpResponse) => {
        for await (const chunk of response.chunks?.() ?? []) expect(chunk.length).toBeGreaterThan(0)
      },
      async (response: HttpResponse) => response.toResponse().text(),
    ]
    for (const read of readers) {
      const response = await send(get(`${good.origin}/`), granted)
      await read(response)
      for (const again of readers) await expect(again(response)).rejects.toThrow('the body of this response has already been read')
      await response.discard()
    }
  })

  it('an answer has no body for HEAD, whatever its headers announce', async () => {
    const good = await server((_request, reply) => reply.writeHead(200, { 'content-length': 1000, 'content-encoding': 'gzip' }).end())
    const response = (await send({ ...get(`${good.origin}/`), method: 'HEAD' }, granted)).toResponse()
    expect(response.body).toBeNull()
    expect(response.headers.get('content-length')).toBe('1000')
  })

  it('a response with a status that Response does not allow is reported', async () => {
    const good = await server((_request, reply) => reply.writeHead(999).end('x'))
    const response = await send(get(`${good.origin}/`), granted)
    expect(() => response.toResponse()).toThrow(expect.objectContaining({ code: 'RESPONSE_INVALID', status: 999 }))
    await response.discard()
  })

  it('slows the server down when no one reads, and closes the connection when it is cancelled', async () => {
    let sent = 0
    let closed = false
    const good = await server((_request, reply) => {
      reply.on('close', () => {
        closed = true
      })
      const more = () => {
        while (sent < 64 * MIB && reply.write(Buffer.alloc(65_536))) sent += 65_536
        if (sent < 64 * MIB) reply.once('drain', more)
      }
      more()
    })
    const response = (await send(get(`${good.origin}/`), granted)).toResponse()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(sent).toBeLessThan(16 * MIB)
    await response.body?.cancel()
    await expect.poll(() => closed).toBe(true)
  })
})

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { NetworkError } from '../../src/errors.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { failureOf, thrownBy } from '../harness/failure.ts'
import { startSocketServer } from '../servers/harness.ts'
import { get, granted, MIB, send, server, sockets } from './transport-fixture.ts'

describe('a broken network', () => {
  it('NETWORK_REFUSED where no one listens', async () => {
    const { origin, close } = await startSocketServer(() => {})
    await close()
    expect(await failureOf(send(get(`${origin}/x?sig=secret`), granted))).toMatchObject({
      code: 'NETWORK_REFUSED',
      retryable: true,
      url: `${origin}/x`,
    })
  })

  it('NETWORK_DNS for a name that does not exist', async () => {
    const lookup = async () => {
      throw Object.assign(new Error('queryA data.example'), { code: 'ENOTFOUND' })
    }
    const error = await failureOf(undiciTransport({ env: {}, lookup })(get('https://data.example/')))
    expect(error).toMatchObject({ code: 'NETWORK_DNS', retryable: false })
    expect((error as Error).message).toBe('https://data.example: the host name was not found')
  })

  it('NETWORK_RESET before and after the first byte', async () => {
    const before = await sockets((socket) => socket.once('data', () => socket.resetAndDestroy()))
    expect(await failureOf(send(get(before.origin), granted))).toMatchObject({ code: 'NETWORK_RESET', retryable: true })
    const after = await sockets((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin', () => setTimeout(() => socket.resetAndDestroy(), 30)),
      ),
    )
    const response = await send(get(after.origin), granted)
    expect(await failureOf(response.bytes(MIB))).toMatchObject({ code: 'NETWORK_RESET', retryable: true })
  })

  it('NETWORK_RESET when the connection closes instead of answering', async () => {
    const { origin } = await sockets((socket) => socket.once('data', () => socket.end()))
    expect(await failureOf(send(get(origin), granted))).toMatchObject({ code: 'NETWORK_RESET' })
  })

  it.each([
    ['a short body', 'content-length: 100\r\n\r\nbegin'],
    ['a cut chunk', 'transfer-encoding: chunked\r\n\r\n64\r\nbegin'],
    ['a missing last chunk', 'transfer-encoding: chunked\r\n\r\n5\r\nbegin\r\n'],
  ])('%s is an error', async (_name, rest) => {
    const { origin } = await sockets((socket) => socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${rest}`)))
    const codes = expect.stringMatching(/^(RESPONSE_TRUNCATED|NETWORK_RESET)$/)
    expect(await failureOf((await send(get(origin), granted)).bytes(MIB))).toMatchObject({ code: codes, retryable: true })
    expect(await failureOf((await send(get(origin), granted)).toResponse().arrayBuffer())).toMatchObject({ code: codes, retryable: true })
  })

  it('a body that is whole is no error, whatever becomes of its connection while no one reads', async () => {
    // So many bytes that those which came last are the first that are held back.
    const body = Buffer.alloc(262_200, 'x')
    let closed = false
    const { origin } = await sockets((socket) => {
      socket.on('close', () => {
        closed = true
      })
      socket.once('data', () => socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`), body])))
    })
    const response = await send(get(origin), granted)
    await expect.poll(() => closed).toBe(true)
    expect(Buffer.from(await response.bytes(MIB)).equals(body)).toBe(true)
  })

  it('RESPONSE_INVALID for what is not HTTP', async () => {
    const { origin } = await sockets((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n')))
    expect(await failureOf(send(get(origin), granted))).toMatchObject({ code: 'RESPONSE_INVALID' })
  })

  it('a status that no Response can have closes the connection', async () => {
    let closed = false
    const { origin } = await sockets((socket) => {
      socket.on('close', () => {
        closed = true
      })
      socket.once('data', () => socket.write('HTTP/1.1 799 Odd\r\ncontent-length: 100\r\n\r\nbegin'))
    })
    const response = await send(get(origin), granted)
    expect(thrownBy(() => response.toResponse())).toMatchObject({ code: 'RESPONSE_INVALID', status: 799 })
    await expect.poll(() => closed).toBe(true)
  })

  it('errors hold nothing of the request', async () => {
    const { origin, close } = await startSocketServer(() => {})
    await close()
    const error = await failureOf(send(get(`${origin}/?key=canary`, { authorization: 'Bearer canary' }), granted))
    expect(error).toBeInstanceOf(NetworkError)
    const { inspect } = await import('node:util')
    expect(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain('canary')
  })
})

describe('load', () => {
  it('200 requests at once come back right', async () => {
    const good = await server((request, response) => response.end(request.url))
    const paths = Array.from({ length: 200 }, (_, index) => `/${createHash('sha256').update(`${index}`).digest('hex')}`)
    const texts = await Promise.all(paths.map(async (path) => (await send(get(good.origin + path), granted)).text(100)))
    expect(texts).toEqual(paths)
  })
})

/** Servers that send informational responses unasked, and servers that speak HTTP/2 only. */
import { createSecureServer, createServer } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { failureOf } from '../harness/failure.ts'
import { CERTIFIED, TEST_CA } from '../servers/harness.ts'
import { afterEveryTest } from '../setup/hooks.ts'
import { get, granted, MIB, send, sockets } from './transport-fixture.ts'

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

const closing: (() => void)[] = []
afterEveryTest(() => {
  for (const close of closing.splice(0)) close()
})

/** Answers every request of every connection with those pieces, each in its own segment. */
const repeating = (...pieces: readonly string[]) =>
  sockets((socket) => {
    socket.setNoDelay(true).on('data', async () => {
      for (const piece of pieces) {
        socket.write(piece)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })
  })

async function listening(started: Pick<Server, 'listen' | 'address' | 'close' | 'on'>, protocol = 'https'): Promise<string> {
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  started.on('connection', (socket: Socket) => closing.push(() => socket.destroy()))
  closing.push(() => started.close())
  return `${protocol}://127.0.0.1:${(started.address() as AddressInfo).port}`
}

const transport = undiciTransport({ env: {}, ca: TEST_CA })

describe('informational responses', () => {
  it.each([
    ['100 Continue', [CONTINUE, OK]],
    ['100 Continue in one segment with the response', [CONTINUE + OK]],
    ['100 Continue cut in the middle', [CONTINUE.slice(0, 9), CONTINUE.slice(9, 20), CONTINUE.slice(20) + OK]],
    ['100 Continue with fields, twice', ['HTTP/1.1 100 Continue\r\nserver: a\r\n\r\n', CONTINUE, OK]],
    ['102 Processing', ['HTTP/1.1 102 Processing\r\n\r\n', OK]],
    ['103 Early Hints after 100', [CONTINUE, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', OK]],
    ['an unassigned one', ['HTTP/1.1 199 Other\r\n\r\n', OK]],
  ])('are skipped: %s', async (_name, pieces) => {
    const { origin } = await repeating(...pieces)
    for (const method of ['GET', 'POST']) {
      const request = { ...get(origin), method, ...(method === 'POST' && { body: Buffer.from('a') }) }
      const response = await send(request, granted)
      expect([response.status, await response.text(MIB)]).toEqual([200, 'ok'])
    }
  })

  it('are skipped on a reused connection and on a dedicated one', async () => {
    let connections = 0
    const { origin } = await sockets((socket) => {
      connections += 1
      socket.on('data', () => socket.write(CONTINUE + OK))
    })
    for (let count = 0; count < 3; count++) expect(await (await send(get(origin), granted)).text(MIB)).toBe('ok')
    expect(connections).toBe(1)
    const dedicated = await transport.connect(origin, granted)
    for (let count = 0; count < 2; count++) expect(await (await dedicated.send(get(origin), granted)).text(MIB)).toBe('ok')
    dedicated.close()
  })

  it('count as bytes of the headers, and a body that looks like one stays whole', async () => {
    const body = `${CONTINUE}${OK}`
    const { origin } = await repeating(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`, body)
    expect(await (await send(get(origin), granted)).text(MIB)).toBe(body)
    const large = await repeating(`HTTP/1.1 100 Continue\r\na: ${'a'.repeat(20_000)}\r\n\r\n`, OK)
    expect(await failureOf(send(get(large.origin), granted))).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  })

  it('that no response follows are an error', async () => {
    const { origin } = await sockets((socket) => socket.on('data', () => socket.end(CONTINUE)))
    expect(await failureOf(send(get(origin), granted))).toMatchObject({ code: 'NETWORK_RESET' })
  })
})

describe('a server that speaks HTTP/2 only', () => {
  const error = (origin: string) => ({
    code: 'NETWORK_HTTP2',
    retryable: false,
    message: `${origin}: the server does not accept HTTP/1.1, it speaks HTTP/2 only`,
    hint: expect.stringMatching(/allow HTTP\/1\.1, or send through a gateway/),
  })

  it('is named when it refuses the protocol in the TLS handshake', async () => {
    const origin = await listening(createSecureServer({ ...CERTIFIED, allowHTTP1: false }))
    expect(await failureOf(transport(get(`${origin}/x?sig=secret`), granted))).toMatchObject(error(origin))
    expect(await failureOf(transport.connect(origin, granted))).toMatchObject(error(origin))
  })

  it('is named when it starts with a frame, with and without TLS', async () => {
    const plain = await listening(createServer(), 'http')
    expect(await failureOf(send(get(plain), granted))).toMatchObject(error(plain))
    const settings = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0x80])
    const encrypted = await listening(createTlsServer(CERTIFIED, (socket) => socket.on('error', () => {}).write(settings)))
    expect(await failureOf(transport(get(encrypted), granted))).toMatchObject(error(encrypted))
  })

  it('is used with HTTP/1.1 when it accepts both', async () => {
    const both = createSecureServer({ ...CERTIFIED, allowHTTP1: true }, (request, response) => response.end(request.httpVersion))
    expect(await (await transport(get(await listening(both)), granted)).text(MIB)).toBe('1.1')
  })

  it('is not suspected for other bytes that are not HTTP', async () => {
    const { origin } = await sockets((socket) => socket.on('data', () => socket.end('\0\0\0 not a frame')))
    expect(await failureOf(send(get(origin), granted))).toMatchObject({ code: 'RESPONSE_INVALID' })
  })
})

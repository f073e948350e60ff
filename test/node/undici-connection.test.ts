import { once } from 'node:events'
import { createServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it } from 'vitest'
import type { Connection } from '../../src/http/message.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { failureOf } from '../harness/failure.ts'
import { startServer, TEST_CA } from '../servers/harness.ts'
import { get, granted, MIB, server } from './transport-fixture.ts'

const transport = undiciTransport({ ca: TEST_CA, env: {} })
const context = new TextEncoder().encode('context')

/** Uses a connection and closes it. */
async function over<T>(url: string, use: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await transport.connect(url, granted)
  try {
    return await use(connection)
  } finally {
    connection.close()
  }
}

const textAt = async (connection: Connection, url: string) => (await connection.send(get(url), granted)).text(MIB)

describe('a connection', () => {
  it('carries every request that is sent over it, and no other', async () => {
    const ports: (number | undefined)[] = []
    const good = await server((request, response) => {
      ports.push(request.socket.remotePort)
      response.end('ok')
    })
    await over(good.origin, async (connection) => {
      for (let round = 0; round < 3; round++) expect(await textAt(connection, `${good.origin}/${round}`)).toBe('ok')
      await (await transport(get(`${good.origin}/other`), granted)).discard()
    })
    expect(new Set(ports.slice(0, 3)).size).toBe(1)
    expect(ports[3]).not.toBe(ports[0])
  })

  it('a connection is closed when what was under way has been read', async () => {
    const good = await server()
    let closed = 0
    good.server.on('connection', (socket) => socket.on('close', () => closed++))
    const response = await over(good.origin, (connection) => connection.send(get(`${good.origin}/`), granted))
    expect(closed).toBe(0)
    expect(await response.text(MIB)).toBe('ok')
    await expect.poll(() => closed).toBe(1)
  })

  it('a connection is closed unused', async () => {
    const good = await server()
    let closed = 0
    good.server.on('connection', (socket) => socket.on('close', () => closed++))
    await over(good.origin, async () => {})
    await expect.poll(() => closed).toBe(1)
    expect(good.requests).toEqual([])
  })

  it('a connection is not opened again when the server closed it', async () => {
    const good = await server((_request, response) => response.writeHead(200, { connection: 'close' }).end('ok'))
    await over(good.origin, async (connection) => {
      expect(await textAt(connection, `${good.origin}/`)).toBe('ok')
      expect(await failureOf(connection.send(get(`${good.origin}/`), granted))).toMatchObject({ code: 'NETWORK_RESET' })
    })
    expect(good.connections).toBe(1)
  })

  it('a connection is used for its own origin only', async () => {
    const [good, other] = [await server(), await server()]
    await over(good.origin, async (connection) => {
      expect(await failureOf(connection.send(get(`${other.origin}/`), granted))).toBeInstanceOf(TypeError)
    })
    expect(other.connections).toBe(0)
  })

  it('a connection is refused where sending is refused', async () => {
    const good = await server()
    expect(await failureOf(transport.connect(good.origin))).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
    expect(good.connections).toBe(0)
    await good.close()
    expect(await failureOf(transport.connect(good.origin, granted))).toMatchObject({ code: 'NETWORK_REFUSED' })
    expect(await failureOf(transport.connect(good.origin, { ...granted, signal: AbortSignal.abort('no') }))).toMatchObject({
      code: 'ABORTED',
    })
  })

  it('gives up with its caller, and leaves nothing open', async () => {
    const silent = createServer()
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    const controller = new AbortController()
    const connecting = failureOf(transport.connect(`https://127.0.0.1:${port}/`, { ...granted, signal: controller.signal }))
    const [socket] = await once(silent, 'connection')
    controller.abort('enough')
    expect(await connecting).toMatchObject({ code: 'ABORTED', cause: 'enough' })
    socket.destroy()
    silent.close()
    await once(silent, 'close')
  })
})

describe('keying material', () => {
  it('keying material is what the other end of this connection has, and of no other one', async () => {
    const secrets: Buffer[] = []
    const good = await startServer(
      ({ socket }, response) => {
        secrets.push((socket as TLSSocket).exportKeyingMaterial(48, 'EXPORTER-label', Buffer.from(context)))
        response.end('ok')
      },
      { tls: 'valid' },
    )
    try {
      const ours = [0, 1].map(() =>
        over(good.origin, async (connection) => {
          await textAt(connection, `${good.origin}/`)
          return connection.keyingMaterial(48, 'EXPORTER-label', context)
        }),
      )
      const [one, other] = await Promise.all(ours)
      const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex')
      expect([hex(one), hex(other)].sort()).toEqual(secrets.map(hex).sort())
      expect(hex(one)).toHaveLength(96)
      expect(hex(one)).not.toBe(hex(other))
    } finally {
      await good.close()
    }
  })

  it('keying material is not there without TLS 1.3', async () => {
    const good = await server()
    await over(good.origin, async (connection) => {
      expect(connection.keyingMaterial(48, 'EXPORTER-label', context)).toBeUndefined()
    })
  })
})

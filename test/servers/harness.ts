/**
 * Recording servers on loopback. `good` is granted by its loopback address or its public name; `evil` and `internal` are reached by name:
 * `evil` has a public address, `internal` a private one, and a `connect` below the address guard maps both to loopback.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { UndiciTransportOptions } from '../../src/node/transport/undici-transport.ts'

/** One request as a server saw it. */
export interface Recorded {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A server that remembers every connection, request and byte. */
export interface RecordingServer {
  readonly port: number
  /** By loopback address. */
  readonly origin: string
  readonly requests: readonly Recorded[]
  readonly connections: number
  /** Everything received after decryption, as Latin-1, to search for secrets. */
  readonly received: string
  readonly server: Server
  close(): Promise<void>
}

export interface ServerOptions {
  /** `valid` for https with the test authority's certificate, others for https that must fail. */
  readonly tls?: 'valid' | 'expired' | 'self-signed'
  /** Milliseconds an idle connection is kept. */
  readonly keepAlive?: number
}

export const TEST_CA = readTls('ca.pem')
/** What a server of that authority on loopback shows. */
export const CERTIFIED = { key: readTls('server.key'), cert: readTls('server.pem') }

/** Names of the three servers and what a name server says about them. */
export const HOSTS = {
  good: { name: 'data.example', address: '93.184.215.14' },
  evil: { name: 'evil.example', address: '93.184.215.15' },
  internal: { name: 'internal.example', address: '10.1.2.3' },
} as const

/** Starts a recording server on a free port of 127.0.0.1; without a listener every request gets `ok`. */
export async function startServer(listener: RequestListener = ok, { tls, keepAlive = 5000 }: ServerOptions = {}): Promise<RecordingServer> {
  const requests: Recorded[] = []
  const received: Buffer[] = []
  let connections = 0
  const options = { keepAliveTimeout: keepAlive, ...(tls && { key: readTls('server.key'), cert: readTls(certificate(tls)) }) }
  const server = (tls ? createTlsServer(options) : createServer(options)) as Server
  server.on('request', (request, response) => {
    const body: Buffer[] = []
    request.on('data', (chunk: Buffer) => body.push(chunk))
    const { method = '', url = '', headers } = request
    request.on('end', () => {
      requests.push({ method, path: url, headers, body: Buffer.concat(body).toString() })
      listener(request, response)
    })
  })
  server.on('connection', () => connections++)
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    socket.on('data', (chunk: Buffer) => received.push(chunk))
  })
  const port = await listen(server)
  return {
    port,
    origin: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    server,
    get connections() {
      return connections
    },
    get received() {
      return Buffer.concat(received).toString('latin1')
    },
    close: () => close(server),
  }
}

/** A TCP server below HTTP: for silence, resets, broken framing. */
export async function startSocketServer(
  onSocket: (socket: Socket) => void,
): Promise<{ port: number; origin: string; close(): Promise<void> }> {
  const { createServer: createSocketServer } = await import('node:net')
  const sockets = new Set<Duplex>()
  const server = createSocketServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  const port = await listen(server)
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Transport options under which the names of {@link HOSTS} lead to these servers, each by https on port 443. */
export function network(servers: { readonly [name in keyof typeof HOSTS]?: RecordingServer }): UndiciTransportOptions {
  const entries = Object.entries(HOSTS) as [keyof typeof HOSTS, (typeof HOSTS)[keyof typeof HOSTS]][]
  return {
    ca: TEST_CA,
    env: {},
    lookup: async (hostname) => {
      const host = entries.find(([, { name }]) => name === hostname)?.[1]
      if (!host) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
      return [{ address: host.address, family: 4 }]
    },
    connect: ({ address, port }) => {
      const place = entries.find(([, host]) => host.address === address)?.[0]
      return { address: '127.0.0.1', port: (place && servers[place]?.port) ?? port }
    },
  }
}

const ok: RequestListener = (_request, response) => {
  response.end('ok')
}

async function listen(server: { listen(port: number, host: string): unknown; address(): AddressInfo | string | null }): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server as never, 'listening')
  return (server.address() as AddressInfo).port
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

function certificate(kind: 'valid' | 'expired' | 'self-signed'): string {
  return kind === 'valid' ? 'server.pem' : `${kind}.pem`
}

function readTls(name: string): string {
  return readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8')
}

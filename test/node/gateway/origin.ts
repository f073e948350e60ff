/** An archive for the tests of the gateway: it refuses everything without a token, cuts bodies, and remembers what it was sent. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { onTestFinished } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { Auth } from '../../../src/index.ts'
import { createGateway, type Gateway, type GatewayOptions, type GatewayRequest } from '../../../src/node/gateway/gateway.ts'
import { EXTENSION } from '../../harness/documents.ts'

export interface Sent {
  readonly method: string
  /** As in the request line, byte for byte. */
  readonly target: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface ArchiveOptions {
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Media type by path; default `application/octet-stream`. */
  readonly types?: Readonly<Record<string, string>>
  /** True for an `Authorization` that gives access; default: everybody may read. */
  readonly accepts?: (authorization: string | undefined) => boolean
  /** Answers in place of the archive. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Bytes after which the connection is closed, for the body of that request (from 1). */
  readonly cut?: (request: number) => number | undefined
  readonly etag?: (request: number) => string
}

export interface Archive {
  /** With a slash at the end. */
  readonly origin: string
  readonly sent: readonly Sent[]
}

/** Starts an archive that ends with the test. */
export async function startArchive(options: ArchiveOptions = {}): Promise<Archive> {
  const sent: Sent[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    sent.push({ method: request.method ?? '', target: request.url ?? '', headers: request.headers, body })
    const number = sent.length
    if (options.accepts && !options.accepts(request.headers.authorization)) {
      const shown = String(request.headers.authorization)
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="archive"', 'x-echo': shown }).end(`you sent ${shown}`)
      return
    }
    if (options.answer?.(request, response)) return
    serve(request, response, options, number)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sent }
}

function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { files = {}, types = {}, cut, etag }: ArchiveOptions,
  number: number,
): void {
  const path = (request.url ?? '').split('?')[0] ?? ''
  const content = Object.hasOwn(files, path) ? files[path] : undefined
  if (content === undefined) {
    response.writeHead(404, { 'content-length': 0 }).end()
    return
  }
  const bytes = Buffer.from(content)
  const tag = etag?.(number) ?? '"v1"'
  const secretive = { 'set-cookie': 'session=archive', 'www-authenticate': 'Bearer', 'x-internal': 'yes' }
  const headers = { etag: tag, 'accept-ranges': 'bytes', 'content-type': types[path] ?? 'application/octet-stream', ...secretive }
  if (request.headers['if-none-match'] === tag) {
    response.writeHead(304, headers).end()
    return
  }
  const ifRange = request.headers['if-range']
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  const isPart = first !== undefined && (ifRange === undefined || ifRange === tag)
  const [start, end] = isPart ? [Number(first), last ? Math.min(Number(last), bytes.length - 1) : bytes.length - 1] : [0, bytes.length - 1]
  if (start >= bytes.length && bytes.length > 0) {
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}`, 'content-length': 0 }).end()
    return
  }
  const part = bytes.subarray(start, end + 1)
  const range = isPart ? { 'content-range': `bytes ${start}-${end}/${bytes.length}` } : {}
  response.writeHead(isPart ? 206 : 200, { ...headers, ...range, 'content-length': part.length })
  const stop = cut?.(number)
  if (stop === undefined || stop >= part.length || request.method === 'HEAD') response.end(request.method === 'HEAD' ? undefined : part)
  else response.write(part.subarray(0, stop), () => response.destroy())
}

export interface OpenGateway extends Gateway {
  readonly events: readonly GatewayRequest[]
  readonly port: number
}

/** Opens a gateway that ends with the test. */
export async function openGateway(auth: Auth, options: GatewayOptions = {}): Promise<OpenGateway> {
  const events: GatewayRequest[] = []
  const gateway = await createGateway(auth, { onRequest: (event) => events.push(event), ...options })
  onTestFinished(() => gateway.close())
  return { ...gateway, events, port: Number(new URL(gateway.base).port) }
}

export const TOKEN = 'sesame-123-open'

/** An engine with one token for these URLs. */
export function withToken(...sendTo: string[]): Auth {
  return createAuth({ credentials: [{ id: 'archive', type: 'http', scheme: 'bearer', token: TOKEN, sendTo }] })
}

export const isToken = (authorization: string | undefined): boolean => authorization === `Bearer ${TOKEN}`

/** An Item with these assets, whose scheme `token` is HTTP Bearer. */
export function itemWith(assets: object, links: readonly object[] = []): object {
  const properties = { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { token: { type: 'http', scheme: 'bearer' } } }
  return { type: 'Feature', stac_version: '1.0.0', stac_extensions: [EXTENSION], id: 'scene', geometry: null, properties, links, assets }
}

/** Sends bytes to a port and returns everything that comes back until the connection ends, or is idle for that many milliseconds. */
export async function raw(port: number, bytes: string, idle = 500): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  // A busy machine takes its time for the first byte.
  socket.setTimeout(Math.max(idle, 5000), () => socket.destroy())
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => {
    socket.setTimeout(idle)
    chunks.push(chunk)
  })
  socket.on('error', () => {})
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

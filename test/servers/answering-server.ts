/** Servers on loopback that are one function: a request as plain data in, an answer as plain data out. They remember everything. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** A request as it came in. */
export interface Inquiry {
  readonly method: string
  /** As in the request line, byte for byte. */
  readonly target: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The body as it came; absent where an inquiry is made by hand. */
  readonly bytes?: Uint8Array
  /** Which of the connections that carried requests, from 1. */
  readonly connection: number
  /** Secrets of the connection that it came over (RFC 8446 §7.5); only there when it is encrypted. */
  readonly keyingMaterial?: (length: number, label: string, context: Buffer) => Buffer
}

/** Key and certificate of an https server, PEM. */
export interface Certified {
  readonly key: string
  readonly cert: string
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** One `Set-Cookie` field each. */
  readonly cookies?: readonly string[]
  readonly body?: string | Uint8Array
}

export interface Exchange {
  readonly request: Inquiry
  readonly answer: Answer
}

export interface AnsweringServer {
  /** Without a slash at the end. */
  readonly origin: string
  readonly exchanges: readonly Exchange[]
  /** Connections ever opened, also those over which nothing was asked. */
  readonly connections: number
  close(): Promise<void>
}

/** Starts a server on a free port of 127.0.0.1, https with a certificate. A request that cannot be read is 400. */
export async function startAnswering(
  answerTo: (request: Inquiry) => Answer | Promise<Answer>,
  certified?: Certified,
): Promise<AnsweringServer> {
  const exchanges: Exchange[] = []
  let connections = 0
  let used = 0
  const numbers = new WeakMap<Socket, number>()
  const numberOf = (socket: Socket) => {
    if (!numbers.has(socket)) numbers.set(socket, ++used)
    return numbers.get(socket) ?? 0
  }
  const respond = async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = await inquiryOf(incoming, numberOf(incoming.socket))
    const answer = request ? await answerTo(request) : { status: 400 }
    if (request) exchanges.push({ request, answer })
    const { status, headers, cookies = [], body = '' } = answer
    response
      .writeHead(status, {
        'content-length': Buffer.byteLength(body),
        ...headers,
        ...(cookies.length > 0 && { 'set-cookie': [...cookies] }),
      })
      .end(body)
  }
  // A caller that goes away in the middle of its request needs no answer.
  const listener = (incoming: IncomingMessage, response: ServerResponse) => respond(incoming, response).catch(() => response.destroy())
  const server = certified ? createTlsServer(certified, listener) : createServer(listener)
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `${certified ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    get connections() {
      return connections
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** An answer in JSON. */
export function jsonAnswer(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}

async function inquiryOf(incoming: IncomingMessage, connection: number): Promise<Inquiry | undefined> {
  const { method = '', url = '', headers } = incoming
  if (!URL.canParse(url, 'http://server')) return undefined
  const { pathname, searchParams } = new URL(url, 'http://server')
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const { socket } = incoming
  const bytes = Buffer.concat(chunks)
  const request = { method, target: url, path: pathname, query: searchParams, headers, body: bytes.toString(), bytes, connection }
  return socket instanceof TLSSocket ? { ...request, keyingMaterial: socket.exportKeyingMaterial.bind(socket) } : request
}

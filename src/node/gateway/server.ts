/** Where the gateway listens, and how many connections it serves at once. */
import { lstat, unlink } from 'node:fs/promises'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { IntegrityError, NetworkError } from '../../errors.ts'
import { isLoopbackHost } from '../../http/url.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { bracketed, closed, listenAt, listenOnLoopback } from '../base/local-server.ts'

/** The path of a Unix socket, which only the user can open; or an address that others can connect to, with `othersCanConnect`. */
export type GatewayListen = { readonly path: string } | { readonly host: string; readonly port?: number; readonly othersCanConnect: true }

export interface ListenOptions {
  readonly port?: number
  readonly listen?: GatewayListen
}

/** Maximum number of connections that are served at once. */
const MOST_SERVED = 256

/** Maximum number of further connections that wait until a served one ends or is idle. */
const MOST_WAITING = 2048

/** Milliseconds without a request after which a connection is closed for a waiting one. */
const IDLE = 1000

/** Milliseconds that `close` waits for the ends of responses, which the engine ends at once when their connections are closed. */
const LAST_RESPONSES = 1000

/** Maximum number of requests that one connection may send before the first is answered. */
const MOST_PIPELINED = 64

/** A connection; `since` is when its last request ended, or when it was opened. */
interface Served {
  /** Requests that have begun and not ended. */
  requests: number
  since: number
  /** Settles when the last request is answered. */
  last: Promise<void> | undefined
}

type Respond = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>

/** Maximum bytes of the request line and the header fields. */
const HEADER_LIMIT = 32_768

/** A server for the programs of this machine, unless the user says otherwise. */
export class GatewayServer {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string
  readonly #http = createHttpServer({ maxHeaderSize: HEADER_LIMIT, keepAliveTimeout: 60_000, insecureHTTPParser: false })
  readonly #servers: readonly Server[]
  /** Undefined for a Unix socket. */
  readonly #port: number | undefined
  readonly #listen: GatewayListen | undefined
  readonly #served = new Map<Socket, Served>()
  readonly #waiting = new Set<Socket>()
  readonly #responding = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  private constructor(servers: readonly Server[], listen: GatewayListen | undefined) {
    this.#servers = servers
    this.#listen = listen
    const address = servers[0]?.address() as AddressInfo | string
    const host = listen && 'host' in listen ? bracketed(listen.host) : '127.0.0.1'
    this.#port = typeof address === 'string' ? undefined : address.port
    this.origin = this.#port === undefined ? 'http://localhost' : `http://${host}:${this.#port}`
    this.#http.timeout = 60_000
    for (const server of servers) server.on('connection', (socket) => this.#admit(socket))
  }

  /** Listens on 127.0.0.1 and, where there is one, ::1; or where the options say. Errors: `NETWORK_LISTEN`, `PATH_EXISTS`. */
  static async open({ port = 0, listen }: ListenOptions): Promise<GatewayServer> {
    if (!listen) {
      const addresses = ['127.0.0.1', '::1'] as const
      return new GatewayServer(await listenOnLoopback({ addresses, port, create: createPaused, hint: IN_USE }), listen)
    }
    if ('path' in listen) return new GatewayServer([await onSocket(listen.path)], listen)
    const server = createPaused()
    await listenAt(server, { host: listen.host, port: listen.port ?? port }, IN_USE)
    return new GatewayServer([server], listen)
  }

  /** Answers requests from now on. */
  serve(respond: Respond): void {
    const serve = (incoming: IncomingMessage, outgoing: ServerResponse) => this.#inOrder(incoming, outgoing, respond)
    this.#http.on('request', serve)
    this.#http.on('checkContinue', serve)
  }

  /** True for a value of `Host` that names this server. */
  isHost(host: string): boolean {
    if (this.#listen && 'host' in this.#listen) return isFixedHost(host, [this.#listen.host.toLowerCase(), hostname().toLowerCase()])
    return this.#port === undefined ? host === 'localhost' : isLoopbackAt(host, this.#port)
  }

  /** Answers the requests of one connection one after the other, even if several arrive at once. */
  #inOrder(incoming: IncomingMessage, outgoing: ServerResponse, respond: Respond): void {
    const { socket } = incoming
    const served = this.#served.get(socket)
    if (!served || ++served.requests > MOST_PIPELINED) {
      socket.destroy()
      return
    }
    const ended = new Promise<void>((resolve) => {
      outgoing.once('close', () => {
        served.requests--
        served.since = performance.now()
        resolve()
      })
    })
    const before = served.requests > 1 ? served.last : undefined
    served.last = ended
    const begun = before ? before.then(() => (socket.destroyed ? undefined : respond(incoming, outgoing))) : respond(incoming, outgoing)
    const done = begun.catch(() => void socket.destroy()).finally(() => this.#responding.delete(done))
    this.#responding.add(done)
  }

  /** Stops listening, ends all connections, and waits until the responses that this interrupts are reported. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    const closing = this.#servers.map(closed)
    for (const socket of [...this.#served.keys(), ...this.#waiting]) socket.destroy()
    await Promise.all(closing)
    const timer = new AbortController()
    const late = sleep(LAST_RESPONSES, undefined, { signal: timer.signal }).catch(() => undefined)
    await Promise.race([Promise.all(this.#responding), late])
    timer.abort()
  }

  #admit(socket: Socket): void {
    socket.once('close', () => {
      this.#waiting.delete(socket)
      if (this.#served.delete(socket)) this.#next()
    })
    if (this.#served.size < MOST_SERVED) this.#serve(socket)
    else if (this.#waiting.size >= MOST_WAITING) socket.destroy()
    else {
      socket.on('error', () => socket.destroy())
      this.#waiting.add(socket)
      this.#timer ??= setInterval(() => this.#next(), 250).unref()
    }
  }

  #serve(socket: Socket): void {
    this.#served.set(socket, { requests: 0, since: performance.now(), last: undefined })
    this.#http.emit('connection', socket)
    socket.resume()
  }

  /** Serves waiting connections, in place of connections without a request. */
  #next(): void {
    const before = performance.now() - IDLE
    for (const [socket, { requests, since }] of this.#served) {
      if (this.#waiting.size <= MOST_SERVED - this.#served.size) break
      if (requests === 0 && since <= before) {
        this.#served.delete(socket)
        socket.destroy()
      }
    }
    for (const socket of this.#waiting) {
      if (this.#served.size >= MOST_SERVED) return
      this.#waiting.delete(socket)
      this.#serve(socket)
    }
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

const IN_USE = 'stop the program that listens on that port, which may be the same gateway, or use another port or name'

/** Connections are read once they are served. */
function createPaused(): Server {
  return createServer({ pauseOnConnect: true })
}

/** Bytes; the system truncates longer paths of sockets without an error. */
const LONGEST_PATH = process.platform === 'darwin' ? 103 : 107

/** Listens on a Unix socket that only the user can open. Errors: `NETWORK_LISTEN`, `PATH_EXISTS` for any other file of that name. */
async function onSocket(given: string): Promise<Server> {
  // Node listens on every address where a path reads as a number, and on any port where it is empty.
  const path = Number(given) >= 0 ? `./${given}` : given
  const refused = (reason: string, hint: string) => new NetworkError('NETWORK_LISTEN', `cannot listen on "${given}": ${reason}`, { hint })
  const bytes = Buffer.byteLength(path)
  if (process.platform !== 'win32' && bytes > LONGEST_PATH)
    throw refused(`the path of a socket has at most ${LONGEST_PATH} bytes, this one has ${bytes}`, 'choose a shorter path')
  await removeAbandoned(path)
  const server = createPaused()
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        refused('code' in cause ? String(cause.code) : 'unknown reason', 'choose a path in a folder that exists and that you can write to'),
      )
    })
    // The socket is created within the call, so no other user can connect before its mode is set.
    const before = process.umask(0o177)
    try {
      server.listen(path, () => resolve(server))
    } finally {
      process.umask(before)
    }
  })
}

/** Removes the socket of a gateway that was killed. Errors: `PATH_EXISTS`. */
async function removeAbandoned(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (!found) return
  if (!found.isSocket() || (await isListening(path)))
    throw new IntegrityError(
      'PATH_EXISTS',
      `cannot listen on "${path}": ${found.isSocket() ? 'a program listens there' : 'it is not a socket'}`,
      {
        hint: 'choose another path',
      },
    )
  await unlink(path).catch((cause: NodeJS.ErrnoException) => {
    throw new NetworkError(
      'NETWORK_LISTEN',
      `cannot listen on "${path}": the socket there cannot be removed: ${cause.code ?? 'unknown reason'}`,
    )
  })
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Returns true for a value of `Host` that names the loopback addresses or `localhost`, with the port. */
function isLoopbackAt(host: string, port: number): boolean {
  return [`127.0.0.1:${port}`, `[::1]:${port}`, `localhost:${port}`].includes(host.toLowerCase())
}

/** Returns true for a value of `Host` that a DNS server cannot lead elsewhere: an IP address, or the name of this machine. */
export function isFixedHost(host: string, names: readonly string[]): boolean {
  if (/[@/?#\\]/.test(host) || !canParseUrl(`http://${host}/`)) return false
  const { hostname: name } = new URL(`http://${host}/`)
  return isLoopbackHost(name) || /^(?:\d+\.){3}\d+$|^\[/.test(name) || names.includes(name)
}

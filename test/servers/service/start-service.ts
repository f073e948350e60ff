/** Strict services on loopback: what they share, whatever they are about. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createExchanges } from './exchanges.ts'
import { createFaultScript, type Framing, type Rule } from './fault-script.ts'
import { manualClock, type ServiceClock } from './manual-clock.ts'
import { createRateLimiter } from './rate-limiter.ts'
import { rememberCarriers } from './reset-socket.ts'
import type { ServiceDefinition, ServiceOptions } from './service-definition.ts'
import { type LoggedRequest, Traffic } from './traffic.ts'

/** A running service, as tests see it. */
export interface Service {
  /** Without a slash at the end. */
  readonly url: string
  readonly clock: ServiceClock
  /** In the order of arrival; an entry is complete when its answer is out. */
  readonly log: readonly LoggedRequest[]
  /** What no correct client sends, with the request that did. */
  readonly violations: readonly string[]
  /** How answers are framed where no rule says otherwise. */
  framing: Framing
  /** Tells a fault; rules are used up in the order in which they were told. */
  script(rule: Rule): void
  /** Forgets requests, violations and rules. */
  reset(): void
  /** Throws when there was a violation or when a rule was never used. */
  assertClean(): void
  /** Requests of an operation, of a credential, or all. */
  requests(op?: number | string, credential?: string): number
  /** Sockets ever opened. */
  sockets(): number
  /** The most requests that were under way at once. */
  maxConcurrent(credential?: string): number
  maxConcurrentSockets(): number
  /** Ends all connections. */
  close(): Promise<void>
}

/** Below 16 KiB for the fields there is room for the longest request line. */
const MAX_HEAD = 16 * 1024

/** Starts a service on a free port of 127.0.0.1. */
export async function startService(definition: ServiceDefinition, options: ServiceOptions = {}): Promise<Service> {
  const { clock = manualClock(), limiter, keepAlive = 5000, certified, violations = [] } = options
  const traffic = new Traffic()
  const script = createFaultScript()
  const state = { framing: options.framing ?? ('length' as Framing) }
  const limit = limiter && { ...limiter, ...createRateLimiter(limiter, clock) }
  const exchange = createExchanges({ definition, options, clock, traffic, script, violations, state, ...(limit && { limit }) })
  const settings = { keepAliveTimeout: keepAlive, maxHeaderSize: MAX_HEAD, requestTimeout: 0, headersTimeout: 0 }
  const server = (certified ? createTlsServer({ ...settings, ...certified }, exchange) : createServer(settings, exchange)) as Server
  if (certified) rememberCarriers(server)
  const closeSockets = watchSockets(server, Boolean(certified), definition, traffic, violations)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `${certified ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clock,
    log: traffic.log,
    violations,
    get framing() {
      return state.framing
    },
    set framing(framing) {
      state.framing = framing
    },
    script: script.add,
    reset() {
      traffic.clear()
      script.clear()
      violations.length = 0
    },
    assertClean() {
      const unused = script.unused().map((rule) => `a rule was not used: ${JSON.stringify(rule)}`)
      const found = [...violations, ...unused]
      if (found.length) throw new Error(`The service has complaints:\n${found.join('\n')}`)
    },
    requests: (op, credential) => traffic.requests(op, credential),
    sockets: () => traffic.sockets(),
    maxConcurrent: (credential) => traffic.maxConcurrent(credential),
    maxConcurrentSockets: () => traffic.maxConcurrentSockets(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        closeSockets()
      }),
  }
}

/** Counts sockets, answers what is no HTTP, and gives back what ends them all, upgraded ones too. */
function watchSockets(
  server: Server,
  encrypted: boolean,
  definition: ServiceDefinition,
  traffic: Traffic,
  violations: string[],
): () => void {
  const sockets = new Set<Duplex>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on(encrypted ? 'secureConnection' : 'connection', (socket: Socket) => traffic.opened(socket))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const broken = error.code?.startsWith('HPE_') ?? false
    // A caller that ends its connection in the middle of a request is allowed to.
    if (!broken || error.code === 'HPE_INVALID_EOF_STATE' || !socket.writable) return socket.destroy()
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
    violations.push(`a request that is no HTTP: ${error.code}`)
    return socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  })
  if (definition.upgrade) server.on('upgrade', definition.upgrade)
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}

/** Stands between a client and a file server and breaks answers: the same seed, the same faults. */
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { breakAnswer } from './break-answer.ts'
import type { Fault, FaultOf, Passing } from './fault.ts'
import { REVISION } from './file-depot.ts'

export interface ChaosOptions {
  /** Origin of the file server. */
  readonly upstream: string
  readonly faultOf: FaultOf
  /** Keeps no list of what passed, for large runs. */
  readonly forget?: boolean
}

export interface ChaosProxy {
  /** Without a slash at the end. */
  readonly origin: string
  /** What passed, in the order of arrival. */
  readonly passed: readonly (Passing & { readonly fault?: Fault })[]
  readonly requests: number
  readonly faults: number
  /** Bytes of bodies that were written to clients. */
  readonly sent: number
  /** Connections that are open. */
  readonly connections: number
  /** The most requests that were under way at once. */
  readonly mostAtOnce: number
  /** Which version of a file is given now. */
  revision(path: string): number
  close(): Promise<void>
}

interface State {
  readonly passed: (Passing & { readonly fault?: Fault })[]
  readonly counts: Map<string, number>
  readonly revisions: Map<string, number>
  requests: number
  faults: number
  sent: number
  active: number
  mostAtOnce: number
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startChaosProxy({ upstream, faultOf, forget = false }: ChaosOptions): Promise<ChaosProxy> {
  const state: State = { passed: [], counts: new Map(), revisions: new Map(), requests: 0, faults: 0, sent: 0, active: 0, mostAtOnce: 0 }
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 256 })
  let connections = 0
  const server = createServer({ keepAliveTimeout: 30_000 }, (incoming, response) => {
    const passing = passingOf(incoming, state)
    const fault = faultOf(passing)
    if (!forget) state.passed.push({ ...passing, ...(fault && { fault }) })
    if (fault) state.faults++
    if (fault?.do === 'revise') state.revisions.set(passing.path, (state.revisions.get(passing.path) ?? 0) + 1)
    counted(response, state)
    forward(incoming, response, fault, { upstream, agent, state, path: passing.path })
  })
  server.on('connection', (socket) => {
    connections++
    socket.once('close', () => connections--)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed: state.passed,
    get requests() {
      return state.requests
    },
    get faults() {
      return state.faults
    },
    get sent() {
      return state.sent
    },
    get connections() {
      return connections
    },
    get mostAtOnce() {
      return state.mostAtOnce
    },
    revision: (path) => state.revisions.get(path) ?? 0,
    close: () => {
      agent.destroy()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function passingOf({ url = '', headers }: IncomingMessage, state: State): Passing {
  state.requests++
  const path = url.replace(/\?.*$/s, '')
  const nth = (state.counts.get(path) ?? 0) + 1
  state.counts.set(path, nth)
  return { path, nth, range: headers.range }
}

function counted(response: ServerResponse, state: State): void {
  state.mostAtOnce = Math.max(state.mostAtOnce, ++state.active)
  response.once('close', () => state.active--)
}

interface Way {
  readonly upstream: string
  readonly agent: Agent
  readonly state: State
  readonly path: string
}

function forward(incoming: IncomingMessage, response: ServerResponse, fault: Fault | undefined, way: Way): void {
  const { socket, method, url = '/', headers } = incoming
  if (fault?.do === 'stall' && fault.at === 'head') return
  if (fault?.do === 'reset' && fault.at === 'head') return void socket.resetAndDestroy()
  if (fault?.do === 'answer') {
    const { status, headers: fields = {}, body = '' } = fault
    response.writeHead(status, { ...fields, 'content-length': Buffer.byteLength(body) }).end(body)
    return
  }
  const { range, 'if-range': ifRange, ...others } = headers as Readonly<Record<string, string>>
  const revision = way.state.revisions.get(way.path)
  const passedOn = {
    ...others,
    ...(fault?.do !== 'ignore-range' && range !== undefined && { range, ...(ifRange !== undefined && { 'if-range': ifRange }) }),
    ...(revision !== undefined && { [REVISION]: String(revision) }),
  }
  const asked = request(`${way.upstream}${url}`, { method: method ?? 'GET', headers: passedOn, agent: way.agent })
  asked.on('response', (answer) => {
    void breakAnswer(answer, response, fault, (bytes) => {
      way.state.sent += bytes
    }).catch(() => response.destroy())
  })
  asked.on('error', () => response.destroy())
  incoming.pipe(asked)
  response.once('close', () => {
    if (!response.writableFinished) asked.destroy()
  })
}

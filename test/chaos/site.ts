/** What long commands work on: a catalog, protected files, a token endpoint, and proxies that break what comes from them. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { type Canary, canary } from '../harness/canary.ts'
import { EXTENSION } from '../harness/documents.ts'
import { startChaosProxy } from '../servers/chaos/chaos-proxy.ts'
import { digestOf } from '../servers/chaos/depot-content.ts'
import type { FaultOf } from '../servers/chaos/fault.ts'
import { contentName, startFileDepot } from '../servers/chaos/file-depot.ts'

/** Files of the catalog, one in each item. */
export const FILES = 12
export const SIZE = 300_000

export interface Site {
  /** Origins as the commands see them, behind the proxies. */
  readonly documents: string
  readonly files: string
  /** `host:port` of a server that accepts connections and never says a word. */
  readonly silent: string
  readonly secrets: readonly Canary[]
  /** For the environment of a command. */
  readonly clientSecret: string
  /** What no correct client sends. */
  readonly violations: () => readonly string[]
  /** Connections of clients that are open now. */
  readonly connections: () => number
  /** Changes what goes wrong from now on. */
  breakBy(faultOf: FaultOf): void
  /** An item whose asset is the file of that number. */
  item(number: number): object
  credentials(): object
  close(): Promise<void>
}

export const fileName = (number: number): string => `${number}.bin`
/** The content of a file, for the tests of `depot-content.ts`. */
export const contentOf = (number: number): string => contentName(`/${fileName(number)}`, 0)

const noFault: FaultOf = () => undefined

/** Starts everything on free ports of 127.0.0.1. `life` is how many seconds tokens live. */
export async function startSite({ life = 3600 } = {}): Promise<Site> {
  const [client, issued] = [canary('client'), canary('issued')]
  let faultOf = noFault
  const broken: FaultOf = (passing) => faultOf(passing)
  const isRight = (authorization: string | undefined) => authorization?.startsWith(`Bearer ${issued.value}`) ?? false
  const depot = await startFileDepot({
    files: (path) => (/^\/\d+\.bin$/.test(path) ? { size: SIZE } : undefined),
    refuses: ({ authorization }) => (isRight(authorization) ? undefined : `Bearer realm="${encodeURIComponent(String(authorization))}"`),
  })
  const files = await startChaosProxy({ upstream: depot.origin, faultOf: broken, forget: true })
  const sockets = new Set<Socket>()
  const silent = createSocketServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const documents = await startChaosProxy({ upstream, faultOf: broken, forget: true })
  const tokenUrl = `${documents.origin}/token`
  const item = (number: number) => itemOf(number, { files: files.origin, documents: documents.origin, tokenUrl })
  let tokens = 0
  answer = (request, response) => {
    const path = request.url ?? ''
    const json = (value: unknown, status = 200) => {
      const body = JSON.stringify(value)
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
    }
    request.resume()
    const [, number] = /^\/items\/(\d+)\.json$/.exec(path) ?? []
    if (number !== undefined) return json(item(Number(number)))
    if (path === '/catalog.json') return json(catalogOf(documents.origin))
    // Each token is another one, and begins as all do.
    if (path === '/token') return json({ access_token: `${issued.value}.${++tokens}`, token_type: 'Bearer', expires_in: life })
    json({ code: 'NotFound' }, 404)
  }
  return {
    documents: documents.origin,
    files: files.origin,
    silent: `127.0.0.1:${(silent.address() as AddressInfo).port}`,
    secrets: [client, issued],
    clientSecret: client.value,
    violations: () => depot.violations,
    connections: () => files.connections + documents.connections,
    breakBy: (next) => {
      faultOf = next
    },
    item,
    credentials: () => ({
      version: 1,
      credentials: [oauthCredential(tokenUrl, files.origin), loginCredential(documents.origin, files.origin)],
    }),
    close: async () => {
      await Promise.all([files.close(), documents.close(), depot.close()])
      server.closeAllConnections()
      server.close()
      for (const socket of sockets) socket.destroy()
      silent.close()
    },
  }
}

function itemOf(number: number, { files, documents, tokenUrl }: { files: string; documents: string; tokenUrl: string }): object {
  const checksum = `1220${digestOf(contentOf(number), SIZE)}`
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: [EXTENSION, 'https://stac-extensions.github.io/file/v2.1.0/schema.json'],
    id: `item-${number}`,
    geometry: null,
    properties: {
      datetime: '2026-01-01T00:00:00Z',
      'auth:schemes': { oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: {} } } } },
    },
    links: [{ rel: 'self', href: `${documents}/items/${number}.json` }],
    assets: { data: { href: `${files}/${fileName(number)}`, 'auth:refs': ['oauth'], 'file:size': SIZE, 'file:checksum': checksum } },
  }
}

function catalogOf(documents: string): object {
  const items = Array.from({ length: FILES }, (_, number) => ({ rel: 'item', href: `${documents}/items/${number}.json` }))
  return { type: 'Catalog', stac_version: '1.1.0', id: 'all', description: 'All items.', links: [...items] }
}

const oauthCredential = (tokenUrl: string, files: string) => ({
  id: 'service',
  type: 'oauth2',
  flow: 'clientCredentials',
  tokenUrl,
  clientId: 'service',
  clientSecret: { env: 'CHAOS_CLIENT_SECRET' },
  sendTo: [`${files}/`],
})

const loginCredential = (documents: string, files: string) => ({
  id: 'person',
  type: 'oauth2',
  flow: 'authorizationCode',
  authorizationUrl: `${documents}/authorize`,
  tokenUrl: `${documents}/login-token`,
  clientId: 'person',
  sendTo: [`${files}/person/`],
})

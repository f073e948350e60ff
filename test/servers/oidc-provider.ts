/** A real OAuth 2.0 server (npm `oidc-provider`) on loopback, for clients that prove themselves with a secret. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ClientMetadata, Provider } from 'oidc-provider'

/** Clients of the server: `basic` and `post` are named after how they must prove themselves. */
export const CLIENTS = {
  basic: { id: 'basic client:1', secret: 'b&sic=s+cret/%41~' },
  post: { id: 'post', secret: 'p&st=s+cret/%41~' },
} as const

export interface OAuthServer {
  readonly tokenUrl: string
  /** Paths of all requests, in order. */
  readonly log: readonly string[]
  /** What the server knows about a token that it issued; undefined for any other. */
  find(token: string): Promise<{ readonly clientId: string; readonly scope: string; readonly life: number } | undefined>
  close(): Promise<void>
}

/** Starts the server on a free port of 127.0.0.1; tokens live `life` seconds. */
export async function startOAuthServer({ life = 3600 } = {}): Promise<OAuthServer> {
  const log: string[] = []
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [client(CLIENTS.basic, 'client_secret_basic'), client(CLIENTS.post, 'client_secret_post')],
    scopes: ['read', 'write'],
    cookies: { keys: ['test'] },
    ttl: { ClientCredentials: life },
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
  })
  const answer = provider.callback()
  server.on('request', (request, response) => {
    log.push(request.url ?? '')
    answer(request, response)
  })
  return {
    tokenUrl: `${issuer}/token`,
    log,
    find: async (token) => {
      const known = await provider.ClientCredentials.find(token)
      return known && { clientId: String(known.clientId), scope: known.scope ?? '', life: known.remainingTTL }
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function client(
  { id, secret }: { readonly id: string; readonly secret: string },
  method: 'client_secret_basic' | 'client_secret_post',
): ClientMetadata {
  return {
    client_id: id,
    client_secret: secret,
    token_endpoint_auth_method: method,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    scope: 'read',
  }
}

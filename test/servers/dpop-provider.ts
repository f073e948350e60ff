/** A real resource that demands DPoP proofs with nonces: the user information endpoint of npm `oidc-provider`, on loopback. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

const CLIENT = 'app'
const ACCOUNT = 'ada'

export interface DpopProvider {
  readonly origin: string
  /** The resource: it answers with the account in JSON. */
  readonly resource: string
  /** Status codes of all answers, in order. */
  readonly statuses: readonly number[]
  /** A new access token, bound to the key of that thumbprint. */
  issue(jkt: string): Promise<string>
  close(): Promise<void>
}

/** Starts the server on a free port of 127.0.0.1. */
export async function startDpopProvider(): Promise<DpopProvider> {
  const statuses: number[] = []
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(origin, settings())
  const answer = provider.callback()
  server.on('request', (request, response) => {
    response.on('finish', () => statuses.push(response.statusCode))
    answer(request, response)
  })
  return {
    origin,
    resource: `${origin}/me`,
    statuses,
    issue: async (jkt) => {
      const grant = new provider.Grant({ accountId: ACCOUNT, clientId: CLIENT })
      grant.addOIDCScope('openid')
      const token = new provider.AccessToken({ accountId: ACCOUNT, clientId: CLIENT, grantId: await grant.save(), scope: 'openid' })
      token.setThumbprint('jkt', jkt)
      return token.save()
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function settings() {
  return {
    clients: [
      {
        client_id: CLIENT,
        client_secret: 'unused',
        token_endpoint_auth_method: 'client_secret_basic' as const,
        grant_types: ['authorization_code'],
        redirect_uris: ['https://app.example/cb'],
        response_types: ['code'],
        scope: 'openid',
      },
    ],
    cookies: { keys: ['test'] },
    ttl: { Grant: 3600, AccessToken: 3600 },
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
    features: {
      dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true },
      devInteractions: { enabled: false },
    },
  }
}

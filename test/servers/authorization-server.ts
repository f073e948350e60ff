/** A real authorization server (npm `oidc-provider`) on loopback, with every grant, and a resource that asks for its tokens. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ClientMetadata, type GrantContext, Provider } from 'oidc-provider'

export const ACCOUNT = { username: 'alice', password: 'swordfish' }
/** Secrets of the clients that have one, by client id. */
export const SECRETS = { service: 'service~secret-with-32-characters!', legacy: 'legacy~secret', exchanger: 'exchanger~secret' }
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'

export interface AuthorizationServer {
  readonly issuer: string
  /** Gives the name of the account whose token it is shown, else 401. */
  readonly resource: string
  /** `POST /token` and so on, in order; with the grant of token requests. */
  readonly log: readonly string[]
  /** Refuses every access token that was shown so far. */
  refuseShown(): void
  /** Tells the truth about a token: false for one that was revoked. */
  isAlive(token: string): Promise<boolean>
  /** Whose access token it is; undefined for one that is not, or no longer, good. */
  accountOf(token: string): Promise<string | undefined>
  close(): Promise<void>
}

export interface ServerSettings {
  /** Asks for a nonce of its own in every DPoP proof. */
  readonly dpopNonce?: boolean
  /** Seconds that access tokens live. */
  readonly life?: number
  /** Clients besides those that are always there. */
  readonly clients?: readonly ClientMetadata[]
  /** The origin whose pages may ask endpoints and files (CORS). */
  readonly pages?: string
  /** Claims of ID tokens besides those that are always there. */
  readonly claims?: Readonly<Record<string, string>>
  /** Answers a request in the provider's place. */
  readonly interfere?: (request: IncomingMessage, response: ServerResponse) => boolean
}

/** Starts it on a free port of 127.0.0.1. */
export async function startAuthorizationServer(settings: ServerSettings = {}): Promise<AuthorizationServer> {
  const log: string[] = []
  const shown = new Set<string>()
  const refused = new Set<string>()
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, configurationOf(settings))
  registerGrants(provider)
  provider.on('grant.success', ({ oidc }) => log.push(`granted ${String(oidc.params?.grant_type)}`))
  provider.on('grant.error', ({ oidc }, { error }) => log.push(`refused ${String(oidc.params?.grant_type)}: ${error}`))

  const answer = provider.callback()
  server.on('request', (request, response) => {
    const { pathname } = new URL(request.url ?? '', issuer)
    log.push(`${request.method} ${pathname}`)
    if (settings.interfere?.(request, response)) return
    if (pathname === '/files') void showFile(request, response)
    else answer(request, response)
  })

  /** Bearer tokens only: bound ones are for the endpoint `/me` of the provider itself. */
  const showFile = async ({ method, headers }: IncomingMessage, response: ServerResponse) => {
    if (settings.pages !== undefined) {
      const allowed = { 'access-control-allow-origin': settings.pages, 'access-control-allow-headers': 'authorization' }
      for (const [name, value] of Object.entries(allowed)) response.setHeader(name, value)
      if (method === 'OPTIONS') return response.writeHead(204).end()
    }
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    const known = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token))
    if (token !== '') shown.add(token)
    if (!known || refused.has(token)) {
      return response.writeHead(401, { 'www-authenticate': 'Bearer realm="files", error="invalid_token"' }).end()
    }
    return response.end(`file of ${known.accountId ?? known.clientId}`)
  }
  return {
    issuer,
    resource: `${issuer}/files`,
    log,
    refuseShown: () => {
      for (const token of shown) refused.add(token)
    },
    isAlive: async (token) => Boolean((await provider.RefreshToken.find(token)) ?? (await provider.AccessToken.find(token))),
    accountOf: async (token) => (await provider.AccessToken.find(token))?.accountId,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function configurationOf({ dpopNonce = false, life = 3600, clients = [], pages, claims = {} }: ServerSettings) {
  return {
    clients: [...CLIENTS, ...clients],
    scopes: ['openid', 'offline_access', 'read'],
    responseTypes: ['code' as const],
    cookies: { keys: ['test'] },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt'] as const,
    ttl: {
      AccessToken: life,
      ClientCredentials: life,
      IdToken: 3600,
      RefreshToken: 86_400,
      Session: 3600,
      Interaction: 3600,
      Grant: 86_400,
      DeviceCode: 600,
    },
    rotateRefreshToken: true,
    clientBasedCORS: (_context: unknown, origin: string) => origin === pages,
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub, ...claims }) }),
    claims: { openid: ['sub', ...Object.keys(claims)] },
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      pushedAuthorizationRequests: { enabled: true },
      revocation: { enabled: true },
      dPoP: { enabled: true, ...(dpopNonce && { nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true }) },
    },
  }
}

const machine = { redirect_uris: [], response_types: [], scope: 'read' }
const CLIENTS: readonly ClientMetadata[] = [
  { ...machine, client_id: 'service', client_secret: SECRETS.service, grant_types: ['client_credentials'] },
  { ...machine, client_id: 'legacy', client_secret: SECRETS.legacy, grant_types: ['password', 'refresh_token'] },
  { ...machine, client_id: 'exchanger', client_secret: SECRETS.exchanger, grant_types: [EXCHANGE] },
  {
    client_id: 'native',
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token', DEVICE],
    response_types: ['code'],
    scope: 'openid offline_access read',
  },
]

/** What the provider leaves to others: passwords, and the exchange of its own access tokens. */
function registerGrants(provider: Provider): void {
  const issue = async (context: GrantContext, accountId: string, more: object = {}) => {
    const token = new provider.AccessToken({ accountId, client: context.oidc.client, grantId: 'none', gty: 'none', scope: 'read' })
    context.body = { access_token: await token.save(), token_type: 'Bearer', expires_in: token.expiration, ...more }
  }
  const refuse = (context: GrantContext, error: string) => Object.assign(context, { status: 400, body: { error } })
  provider.registerGrantType(
    'password',
    async (context) => {
      const { username = '', password } = context.oidc.params ?? {}
      if (username !== ACCOUNT.username || password !== ACCOUNT.password) return refuse(context, 'invalid_grant')
      return issue(context, username)
    },
    ['username', 'password', 'scope'],
  )
  provider.registerGrantType(
    EXCHANGE,
    async (context) => {
      const { subject_token: subject = '', subject_token_type: type } = context.oidc.params ?? {}
      const known = await provider.AccessToken.find(subject)
      const isIdToken = subject.split('.').length === 3 && type === 'urn:ietf:params:oauth:token-type:id_token'
      if (!isIdToken && !(known && type === 'urn:ietf:params:oauth:token-type:access_token')) return refuse(context, 'invalid_request')
      const account = known?.accountId ?? JSON.parse(Buffer.from(subject.split('.')[1] ?? '', 'base64url').toString()).sub
      return issue(context, `${account} by exchange`, { issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' })
    },
    ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'resource', 'scope'],
  )
}

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { canary } from '../harness/canary.ts'

/** A provider that rotates refresh tokens, and revokes all that came of a login when one is used twice (RFC 9700 section 4.14.2). */
export async function startProvider({ lifetime }: { readonly lifetime: number }) {
  const secrets = { client: canary('client').value, password: canary('pass').value }
  const counts = { clientCredentials: 0, logins: 0, refreshes: 0, replays: 0, refused: 0 }
  const living = new Map<string, number>()
  const refreshTokens = new Map<string, 'fresh' | 'used' | 'revoked'>()
  const issued: string[] = []

  function issue(withRefresh: boolean): object {
    const access = canary('access').value + randomUUID()
    living.set(access, Date.now() + lifetime * 1000)
    issued.push(access)
    if (!withRefresh) return { access_token: access, token_type: 'Bearer', expires_in: lifetime }
    const refresh = canary('refresh').value + randomUUID()
    refreshTokens.set(refresh, 'fresh')
    issued.push(refresh)
    return { access_token: access, token_type: 'Bearer', expires_in: lifetime, refresh_token: refresh }
  }

  function grant(form: URLSearchParams): object | undefined {
    if (form.get('grant_type') === 'client_credentials') {
      counts.clientCredentials++
      return issue(false)
    }
    if (form.get('grant_type') === 'password') {
      counts.logins++
      return form.get('password') === secrets.password ? issue(true) : undefined
    }
    const state = refreshTokens.get(form.get('refresh_token') ?? '')
    counts.refreshes++
    if (state === 'used') {
      counts.replays++
      for (const token of refreshTokens.keys()) refreshTokens.set(token, 'revoked')
      living.clear()
    }
    if (state !== 'fresh') return undefined
    refreshTokens.set(form.get('refresh_token') ?? '', 'used')
    return issue(true)
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/data') {
      const token = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
      const isLiving = (living.get(token) ?? 0) > Date.now()
      if (!isLiving) counts.refused++
      return void response.writeHead(isLiving ? 200 : 401, isLiving ? {} : { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
    }
    const form = new URLSearchParams((await request.toArray()).join(''))
    const isClient =
      request.headers.authorization === `Basic ${Buffer.from(`app:${encodeURIComponent(secrets.client)}`).toString('base64')}`
    const body = isClient ? grant(form) : undefined
    // Slow enough for others to ask meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 100))
    response.writeHead(body ? 200 : 400, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { error: 'invalid_grant' }))
  }

  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  const credential = {
    id: 'oauth',
    type: 'oauth2',
    tokenUrl: `${origin}/token`,
    clientId: 'app',
    clientSecret: secrets.client,
    sendTo: [`${origin}/`],
  }
  const scheme = (flow: string) => ({ type: 'oauth2', flows: { [flow]: { tokenUrl: `${origin}/token`, scopes: {} } } })
  return {
    counts,
    issued,
    secrets,
    close,
    cold: { credential: { ...credential, flow: 'clientCredentials' }, scheme: scheme('clientCredentials'), href: `${origin}/data` },
    login: {
      credential: { ...credential, flow: 'password', username: 'ada', password: secrets.password, allowPasswordGrant: true },
      scheme: scheme('password'),
      href: `${origin}/data`,
    },
  }
}

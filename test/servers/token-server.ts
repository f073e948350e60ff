/** An OAuth 2.0 token endpoint for the client credentials grant (RFC 6749 §4.4), strict about everything that a client sends. */
import { createHash, randomBytes } from 'node:crypto'
import { type Answer, type AnsweringServer, type Inquiry, jsonAnswer, startAnswering } from './answering-server.ts'
import { accountOf, sameText } from './guards.ts'

export interface TokenServerOptions {
  readonly client: { readonly id: string; readonly secret: string; readonly scopes: readonly string[] }
  /** Seconds that a token is good for; default 300. */
  readonly lifetime?: number
  readonly now?: () => number
}

export interface TokenServer extends AnsweringServer {
  readonly tokenUrl: string
  /** True for a token of this server that has not expired and that holds the scope. */
  accepts(token: string, scope: string): boolean
}

interface Issued {
  readonly expires: number
  readonly scopes: readonly string[]
}

/** Starts the server; its endpoint is `/token`. */
export async function startTokenServer({ client, lifetime = 300, now = Date.now }: TokenServerOptions): Promise<TokenServer> {
  const issued = new Map<string, Issued>()
  const server = await startAnswering((request) => {
    if (request.path !== '/token') return { status: 404 }
    if (request.method !== 'POST') return { status: 405, headers: { allow: 'POST' } }
    const asked = readRequest(request, client)
    if ('status' in asked) return asked
    const token = randomBytes(32).toString('base64url')
    issued.set(digest(token), { expires: now() + lifetime * 1000, scopes: asked.scopes })
    const answer = { access_token: token, token_type: 'Bearer', expires_in: lifetime, scope: asked.scopes.join(' ') }
    return jsonAnswer(200, answer, { 'cache-control': 'no-store' })
  })
  return Object.assign(server, {
    tokenUrl: `${server.origin}/token`,
    accepts: (token: string, scope: string) => {
      const known = issued.get(digest(token))
      return known !== undefined && known.expires > now() && known.scopes.includes(scope)
    },
  })
}

/** The scopes to give, or why not (RFC 6749 §5.2). */
function readRequest(request: Inquiry, client: TokenServerOptions['client']): { scopes: readonly string[] } | Answer {
  const { headers, body } = request
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) return oauthError('invalid_request')
  const form = new URLSearchParams(body)
  const names = [...form.keys()]
  if (new Set(names).size !== names.length || form.has('client_secret')) return oauthError('invalid_request')
  if (!isClient(accountOf(request) ?? '', client)) {
    return oauthError('invalid_client', 401, { 'www-authenticate': 'Basic realm="token"' })
  }
  const grant = form.get('grant_type')
  if (grant !== 'client_credentials') return oauthError(grant === null ? 'invalid_request' : 'unsupported_grant_type')
  const scopes = form.get('scope')?.split(' ') ?? client.scopes
  return scopes.every((scope) => client.scopes.includes(scope)) ? { scopes } : oauthError('invalid_scope')
}

function oauthError(error: string, status = 400, headers: Readonly<Record<string, string>> = {}): Answer {
  return jsonAnswer(status, { error }, { 'cache-control': 'no-store', ...headers })
}

/** Client id and secret travel in the form encoding (RFC 6749 §2.3.1), so they are read as one pair of a form. */
function isClient(account: string, { id, secret }: TokenServerOptions['client']): boolean {
  const [pair = ['', ''], ...more] = new URLSearchParams(account.replace(':', '='))
  return more.length === 0 && sameText(JSON.stringify(pair), JSON.stringify([id, secret]))
}

/** What is kept of a token cannot be used as one. */
function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}

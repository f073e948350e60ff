/** Tokens of an entry: obtained once for all who wait, kept in the session, placed where the entry says. */
import type { Credential } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import type { Entry } from '../../auth/session.ts'
import type { AuthContext, PeekContext, Token } from '../../auth/strategy.ts'
import { SelectionError } from '../../errors.ts'
import { type HttpRequest, hasQueryParameter, queryValues, withHeader, withQueryParameter, withUrl } from '../../http/message.ts'
import type { OAuth2Scheme } from '../../stac/scheme.ts'
import { loginRequired } from './login-required.ts'

/** An `oauth2` entry after reading. */
export type OAuth2Credential = Credential & {
  readonly flow: string
  readonly authorizationUrl?: string
  readonly tokenUrl?: string
  readonly refreshUrl?: string
  readonly clientId: string
  readonly clientSecret?: Secret
  readonly clientAuthentication?: 'basic' | 'post' | 'none'
  readonly scopes?: readonly string[]
  readonly resource?: string
  readonly audience?: string
  readonly placement?: { readonly in: 'query'; readonly name: string }
}

export type OAuth2Context = AuthContext<OAuth2Scheme, OAuth2Credential>

/** The token, from the session or by the entry's grant. Errors: those of the grant, `LOGIN_REQUIRED`. */
export async function resolveToken(context: OAuth2Context): Promise<Token> {
  const { value } = await context.session.resolve<Token>(tokenKey(context.credential), (signal) => obtain({ ...context, signal }))
  return value
}

/** The token if it is there already. */
export function cachedToken({ credential, session }: PeekContext<OAuth2Scheme, OAuth2Credential>): Token | undefined {
  return session.get<Token>(tokenKey(credential))?.value
}

/** A new token in place of one that a server refused; whoever comes first gets it for all. */
export function renewToken(context: OAuth2Context, refused: Token): Promise<Token> {
  context.session.invalidate(tokenKey(context.credential), refused)
  return resolveToken(context)
}

/** A copy of the request with the token (RFC 6750 §2.1, or §2.3 where the entry says so). */
export function placeToken(request: HttpRequest, { id, placement }: OAuth2Credential, token: string): HttpRequest {
  if (!placement) return withHeader(request, 'authorization', `Bearer ${token}`)
  // A redirect that keeps the query brings the token along.
  if (queryValues(request.url, placement.name).includes(token)) return request
  if (hasQueryParameter(request.url, placement.name)) {
    throw new SelectionError('QUERY_NAME_CONFLICT', `the address has a query parameter "${placement.name}" already`, {
      credential: id,
      url: request.url,
    })
  }
  return withUrl(request, withQueryParameter(request.url, placement.name, token))
}

/** Everything that a token depends on; the session adds the entry's id. */
function tokenKey({ tokenUrl, clientId, flow, scopes = [], resource, audience }: OAuth2Credential): string {
  return JSON.stringify(['token', tokenUrl, clientId, flow, [...scopes].sort(), resource, audience])
}

async function obtain(context: OAuth2Context): Promise<Entry<Token>> {
  const { credential } = context
  if (credential.flow !== 'clientCredentials') {
    throw loginRequired(credential.id)
  }
  const { clientCredentials } = await import('./client-credentials.ts')
  const token = await clientCredentials(context)
  return token.expiresAt === undefined ? { value: token } : { value: token, expiresAt: token.expiresAt }
}

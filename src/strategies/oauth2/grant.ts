/** Runs a grant and reads the resulting token set. */
import type { Token } from '../../auth/strategy.ts'
import { type JsonObject, ownString } from '../../stac/document.ts'
import { forLine } from '../../text/sanitize.ts'
import { boundKey, type Client, type Conversation, converse, secretEncoding } from './client.ts'
import type { OAuth2Context, OAuth2Credential } from './credential.ts'
import { expiresIn, invalidAnswer, jwtPart } from './response.ts'
import type { TokenSet } from './token-set.ts'

/** Runs a grant of openid-client. Errors: as of `converse`. */
export async function granted(
  context: OAuth2Context,
  grant: (client: Client) => Promise<unknown>,
  conversation: Partial<Conversation> = {},
): Promise<TokenSet> {
  const asked = context.clock.now()
  const { members, skew } = await converse(context, { endpoint: 'token endpoint', ...conversation }, grant)
  if (!members) throw invalidAnswer({ credential: context.credential.id, url: '', name: 'token endpoint' }, 'is missing')
  const secret = secretEncoding(context)
  const set = { ...withEnd(tokenSetOf(members, asked), context.credential, skew), ...(secret === 'none' && { secretEncoding: secret }) }
  tellReduction(context, set)
  return context.credential.dpop ? { ...set, boundTo: (await boundKey(context)).thumbprint } : set
}

/** Returns the parameters of every token request of a credential (RFC 6749 §3.3, RFC 8707 §2). */
export function requested({ scopes, resource, audience }: OAuth2Credential): Record<string, string> {
  return { ...(scopes?.length && { scope: scopes.join(' ') }), ...(resource && { resource }), ...(audience && { audience }) }
}

/** Uses the expiry of the ID token when that is the token sent for data; it is a time of the server's clock. */
function withEnd(set: TokenSet, { present }: OAuth2Credential, skew: number): TokenSet {
  const end = present === 'id_token' && set.idToken !== undefined ? endOfIdToken(set.idToken) : undefined
  return end === undefined ? set : { ...set, expiresAt: end - skew }
}

function tokenSetOf(members: JsonObject, askedAt: number): TokenSet {
  const life = expiresIn(members.expires_in)
  const [scope, refreshToken, idToken] = ['scope', 'refresh_token', 'id_token'].map((name) => ownString(members, name))
  return {
    accessToken: String(members.access_token),
    tokenType: TYPES[String(members.token_type).toLowerCase()] ?? 'Bearer',
    askedAt,
    ...(life !== undefined && { expiresAt: askedAt + life * 1000 }),
    ...(scope !== undefined && { scopes: scope.split(' ') }),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(idToken !== undefined && { idToken }),
  }
}

const TYPES: Readonly<Record<string, Token['tokenType']>> = { bearer: 'Bearer', dpop: 'DPoP', n_a: 'N_A' }

/** Warns when the server granted fewer scopes than requested (RFC 6749 §5.1). */
function tellReduction({ credential: { id, scopes = [] }, warn }: OAuth2Context, { scopes: received }: TokenSet): void {
  const missing = received ? scopes.filter((scope) => !received.includes(scope)) : []
  if (missing.length) warn({ code: 'SCOPE_REDUCED', message: `the token of "${id}" was issued without the scope ${missing.join(', ')}` })
}

/** Returns the claims of an ID token that was verified before (OpenID Connect Core 1.0 §2); none for a malformed one. */
export function idTokenClaims(token: string): JsonObject {
  return jwtPart(token, 1)
}

const MAX_NAME = 100

/** Returns the name of the user (OpenID Connect Core 1.0 §5.1) in an ID token that was verified before, on one line; undefined when it has none. */
export function userName(token: string): string | undefined {
  const claims = idTokenClaims(token)
  const names = ['name', 'preferred_username', 'email'].map((claim) => forLine((ownString(claims, claim) ?? '').slice(0, MAX_NAME)).trim())
  return names.find((name) => name !== '')
}

/** Returns the expiry in epoch milliseconds; undefined when there is none. */
export function endOfIdToken(token: string): number | undefined {
  const { exp } = idTokenClaims(token)
  return typeof exp === 'number' ? exp * 1000 : undefined
}

/** Login and logout of `oauth2` and `openIdConnect`. */
import type { Interaction, LogoutChoice } from '../../auth/auth.ts'
import { isAuthError } from '../../errors.ts'
import { converse } from './client.ts'
import type { OAuth2Context } from './credential.ts'
import { allowAgain } from './grants.ts'
import { ignoredEndpoint, serverOf } from './server.ts'
import type { TokenSet } from './token.ts'
import { dropTokens, keepTokens, resolveTokens } from './token.ts'

/**
 * Obtains and stores a new token set: by the device flow when the interaction can show a code and the server supports it, else in a browser;
 * flows without a login repeat their grant.
 */
export async function login(context: OAuth2Context, interaction: Interaction): Promise<void> {
  const { flow } = context.credential
  if (flow === 'implicit') return keepTokens(context, await (await import('./implicit.ts')).implicit(context, interaction))
  if (flow === 'authorizationCode') return keepTokens(context, await byPerson(context, interaction))
  if (flow === 'password') allowAgain(context)
  await dropTokens(context)
  await resolveTokens(context)
}

async function byPerson(context: OAuth2Context, interaction: Interaction): Promise<TokenSet> {
  const knowsDevices = (await serverOf(context)).device_authorization_endpoint !== undefined
  if (interaction.device && (knowsDevices || !interaction.redirect))
    return (await import('./device-code.ts')).deviceCode(context, interaction)
  return (await import('./authorization-code.ts')).authorizationCode(context, interaction)
}

/**
 * Removes the tokens first, then revokes them where the server supports it (RFC 7009). With `end` the user is logged out at the provider
 * last, if it has a page for that.
 */
export async function logout(context: OAuth2Context, { end, revoke: mayRevoke = true }: LogoutChoice = {}): Promise<void> {
  const set = await dropTokens(context)
  try {
    if (set && mayRevoke) await revoke(context, set)
  } finally {
    const { end_session_endpoint: page } = end ? await serverOf(context) : {}
    if (page !== undefined) await end?.(endOfSession(page, context, set))
  }
}

/** Returns the logout URL (OpenID Connect RP-Initiated Logout 1.0 §2): the ID token identifies the login, so that no other user is logged out. */
function endOfSession(page: string, { credential: { clientId } }: OAuth2Context, set: TokenSet | undefined): string {
  const url = new URL(page)
  url.searchParams.set('client_id', clientId)
  if (set?.idToken !== undefined) url.searchParams.set('id_token_hint', set.idToken)
  return url.href
}

/**
 * Revokes the refresh token first, so that it cannot be used any more, and the access token even if that failed: RFC 7009 §2.1 leaves it to the
 * server whether one revokes the other. Errors: `OAUTH_*`, `HTTP_<status>`, those of the transport; of two, the first.
 */
async function revoke(context: OAuth2Context, { refreshToken, accessToken }: TokenSet): Promise<void> {
  const { revocation_endpoint: url } = await serverOf(context)
  if (url === undefined) return warnUnrevoked(context)
  const secrets = refreshToken === undefined ? [accessToken] : [refreshToken, accessToken]
  const failures: unknown[] = []
  for (const token of secrets) {
    try {
      await converse(context, { endpoint: 'revocation endpoint', secrets }, ({ library, configuration }) =>
        library.tokenRevocation(configuration, token),
      )
    } catch (error) {
      const endedBefore = refreshToken !== undefined && failures.length === 0
      if (token !== accessToken || !isNoLoss(error, endedBefore)) failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** Warns when the server has an endpoint for it, on a host that the user does not allow. */
async function warnUnrevoked(context: OAuth2Context): Promise<void> {
  const ignored = await ignoredEndpoint(context, 'revocation_endpoint')
  if (ignored === undefined) return
  const what = `the tokens of "${context.credential.id}" were removed, but not revoked: they are valid until they expire`
  const why = `the revocation endpoint is on ${ignored.origin}, which the credential does not allow`
  context.warn({ code: 'TOKEN_NOT_REVOKED', message: `${what}, because ${why}; for the next logout, ${ignored.hint}` })
}

/** Error codes for a token that was revoked with its refresh token. RFC 7009 §2.2 defines none, but some servers send one. */
const UNKNOWN = ['invalid_token', 'invalid_request']

/**
 * True when a refusal can be ignored: the server cannot revoke access tokens, which expire (RFC 7009 §2.2.1), or it
 * no longer knows this one. The latter is accepted after the refresh token was revoked by a request that differs in the token alone.
 */
function isNoLoss(error: unknown, endedBefore: boolean): boolean {
  if (!isAuthError(error)) return false
  return error.actual === 'unsupported_token_type' || (endedBefore && UNKNOWN.includes(String(error.actual)))
}

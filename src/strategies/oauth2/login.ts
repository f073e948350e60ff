/** Logging in and out: `oauth2` and `openIdConnect` alike. */
import type { Interaction } from '../../auth/interaction.ts'
import { converse } from './client.ts'
import type { OAuth2Context } from './credential.ts'
import { serverOf } from './server.ts'
import { dropTokens, keepTokens, resolveTokens } from './token.ts'
import type { TokenSet } from './token-set.ts'

/**
 * A new token set, kept. On another device where the interaction can show a code and the server knows that way, else in a browser;
 * flows without a person repeat their grant.
 */
export async function login(context: OAuth2Context, interaction: Interaction): Promise<void> {
  const { flow } = context.credential
  if (flow === 'implicit') return keepTokens(context, await (await import('./implicit.ts')).implicit(context, interaction))
  if (flow === 'authorizationCode') return keepTokens(context, await byPerson(context, interaction))
  await dropTokens(context)
  await resolveTokens(context)
}

async function byPerson(context: OAuth2Context, interaction: Interaction): Promise<TokenSet> {
  const knowsDevices = (await serverOf(context)).device_authorization_endpoint !== undefined
  if (interaction.device && (knowsDevices || !interaction.redirect))
    return (await import('./device-code.ts')).deviceCode(context, interaction)
  return (await import('./authorization-code.ts')).authorizationCode(context, interaction)
}

/** Forgets the tokens first, then revokes them where the server can (RFC 7009): the refresh token ends the access token as well. */
export async function logout(context: OAuth2Context): Promise<void> {
  const set = await dropTokens(context)
  if (!set) return
  const { revocation_endpoint: url } = await serverOf(context)
  if (url === undefined) return
  const token = set.refreshToken ?? set.accessToken
  await converse(context, { endpoint: 'revocation endpoint', secrets: [token] }, ({ library, configuration }) =>
    library.tokenRevocation(configuration, token),
  )
}

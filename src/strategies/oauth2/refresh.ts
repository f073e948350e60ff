import type { OAuth2Context } from './credential.ts'
import { granted } from './grant.ts'
import type { TokenSet } from './token-set.ts'

/** A new set for a refresh token (RFC 6749 §6); without a new refresh token the old one stays. Errors: those of the token endpoint. */
export async function refresh(context: OAuth2Context, { refreshToken = '', idToken }: TokenSet): Promise<TokenSet> {
  const { refreshUrl, resource } = context.credential
  const set = await granted(
    context,
    ({ library, configuration, options }) =>
      library.refreshTokenGrant(configuration, refreshToken, { ...(resource && { resource }) }, options),
    { secrets: [refreshToken], ...(refreshUrl && { tokenUrl: refreshUrl }) },
  )
  return { refreshToken, ...(idToken !== undefined && { idToken }), ...set }
}

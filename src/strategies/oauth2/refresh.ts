import { ProtocolError } from '../../errors.ts'
import type { OAuth2Context } from './credential.ts'
import { granted } from './grant.ts'
import { idTokenClaims } from './id-token.ts'
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
  checkSubject(idToken, set.idToken, context)
  return { refreshToken, ...(idToken !== undefined && { idToken }), ...set }
}

/** A refreshed ID token is about the same person (OpenID Connect Core 1.0 §12.2). */
function checkSubject(old: string | undefined, fresh: string | undefined, { credential: { id } }: OAuth2Context): void {
  if (old === undefined || fresh === undefined) return
  const [before, after] = [idTokenClaims(old), idTokenClaims(fresh)]
  if (before.sub === after.sub && before.iss === after.iss) return
  throw new ProtocolError('OIDC_ID_TOKEN', `the refreshed ID token of "${id}" is about somebody else`, { credential: id })
}

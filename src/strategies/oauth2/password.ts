import type { Secret } from '../../auth/secret.ts'
import { reveal } from '../reveal.ts'
import type { OAuth2Context } from './credential.ts'
import { granted, requested } from './grant.ts'
import type { TokenSet } from './token-set.ts'

/**
 * A token by the resource owner password grant (RFC 6749 §4.3), which RFC 9700 §2.4 advises against: entries must ask for it. The
 * password is sent once. Errors: those of the token endpoint, `CREDENTIAL_SOURCE`.
 */
export async function password(context: OAuth2Context): Promise<TokenSet> {
  const { credential } = context
  const [username, secret] = await Promise.all([
    reveal(credential.username as Secret, 'username', credential),
    reveal(credential.password as Secret, 'password', credential),
  ])
  const parameters = { username, password: secret, ...requested(credential) }
  return granted(
    context,
    ({ library, configuration, options }) => library.genericGrantRequest(configuration, 'password', parameters, options),
    { once: true, secrets: [secret] },
  )
}

import type { OAuth2Context } from './credential.ts'
import { granted, requested } from './grant.ts'
import type { TokenSet } from './token-set.ts'

/** A token by the client credentials grant (RFC 6749 §4.4). Errors: those of the token endpoint. */
export function clientCredentials(context: OAuth2Context): Promise<TokenSet> {
  return granted(context, ({ library, configuration, options }) =>
    library.clientCredentialsGrant(configuration, requested(context.credential), options),
  )
}

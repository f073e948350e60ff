import type { Token } from '../../auth/strategy.ts'
import { ConfigurationError, CredentialError, SelectionError } from '../../errors.ts'
import { own, ownString } from '../../stac/json.ts'
import type { OAuth2Context } from './credential.ts'
import { granted, requested } from './grant.ts'
import { endOfIdToken } from './id-token.ts'
import { serverOf } from './server.ts'
import type { TokenSet } from './token-set.ts'

const TYPE = 'urn:ietf:params:oauth:token-type:'

/**
 * A token for the token of the entry named in `subject` (RFC 8693 §2). Its type is what the entry says, else what the scheme says
 * (extension 1.2.0), else an ID token after `openIdConnect` and an access token after the others.
 *
 * Errors: `FLOW_INVALID` for a type that is not given away, `CONFIG_INVALID`, those of both token endpoints.
 */
export async function tokenExchange(context: OAuth2Context): Promise<TokenSet> {
  const { credential, input } = context
  if (!input)
    throw new ConfigurationError('CONFIG_INVALID', `"${credential.id}" names no entry in "subject"`, { credential: credential.id })
  const { token_endpoint: tokenUrl = '' } = await serverOf(context)
  const type = subjectType(context, input.type)
  const subject = subjectOf(await input.token(tokenUrl), type, input.type, context)
  const { requestedTokenType } = credential
  const parameters = {
    subject_token: subject,
    subject_token_type: type,
    ...(requestedTokenType && { requested_token_type: requestedTokenType }),
    ...requested(credential),
  }
  return granted(
    context,
    ({ library, configuration, options }) =>
      library.genericGrantRequest(configuration, 'urn:ietf:params:oauth:grant-type:token-exchange', parameters, options),
    { exchange: true, secrets: [subject] },
  )
}

function subjectType({ credential, scheme }: OAuth2Context, inputType: string): string {
  const { subjectTokenType } = credential
  if (subjectTokenType !== undefined) return subjectTokenType
  const documented = ownString(own(own(scheme, 'flows'), credential.flow), 'subjectTokenType')
  return documented ?? `${TYPE}${inputType === 'openIdConnect' ? 'id_token' : 'access_token'}`
}

/** An access token or an ID token, and nothing else of the user's. */
function subjectOf(token: Token, type: string, inputType: string, { credential: { id, subject, subjectTokenType }, clock }: OAuth2Context) {
  if (type === `${TYPE}access_token` || type === `${TYPE}jwt`) return token.value
  // What a finished token is, only its owner knows.
  if (inputType === 'http' && type === subjectTokenType && type === `${TYPE}id_token`) return token.value
  if (type !== `${TYPE}id_token`) {
    throw new SelectionError('FLOW_INVALID', `"${id}" is to exchange a token of a type that is never given away`, { credential: id })
  }
  if (token.idToken !== undefined) {
    if ((endOfIdToken(token.idToken) ?? Number.POSITIVE_INFINITY) > clock.now()) return token.idToken
    throw new CredentialError('LOGIN_REQUIRED', `the ID token of "${subject}" has ended: "${subject}" needs a new login`, {
      credential: String(subject),
      hint: `stac-auth login ${subject}`,
    })
  }
  throw new ConfigurationError('CONFIG_INVALID', `"${subject}" has no ID token to exchange: it needs the scope "openid"`, {
    credential: id,
  })
}

/** The resource owner password grant (RFC 6749 §4.3), which RFC 9700 §2.4 advises against: credentials must ask for it. */

import { platform } from '#platform'
import type { Secret } from '../../auth/secret.ts'
import type { Token } from '../../auth/strategy.ts'
import { ConfigurationError, CredentialError, isAuthError, ProtocolError, SelectionError } from '../../errors.ts'
import { own, ownString } from '../../stac/json.ts'
import { reveal } from '../reveal.ts'
import type { OAuth2Context } from './credential.ts'
import { endOfIdToken, granted, idTokenClaims, requested } from './grant.ts'
import { serverOf } from './server.ts'
import type { TokenSet } from './token-set.ts'

/** A token by the client credentials grant (RFC 6749 §4.4). Errors: those of the token endpoint. */
export function clientCredentials(context: OAuth2Context): Promise<TokenSet> {
  return granted(context, ({ library, configuration, options }) =>
    library.clientCredentialsGrant(configuration, requested(context.credential), options),
  )
}

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

/**
 * A token for a user name and a password, with a one-time code and further parameters where the credential has them. The password is
 * sent once; one that was refused is not sent again, for many accounts are locked after a few attempts.
 *
 * Errors: `OAUTH_ERROR` with `actual` `invalid_grant` for a wrong one, those of the token endpoint, `CREDENTIAL_SOURCE`.
 */
export async function password(context: OAuth2Context): Promise<TokenSet> {
  const { credential, session, clock } = context
  const read = (field: 'username' | 'password' | 'totp') => reveal(credential[field] as Secret, field, credential)
  const [username, secret] = await Promise.all([read('username'), read('password')])
  const more = await furtherParameters(context)
  const account = await platform.sha256Hex(JSON.stringify([username, secret, more]))
  const known = session.get<Refusal>(REFUSED)?.value
  if (known?.account === account) throw known.error
  // A code lives for half a minute: it is read last.
  const code = credential.totp && (await read('totp'))
  const parameters = { ...more, username, password: secret, ...(code !== undefined && { totp: code }), ...requested(credential) }
  try {
    return await granted(
      context,
      ({ library, configuration, options }) => library.genericGrantRequest(configuration, 'password', parameters, options),
      { once: true, secrets: [secret, ...(code === undefined ? [] : [code]), ...Object.values(more)] },
    )
  } catch (error) {
    if (!isAuthError(error) || error.code !== 'OAUTH_ERROR' || error.actual !== 'invalid_grant') throw error
    const refusal = refused(error.url, error.status, context)
    allowAgain(context)
    await session.resolve<Refusal>(REFUSED, async () => ({ value: { account, error: refusal }, renewAt: clock.now() + REMEMBERED }))
    throw refusal
  }
}

/** Forgets that a password was refused: somebody asks for a login in so many words. */
export function allowAgain({ session }: OAuth2Context): void {
  session.invalidate(REFUSED, session.get(REFUSED)?.value)
}

interface Refusal {
  /** Digest of what was refused, apart from the one-time code. */
  readonly account: string
  readonly error: CredentialError
}

const REFUSED = 'refused password'

/** Milliseconds for which a refused password is not sent again. */
const REMEMBERED = 600_000

async function furtherParameters({ credential }: OAuth2Context): Promise<Record<string, string>> {
  const read = async ([name, value]: [string, Secret]) => [name, await reveal(value, `tokenParameters/${name}`, credential)] as const
  return Object.fromEntries(await Promise.all([...(credential.tokenParameters ?? [])].map(read)))
}

/** RFC 6749 §5.2: `invalid_grant` means that this very user name and password are wrong, or that the account has a second factor. */
function refused(url: string | undefined, status: number | undefined, { credential: { id, totp } }: OAuth2Context): CredentialError {
  const what = totp ? 'user name, password or one-time code' : 'user name or password'
  const factor = totp ? 'check "totp" as well' : 'an account with a second factor needs "totp" in the credential'
  return new CredentialError('OAUTH_ERROR', `the token endpoint refused the ${what} of "${id}"`, {
    credential: id,
    ...(url !== undefined && { url }),
    ...(status !== undefined && { status }),
    actual: 'invalid_grant',
    hint: `check "username" and "password"; ${factor}. It is not tried again`,
  })
}

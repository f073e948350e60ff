import { platform } from '#platform'
import type { Secret } from '../../auth/credential.ts'
import type { Token } from '../../auth/strategy.ts'
import { type AuthError, ConfigurationError, CredentialError, isAuthError, ProtocolError, SelectionError } from '../../errors.ts'
import { type JsonObject, own, ownString } from '../../stac/document.ts'
import { forLine } from '../../text/sanitize.ts'
import { expiresIn, reveal } from '../credential-values.ts'
import { endOfIdToken, jwtPart, livingIdToken, unlessRefused } from '../stored-token.ts'
import { boundKey, type Client, callEndpoint, type EndpointCall, secretEncoding } from './client.ts'
import type { OAuth2Context, OAuth2Credential } from './credential.ts'
import { invalidAnswer } from './endpoint.ts'
import { serverOf } from './server.ts'
import type { TokenSet } from './token.ts'

/** The grants without a browser: client credentials, refresh, token exchange, and password, which RFC 9700 §2.4 advises against. */

/** Requests a token by the client credentials grant (RFC 6749 §4.4). Errors: those of the token endpoint. */
export function clientCredentials(context: OAuth2Context): Promise<TokenSet> {
  return granted(context, ({ library, configuration, options }) =>
    library.clientCredentialsGrant(configuration, requested(context.credential), options),
  )
}

/**
 * Requests a new set with a refresh token (RFC 6749 §6); what the response omits of refresh token and ID token is kept. Errors: those of the
 * token endpoint.
 */
export async function refresh(context: OAuth2Context, old: TokenSet): Promise<TokenSet> {
  const { refreshToken = '', idToken } = old
  const { refreshUrl, resource, present } = context.credential
  const set = await granted(
    context,
    ({ library, configuration, options }) =>
      library.refreshTokenGrant(configuration, refreshToken, { ...(resource && { resource }) }, options),
    { secrets: [refreshToken], ...(refreshUrl && { tokenUrl: refreshUrl }) },
  )
  checkSubject(idToken, set.idToken, context)
  const next = { refreshToken, ...(idToken !== undefined && { idToken }), ...set }
  if (present !== 'id_token' || set.idToken !== undefined) return next
  // What is presented has the lifetime that it had.
  const { expiresAt: _life, ...kept } = next
  return { ...kept, ...(old.expiresAt !== undefined && { expiresAt: old.expiresAt }), idTokenIsLast: true }
}

/** Checks that a refreshed ID token has the same subject (OpenID Connect Core 1.0 §12.2). */
function checkSubject(old: string | undefined, fresh: string | undefined, { credential: { id } }: OAuth2Context): void {
  if (old === undefined || fresh === undefined) return
  const [before, after] = [jwtPart(old, 1), jwtPart(fresh, 1)]
  if (before.sub === after.sub && before.iss === after.iss) return
  throw new ProtocolError('OIDC_ID_TOKEN', `the refreshed ID token of "${id}" has another subject`, { credential: id })
}

const TYPE = 'urn:ietf:params:oauth:token-type:'

/**
 * Exchanges the token of the credential named in `subject` (RFC 8693 §2). Its type comes from the credential, else the scheme
 * (extension 1.2.0), else it is an ID token for `openIdConnect` and an access token for the others.
 *
 * Errors: `FLOW_INVALID` for an unsupported type, `CONFIG_INVALID`, those of both token endpoints.
 */
export async function tokenExchange(context: OAuth2Context): Promise<TokenSet> {
  const { credential, input } = context
  if (!input)
    throw new ConfigurationError('CONFIG_INVALID', `"${credential.id}" has no "subject", the credential whose token is exchanged`, {
      credential: credential.id,
    })
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

/** Returns an access token or an ID token, and no other secret of the user. */
function subjectOf(token: Token, type: string, inputType: string, { credential: { id, subject, subjectTokenType }, clock }: OAuth2Context) {
  if (type === `${TYPE}access_token` || type === `${TYPE}jwt`) return token.value
  // Only the user knows the type of a finished token.
  if (inputType === 'http' && type === subjectTokenType && type === `${TYPE}id_token`) return token.value
  if (type !== `${TYPE}id_token`) {
    throw new SelectionError(
      'FLOW_INVALID',
      `"${id}" cannot exchange a token of that type: only access tokens and ID tokens are exchanged`,
      { credential: id },
    )
  }
  return livingIdToken(token, subject, id, clock.now())
}

/**
 * Requests a token with user name and password, with a one-time code and further parameters when the credential has them. A
 * refused password is not sent again, because accounts are often locked after a few attempts.
 *
 * Errors: `OAUTH_ERROR` with `actual` `invalid_grant` for a wrong one, those of the token endpoint, `CREDENTIAL_SOURCE`.
 */
export async function password(context: OAuth2Context): Promise<TokenSet> {
  const { credential } = context
  const read = (field: 'username' | 'password' | 'totp') => reveal(credential[field] as Secret, field, credential)
  const [username, secret] = await Promise.all([read('username'), read('password')])
  const more = await furtherParameters(context)
  const account = await platform.sha256Hex(JSON.stringify([username, secret, more]))
  return unlessRefused(context, account, REMEMBERED, async () => {
    // A code is valid for half a minute: it is read last.
    const code = credential.totp && (await read('totp'))
    const parameters = { ...more, username, password: secret, ...(code !== undefined && { totp: code }), ...requested(credential) }
    const secrets = [secret, ...(code === undefined ? [] : [code]), ...Object.values(more)]
    return granted(
      context,
      ({ library, configuration, options }) => library.genericGrantRequest(configuration, 'password', parameters, options),
      { once: true, secrets },
    ).catch((error: unknown) => {
      throw isAuthError(error) && error.code === 'OAUTH_ERROR' && error.actual === 'invalid_grant' ? refused(error, context) : error
    })
  })
}

/** Milliseconds for which a refused password is not sent again. */
const REMEMBERED = 600_000

async function furtherParameters({ credential }: OAuth2Context): Promise<Record<string, string>> {
  const read = async ([name, value]: [string, Secret]) => [name, await reveal(value, `tokenParameters/${name}`, credential)] as const
  return Object.fromEntries(await Promise.all([...(credential.tokenParameters ?? [])].map(read)))
}

/** Returns `OAUTH_ERROR`: `invalid_grant` (RFC 6749 §5.2) means a wrong user name or password, or an account with a second factor. */
function refused({ url, status, actual }: AuthError, { credential: { id, totp } }: OAuth2Context): CredentialError {
  const what = totp ? 'user name, password or one-time code' : 'user name or password'
  const factor = totp ? 'check "totp" as well' : 'an account with a second factor needs "totp" in the credential'
  return new CredentialError('OAUTH_ERROR', `the token endpoint refused the ${what} of "${id}"`, {
    credential: id,
    url,
    status,
    actual,
    hint: `check "username" and "password"; ${factor}. It is not sent again`,
  })
}

/** Runs a grant and reads the resulting token set. */

/** Runs a grant of openid-client. Errors: as of `callEndpoint`. */
export async function granted(
  context: OAuth2Context,
  grant: (client: Client) => Promise<unknown>,
  call: Partial<EndpointCall> = {},
): Promise<TokenSet> {
  const asked = context.clock.now()
  const { members, skew } = await callEndpoint(context, { endpoint: 'token endpoint', ...call }, grant)
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

const MAX_NAME = 100

/** Returns the name of the user (OpenID Connect Core 1.0 §5.1) in an ID token that was verified before, on one line; undefined when it has none. */
export function userName(token: string): string | undefined {
  const claims = jwtPart(token, 1)
  const names = ['name', 'preferred_username', 'email'].map((claim) => forLine((ownString(claims, claim) ?? '').slice(0, MAX_NAME)).trim())
  return names.find((name) => name !== '')
}

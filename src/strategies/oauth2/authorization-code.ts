import type { ServerMetadata } from 'openid-client'
import type { Interaction, Redirection } from '../../auth/auth.ts'
import { base64url, sameBytes } from '../../crypto/encoding.ts'
import { type AuthError, ConfigurationError, CredentialError, isAuthError, TrustError, UnsupportedError } from '../../errors.ts'
import { parsedJson } from '../../http/message.ts'
import { isObject } from '../../stac/document.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { type Client, callEndpoint } from './client.ts'
import { knowsIssuer, type OAuth2Context, type OAuth2Credential } from './credential.ts'
import { interactionMissing, invalidAnswer, loginDenied, oauthError } from './endpoint.ts'
import { granted, requested } from './grants.ts'
import { serverOf } from './server.ts'
import { type TokenSet, tokenKey } from './token.ts'

/** The authorization code grant with PKCE (RFC 6749 §4.1, RFC 7636): the user logs in at the provider, in a browser. */

/**
 * Requests a code, with state, PKCE S256 and, for OpenID Connect, a nonce; pushed where the server supports it (RFC 9126). The code is
 * redeemed once and never sent twice.
 *
 * Errors: `LOGIN_REQUIRED` without a browser, `LOGIN_DENIED`, `LOGIN_TIMEOUT`, `OAUTH_ISSUER_MISMATCH`, `OAUTH_ERROR`,
 * `OIDC_ID_TOKEN`, `SCHEME_UNSUPPORTED` for a server without S256.
 */
export async function authorizationCode(context: OAuth2Context, interaction: Interaction): Promise<TokenSet> {
  const { redirectHost: host, redirectPort: port, redirectPath: path } = context.credential
  const redirection = await interaction.redirect?.(context.signal, { host, port, path })
  if (!redirection) throw interactionMissing(context.credential)
  try {
    const server = await serverOf(context)
    checkPkce(server, context)
    const { uri, resumed } = redirection
    const login = resumed ? decodeLogin(resumed.record, context, uri) : newLogin(context)
    const callback = resumed?.callback ?? (await answered(context, redirection, login, server))
    checkAnswer(callback, login, server, context)
    return await redeemed(context, callback, login)
  } finally {
    await redirection.close()
  }
}

async function answered(context: OAuth2Context, redirection: Redirection, login: PendingLogin, server: ServerMetadata): Promise<URL> {
  const address = await authorizationAddress(context, redirection, login)
  const ongoing = { state: login.state, record: encodeLogin(login, context, redirection.uri) }
  return redirection.answer(address, (url) => isOurs(url, login) && hasIssuer(url, server, context), ongoing)
}

/** Returns the URL of the authorization request, pushed where the server supports it (RFC 9126). */
async function authorizationAddress(context: OAuth2Context, { uri }: Redirection, login: PendingLogin): Promise<string> {
  const pushed = await pushedAddress(context, uri, login)
  if (pushed !== undefined) return pushed
  const { result } = await callEndpoint(context, { endpoint: 'authorization endpoint' }, async ({ library, configuration }: Client) =>
    library.buildAuthorizationUrl(configuration, await parametersOf(context, uri, login)),
  )
  return result.href
}

async function parametersOf({ credential }: OAuth2Context, uri: string, { state, nonce, verifier }: PendingLogin) {
  const { calculatePKCECodeChallenge } = await import('./library.ts')
  return {
    redirect_uri: uri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(nonce && { nonce }),
    // Without consent a provider issues no refresh token (OpenID Connect Core 1.0 §11).
    ...(credential.scopes?.includes('offline_access') && { prompt: 'consent' }),
    ...requested(credential),
  }
}

/** Returns undefined when the credential disables it, when there is no endpoint, and when an optional endpoint fails. */
async function pushedAddress(context: OAuth2Context, uri: string, login: PendingLogin): Promise<string | undefined> {
  const { id, par } = context.credential
  const { pushed_authorization_request_endpoint: endpoint, require_pushed_authorization_requests: isRequired } = await serverOf(context)
  if (par === false || (endpoint === undefined && par !== true)) return undefined
  if (endpoint === undefined) {
    throw new ConfigurationError('CONFIG_INVALID', `"par" of "${id}" is true, but its server has no endpoint for it`, { credential: id })
  }
  const call = { endpoint: 'endpoint for pushed requests', secrets: [login.verifier] } as const
  try {
    const { result } = await callEndpoint(context, call, async ({ library, configuration, options }: Client) =>
      library.buildAuthorizationUrlWithPAR(configuration, await parametersOf(context, uri, login), options),
    )
    return result.href
  } catch (error) {
    if (par === true || isRequired === true || !failsAlone(error)) throw error
    return undefined
  }
}

/** True when the endpoint refuses or fails; problems of the client or the connection would affect all endpoints. */
function failsAlone(error: unknown): boolean {
  if (!isAuthError(error) || error.actual === 'invalid_client') return false
  return error.code === 'OAUTH_ERROR' || error.code === 'OAUTH_RESPONSE_INVALID' || error.code.startsWith('HTTP_')
}

/** True when the callback belongs to this login. */
function isOurs({ searchParams }: URL, login: PendingLogin): boolean {
  return hasState(searchParams, login) && searchParams.getAll('code').length <= 1
}

/** Checks the callback again, because the interaction may not have used `isOurs`. */
function checkAnswer(callback: URL, login: PendingLogin, server: ServerMetadata, context: OAuth2Context): void {
  if (!isOurs(callback, login)) throw strangeAnswer(context.credential.id)
  const refusal = callback.searchParams.get('error')
  if (refusal !== null) throw refusedLogin(refusal, callback.searchParams.get('error_description') ?? '', context)
  if (!hasIssuer(callback, server, context)) throw foreignIssuer(server, context.credential)
}

async function redeemed(context: OAuth2Context, callback: URL, { state, nonce, verifier }: PendingLogin): Promise<TokenSet> {
  const { credential } = context
  // Without an issuer the ID token is not used.
  const isRead = knowsIssuer(credential)
  const checks = { pkceCodeVerifier: verifier, expectedState: state, ...(nonce && isRead && { expectedNonce: nonce }) }
  const secrets = [verifier, callback.searchParams.get('code') ?? '']
  // The library expects an issuer in the response only when the server announces it; ours is checked already.
  const bare = new URL(callback)
  bare.searchParams.delete('iss')
  return granted(
    context,
    ({ library, configuration, options, server: { authorization_response_iss_parameter_supported: sendsIssuer } }) =>
      library.authorizationCodeGrant(
        configuration,
        sendsIssuer ? callback : bare,
        { ...checks, idTokenExpected: credential.type === 'openIdConnect' },
        {},
        options,
      ),
    { once: true, secrets, idToken: credential.type === 'openIdConnect' },
  )
}

/** True for one matching issuer, or none when the server does not always send it (RFC 9207 §2.4). */
function hasIssuer({ searchParams }: URL, server: ServerMetadata, { credential }: OAuth2Context): boolean {
  const named = searchParams.getAll('iss')
  if (named.length === 0) return server.authorization_response_iss_parameter_supported !== true
  return named.length === 1 && isOfIssuer(named[0] ?? null, server, credential)
}

function refusedLogin(error: string, description: string, { credential: { id, authorizationUrl = '' } }: OAuth2Context): AuthError {
  if (error === 'access_denied') return loginDenied(id, description)
  return oauthError({ credential: id, url: authorizationUrl, name: 'authorization endpoint' }, 400, error, description)
}

function checkPkce({ code_challenge_methods_supported: methods, issuer }: ServerMetadata, { credential: { id } }: OAuth2Context): void {
  if (methods === undefined || methods.includes('S256')) return
  throw new UnsupportedError(
    'SCHEME_UNSUPPORTED',
    `${issuer} does not support the code challenge method S256, which every login requires`,
    {
      credential: id,
    },
  )
}

/** A login between its request and its response; its values are used once. */

interface PendingLogin {
  readonly state: string
  /** For OpenID Connect (OpenID Connect Core 1.0 §3.1.2.1). */
  readonly nonce?: string
  /** RFC 7636 §4.1. */
  readonly verifier: string
}

/** Milliseconds that a response is accepted after the page was unloaded. */
const LIFE = 10 * 60_000

export function newLogin({ credential, random }: OAuth2Context): PendingLogin {
  const fresh = () => base64url(random(32))
  // Some providers require it for the scope openid, even when the ID token, which repeats it, is not used.
  const isOpenId = credential.type === 'openIdConnect' || credential.scopes?.includes('openid')
  return { state: fresh(), verifier: fresh(), ...(isOpenId && { nonce: fresh() }) }
}

/** Encodes the login as text: bound to the credential, its server and the redirect URI, and valid for ten minutes. */
export function encodeLogin({ state, nonce, verifier }: PendingLogin, context: OAuth2Context, uri: string): string {
  return JSON.stringify({ state, nonce, verifier, boundTo: boundTo(context, uri), until: context.clock.now() + LIFE })
}

/** Decodes a login. Errors: `OAUTH_RESPONSE_INVALID` for a text of another credential or a malformed one, `LOGIN_TIMEOUT`. */
export function decodeLogin(text: string, context: OAuth2Context, uri: string): PendingLogin {
  const { id } = context.credential
  const record = parsedJson(text)
  const { state, nonce, verifier, until, boundTo: bound } = isObject(record) ? record : {}
  const isWhole = typeof state === 'string' && typeof verifier === 'string' && typeof until === 'number'
  if (!isWhole || state === '' || bound !== boundTo(context, uri)) throw strangeAnswer(id)
  if (context.clock.now() > until) throw new CredentialError('LOGIN_TIMEOUT', `the login for "${id}" timed out`, { credential: id })
  return { state, verifier, ...(typeof nonce === 'string' && { nonce }) }
}

/** True for exactly one `state`, compared in constant time. */
export function hasState(parameters: URLSearchParams, { state }: Pick<PendingLogin, 'state'>): boolean {
  const states = parameters.getAll('state')
  const bytes = (text: string) => new TextEncoder().encode(text)
  return states.length === 1 && sameBytes(bytes(states[0] ?? ''), bytes(state))
}

/**
 * True when the `iss` of a response is that of the credential's server (RFC 9207 §2.4). A credential with endpoints and without
 * issuer has no name to compare with: then the response must come from the origin of the login.
 */
export function isOfIssuer(
  iss: string | null,
  { issuer, authorization_endpoint: page = '' }: ServerMetadata,
  credential: OAuth2Credential,
) {
  if (knowsIssuer(credential)) return iss === issuer
  return iss !== null && canParseUrl(iss) && new URL(iss).origin === new URL(page).origin
}

/** Returns `OAUTH_ISSUER_MISMATCH`: the response has another issuer, or none when the server always sends it. */
function foreignIssuer({ issuer }: ServerMetadata, credential: OAuth2Credential): TrustError {
  const { id } = credential
  return new TrustError('OAUTH_ISSUER_MISMATCH', `the login response for "${id}" has another issuer, or none`, {
    credential: id,
    ...(knowsIssuer(credential)
      ? { expected: issuer }
      : { hint: 'if issuer and login page are on different hosts, add "issuer" to the credential' }),
  })
}

/** Returns `OAUTH_RESPONSE_INVALID`; the error never quotes the response. */
function strangeAnswer(credential: string) {
  return invalidAnswer({ credential, url: '', name: 'authorization endpoint' }, 'belongs to another login')
}

function boundTo({ credential }: OAuth2Context, uri: string): string {
  return JSON.stringify([credential.id, tokenKey(credential), credential.issuer, credential.authorizationUrl, uri])
}

/** The authorization code grant with PKCE (RFC 6749 §4.1, RFC 7636): a person logs in at the provider, in a browser. */
import type { ServerMetadata } from 'openid-client'
import type { Interaction, Redirection } from '../../auth/interaction.ts'
import { type AuthError, CredentialError, TrustError, UnsupportedError } from '../../errors.ts'
import { type Client, converse } from './client.ts'
import type { OAuth2Context } from './credential.ts'
import { granted, requested } from './grant.ts'
import { loginRequired } from './login-required.ts'
import { oauthError } from './oauth-error.ts'
import { decodeLogin, encodeLogin, hasState, newLogin, type PendingLogin, strangeAnswer } from './pending-login.ts'
import { serverOf } from './server.ts'
import type { TokenSet } from './token-set.ts'

/**
 * Asks for a code, with state, PKCE S256 and, for OpenID Connect, a nonce; pushed where the server offers it (RFC 9126). The code is
 * redeemed once and never sent twice.
 *
 * Errors: `LOGIN_REQUIRED` where no browser can be had, `LOGIN_DENIED`, `LOGIN_TIMEOUT`, `OAUTH_ISSUER_MISMATCH`, `OAUTH_ERROR`,
 * `OIDC_ID_TOKEN`, `SCHEME_UNSUPPORTED` for a server without S256.
 */
export async function authorizationCode(context: OAuth2Context, interaction: Interaction): Promise<TokenSet> {
  const redirection = await interaction.redirect?.(context.signal)
  if (!redirection) throw loginRequired(context.credential)
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
  return redirection.answer(address, (url) => isOurs(url, login) && isOfIssuer(url, server, context), ongoing)
}

async function authorizationAddress(
  context: OAuth2Context,
  { uri }: Redirection,
  { state, nonce, verifier }: PendingLogin,
): Promise<string> {
  const { credential } = context
  const { result } = await converse(
    context,
    { endpoint: 'endpoint for pushed requests', secrets: [verifier] },
    async ({ library, configuration, server, options }: Client) => {
      const parameters = {
        redirect_uri: uri,
        state,
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(nonce && { nonce }),
        // Without consent a provider gives no refresh token for a program (OpenID Connect Core 1.0 §11).
        ...(credential.scopes?.includes('offline_access') && { prompt: 'consent' }),
        ...requested(credential),
      }
      return server.pushed_authorization_request_endpoint
        ? library.buildAuthorizationUrlWithPAR(configuration, parameters, options)
        : library.buildAuthorizationUrl(configuration, parameters)
    },
  )
  return result.href
}

/** An answer of this very login. */
function isOurs({ searchParams }: URL, login: PendingLogin): boolean {
  return hasState(searchParams, login) && searchParams.getAll('code').length <= 1
}

/** Who waited was told what is ours; that is not left to them alone. */
function checkAnswer(callback: URL, login: PendingLogin, server: ServerMetadata, context: OAuth2Context): void {
  if (!isOurs(callback, login)) throw strangeAnswer(context.credential.id)
  const refusal = callback.searchParams.get('error')
  if (refusal !== null) throw refusedLogin(refusal, context)
  if (!isOfIssuer(callback, server, context)) throw foreignIssuer(server, context)
}

async function redeemed(context: OAuth2Context, callback: URL, { state, nonce, verifier }: PendingLogin): Promise<TokenSet> {
  const { credential } = context
  const checks = { pkceCodeVerifier: verifier, expectedState: state, ...(nonce && { expectedNonce: nonce }) }
  const secrets = [verifier, callback.searchParams.get('code') ?? '']
  // The library wants an issuer in the answer only where the server says that it sends one; ours is checked already.
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
    { once: true, secrets },
  )
}

/**
 * RFC 9207 §2.4. An entry that writes its endpoints and no issuer knows no name to compare with: then the answer must come from
 * where the login was.
 */
function isOfIssuer({ searchParams }: URL, server: ServerMetadata, { credential }: OAuth2Context): boolean {
  const named = searchParams.getAll('iss')
  if (named.length === 0) return server.authorization_response_iss_parameter_supported !== true
  const [actual] = named
  const isKnown = credential.issuer !== undefined || credential.openIdConnectUrl !== undefined
  const same = isKnown ? actual === server.issuer : originOf(actual) === originOf(server.authorization_endpoint)
  return named.length === 1 && same
}

function foreignIssuer({ issuer }: ServerMetadata, { credential: { id } }: OAuth2Context): TrustError {
  return new TrustError('OAUTH_ISSUER_MISMATCH', `the answer to the login of "${id}" is that of another issuer, or names none`, {
    credential: id,
    expected: issuer,
  })
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined
}

function refusedLogin(error: string, { credential: { id, authorizationUrl = '' } }: OAuth2Context): AuthError {
  if (error !== 'access_denied') return oauthError({ credential: id, url: authorizationUrl, name: 'authorization endpoint' }, 400, error)
  return new CredentialError('LOGIN_DENIED', `the login for "${id}" was refused at the provider`, { credential: id })
}

function checkPkce({ code_challenge_methods_supported: methods, issuer }: ServerMetadata, { credential: { id } }: OAuth2Context): void {
  if (methods === undefined || methods.includes('S256')) return
  throw new UnsupportedError('SCHEME_UNSUPPORTED', `${issuer} does not know the code challenge S256, without which no login is begun`, {
    credential: id,
  })
}

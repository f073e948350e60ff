/** Sends a token with requests for data. */

import type { Interaction, LogoutChoice } from '../../auth/auth.ts'
import { type AuthFlow, type AuthStep, authorized, type Origin } from '../../auth/strategy.ts'
import { ConfigurationError, SelectionError } from '../../errors.ts'
import {
  type HttpRequest,
  type HttpResponse,
  hasQueryParameter,
  queryValues,
  withHeader,
  withQueryParameter,
  withUrl,
} from '../../http/message.ts'
import { type AuthScheme, isHttpScheme } from '../../stac/scheme.ts'
import { boundKey } from './client.ts'
import type { OAuth2Context, OAuth2Credential, OAuth2PeekContext } from './credential.ts'
import { hostsOf, publishedAt } from './server.ts'
import { knownTokens, loginProblem, renewTokens, resolveTokens, tokenOf, tokenState } from './token.ts'
import type { TokenSet } from './token-set.ts'

/** The shared methods of `oauth2` and `openIdConnect`: everything but reading schemes and credentials. */
export const byToken = {
  endpoints: endpointsOf,
  /** The token is sent as an `http` scheme says: as a bearer token (RFC 6750), or with a proof (RFC 9449). */
  answers: ({ dpop }: OAuth2Credential, scheme: AuthScheme): boolean =>
    isHttpScheme(scheme) && scheme.scheme.toLowerCase() === (dpop ? 'dpop' : 'bearer'),
  peek(request: HttpRequest, context: OAuth2PeekContext): AuthStep | undefined {
    const set = knownTokens(context)
    return set && set.tokenType !== 'DPoP' ? bearerStep(request, set, context.credential) : undefined
  },
  authorize: tokenSteps,
  token: tokenOf,
  loginRequired: loginProblem,
  tokenState,
  login: async (context: OAuth2Context, interaction: Interaction) => (await import('./login.ts')).login(context, interaction),
  logout: async (context: OAuth2Context, choice?: LogoutChoice) => (await import('./login.ts')).logout(context, choice),
} as const

/** Sends the request with a token; a refused one is refreshed once. Errors: those of the grant, `LOGIN_REQUIRED`. */
async function* tokenSteps(request: HttpRequest, context: OAuth2Context): AuthFlow {
  const set = await resolveTokens(context)
  const response = yield* presented(request, set, context)
  if (response.status !== 401) return
  yield* presented(request, await renewTokens(context, set), context)
}

/** Returns the URLs that may receive a credential's secrets: the token endpoint first. */
function endpointsOf(credential: OAuth2Credential): readonly (string | Origin)[] {
  const { tokenUrl, refreshUrl, deviceAuthorizationUrl, revocationUrl, jwksUrl } = credential
  const published = publishedAt(credential)
  const own = [tokenUrl, refreshUrl, deviceAuthorizationUrl, revocationUrl, jwksUrl].filter((url) => url !== undefined)
  if (published === undefined) return own
  const found = { origin: new URL(published).origin, publishedAt: published }
  const hosts = hostsOf(credential).map((host) => ({ origin: new URL(host).origin, publishedAt: host }))
  return tokenUrl === undefined ? [found, ...hosts, ...own] : [...own, found, ...hosts]
}

/** The steps with the token; returns the last response. Errors: `QUERY_NAME_CONFLICT`, `CONFIG_INVALID`. */
async function* presented(
  request: HttpRequest,
  set: TokenSet,
  context: OAuth2Context,
): AsyncGenerator<AuthStep, HttpResponse, HttpResponse> {
  if (set.tokenType !== 'DPoP') return yield bearerStep(request, set, context.credential)
  const [{ boundSteps }, key] = await Promise.all([import('../proof-of-possession.ts'), boundKey(context)])
  return yield* boundSteps(request, { value: set.accessToken, key, expiresAt: set.expiresAt }, context)
}

/** Returns the step of a token that is not bound to a key (RFC 6750 §2.1, or §2.3 when the credential says so). */
function bearerStep(request: HttpRequest, set: TokenSet, credential: OAuth2Credential): AuthStep {
  return authorized(placed(request, credential, `${credential.tokenPrefix ?? ''}${shown(set, credential)}`), set.expiresAt)
}

function shown({ accessToken, idToken, tokenType }: TokenSet, { id, present }: OAuth2Credential): string {
  if (present === 'id_token') {
    if (idToken !== undefined) return idToken
    throw new ConfigurationError('CONFIG_INVALID', `"${id}" has no ID token to send: it needs the scope "openid" and a known issuer`, {
      credential: id,
      hint: 'add "openid" to "scopes", and "issuer" if the credential has type oauth2',
    })
  }
  if (tokenType !== 'N_A') return accessToken
  throw new ConfigurationError('CONFIG_INVALID', `the token of "${id}" is not an access token, only input for another exchange`, {
    credential: id,
  })
}

function placed(request: HttpRequest, { id, placement }: OAuth2Credential, token: string): HttpRequest {
  if (!placement) return withHeader(request, 'authorization', `Bearer ${token}`)
  // A redirect may keep the query with the token.
  if (queryValues(request.url, placement.name).includes(token)) return request
  if (hasQueryParameter(request.url, placement.name)) {
    throw new SelectionError('QUERY_NAME_CONFLICT', `the URL already has a query parameter "${placement.name}"`, {
      credential: id,
      url: request.url,
      hint: 'remove it from the URL',
    })
  }
  return withUrl(request, withQueryParameter(request.url, placement.name, token))
}

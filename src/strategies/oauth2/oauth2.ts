import { platform } from '#platform'
import type { Interaction, LogoutChoice } from '../../auth/auth.ts'
import {
  type AuthFlow,
  type AuthStep,
  authorized,
  type Identity,
  type IdentityMember,
  type Origin,
  type Strategy,
  type Warning,
} from '../../auth/strategy.ts'
import { type AuthError, ConfigurationError, isAuthError, SelectionError } from '../../errors.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../http/message.ts'
import { isObject, own, ownString, pointer } from '../../stac/document.ts'
import { type AuthScheme, isHttpScheme, type OAuth2Flow, type OAuth2Scheme } from '../../stac/scheme.ts'
import { withQuerySecret } from '../credential-values.ts'
import { allowAgain } from '../stored-token.ts'
import { boundKey, callEndpoint } from './client.ts'
import { credentialProblem, OAUTH2_FORMS, type OAuth2Context, type OAuth2Credential, type OAuth2PeekContext, wanted } from './credential.ts'
import { fragmentsUnseen } from './endpoint.ts'
import { hostsOf, ignoredEndpoint, publishedAt, serverOf } from './server.ts'
import {
  dropTokens,
  keepTokens,
  knownTokens,
  loginProblem,
  renewTokens,
  resolveTokens,
  type TokenSet,
  tokenOf,
  tokenState,
} from './token.ts'

/** Strategy `oauth2`: the credential names the flow, endpoints and scopes; the catalog's copy is never used. */

/** Maximum number of scopes listed one by one. */
const MAX_TOLD = 20

const URLS = ['authorizationUrl', 'tokenUrl', 'refreshUrl'] as const

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
  login,
  logout,
} as const

/** Obtains a token by the credential's grant (RFC 6749) and sends it as a bearer token (RFC 6750) or with a proof (RFC 9449); a 401 is retried once. */
export const oauth2: Strategy<OAuth2Scheme, OAuth2Credential> = {
  type: 'oauth2',
  acceptsToken: true,
  forms: OAUTH2_FORMS,
  problem,
  identity: ({ flows }) => Object.entries(flows).map(([name, flow]) => tuple(name, flow)),
  schemeOf: ({ flow, authorizationUrl, tokenUrl, refreshUrl }) => ({
    type: 'oauth2',
    flows: { [flow]: { ...(authorizationUrl && { authorizationUrl }), ...(tokenUrl && { tokenUrl }), ...(refreshUrl && { refreshUrl }) } },
  }),
  identityOf,
  refine(credential) {
    const fault = credentialProblem(credential)
    if (fault) throw fault
    return credential
  },
  describe({ flows }) {
    const form = OAUTH2_FORMS.find(({ when }) => when?.flow?.some((name) => own(flows, String(name)) !== undefined))
    const flow = String(form?.when?.flow?.[0])
    if (!form || flow === 'implicit')
      return {
        credential: { type: 'http', scheme: 'bearer' },
        fields: { token: { kind: 'secret', label: 'Access token', required: true } },
      }
    const urls = URLS.flatMap((name) => {
      const value = ownString(own(flows, flow), name)
      return value === undefined ? [] : [[name, value]]
    })
    const loginAt = flow === 'authorizationCode' ? ownString(own(flows, flow), 'authorizationUrl') : undefined
    return {
      credential: { type: 'oauth2', flow, ...Object.fromEntries(urls) },
      fields: wanted(form),
      ...(loginAt !== undefined && { loginAt }),
    }
  },
  prepare({ scheme, pointer: at, credential }) {
    if (credential.flow === 'implicit' && platform.connect) throw fragmentsUnseen(credential.id)
    return [...ungranted(scheme, at, credential)]
  },
  ...byToken,
}

/** Returns the identity: an issuer matches URLs below it and on the hosts that the credential adds; published endpoints are used, whatever the catalog copied. */
function identityOf(credential: OAuth2Credential): Identity {
  const [written = []] = oauth2.identity(oauth2.schemeOf(credential))
  if (credential.issuer === undefined) return written
  const places = [new URL(credential.issuer).href, ...hostsOf(credential)].map((place) => place.replace(/\/?$/, '/'))
  const missing = URLS.filter((name) => credential[name] === undefined)
  return [...written, ...missing.flatMap((name) => places.map((value) => ({ name, value, pointer: '', url: 'below' as const })))]
}

function problem(scheme: unknown, at: string): AuthError | undefined {
  const flows = own(scheme, 'flows')
  if (!isObject(flows)) {
    return new SelectionError('SCHEME_INVALID', 'an oauth2 scheme needs "flows", a map of flows', {
      pointer: flows === undefined ? at : `${at}/flows`,
    })
  }
  for (const [name, flow] of Object.entries(flows)) {
    const place = pointer(at, 'flows', name)
    if (!isObject(flow))
      return new SelectionError('FLOW_INVALID', `"${name}" is not a flow: flows is a map of flow names to flows`, { pointer: place })
    const bad = URLS.find((url) => own(flow, url) !== undefined && ownString(flow, url) === undefined)
    if (bad) return new SelectionError('FLOW_INVALID', `${bad} of flow "${name}" is not a string`, { pointer: pointer(place, bad) })
  }
  return undefined
}

function tuple(name: string, flow: OAuth2Flow): IdentityMember[] {
  const at = pointer('/flows', name)
  const urls = Object.keys(flow).flatMap((field): IdentityMember[] => {
    const value = ownString(flow, field)
    const isUrl = (URLS as readonly string[]).includes(field)
    return isUrl && value !== undefined ? [{ name: field, value, pointer: pointer(at, field), url: 'absolute' }] : []
  })
  return [...urls, { name: 'flow', value: name, pointer: at }]
}

/** Yields scopes that the catalog lists and the credential does not: they are not requested, which is reported. */
function* ungranted({ flows }: OAuth2Scheme, at: string, { id, flow, scopes = [] }: OAuth2Credential): Generator<Warning> {
  const place = pointer(at, 'flows', flow, 'scopes')
  const listed = Object.keys((own(own(flows, flow), 'scopes') as object | undefined) ?? {}).filter((scope) => !scopes.includes(scope))
  for (const scope of listed.slice(0, MAX_TOLD)) {
    const message = `the catalog lists the scope "${scope}", credential "${id}" does not: it is not requested`
    yield { code: 'SCOPE_NOT_GRANTED', message, pointer: pointer(place, scope) }
  }
  if (listed.length <= MAX_TOLD) return
  const message = `the catalog lists ${listed.length - MAX_TOLD} more scopes than credential "${id}": they are not requested`
  yield { code: 'SCOPE_NOT_GRANTED', message, pointer: place }
}

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
  const written = [tokenUrl, refreshUrl, deviceAuthorizationUrl, revocationUrl, jwksUrl].filter((url) => url !== undefined)
  if (published === undefined) return written
  const found = { origin: new URL(published).origin, publishedAt: published }
  const hosts = hostsOf(credential).map((host) => ({ origin: new URL(host).origin, publishedAt: host }))
  return tokenUrl === undefined ? [found, ...hosts, ...written] : [...written, found, ...hosts]
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
  const { placement, tokenPrefix = '' } = credential
  const token = `${tokenPrefix}${shown(set, credential)}`
  const sent = placement
    ? withQuerySecret(request, placement.name, token, credential)
    : withHeader(request, 'authorization', `Bearer ${token}`)
  return authorized(sent, set.expiresAt)
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

/**
 * Obtains and stores a new token set: by the device flow when the interaction can show a code and the server supports it, else in a browser;
 * flows without a login repeat their grant.
 */
async function login(context: OAuth2Context, interaction: Interaction): Promise<void> {
  const { flow } = context.credential
  if (flow === 'implicit') return keepTokens(context, await (await import('./implicit.ts')).implicit(context, interaction))
  if (flow === 'authorizationCode') return keepTokens(context, await byPerson(context, interaction))
  if (flow === 'password') allowAgain(context)
  await dropTokens(context)
  await resolveTokens(context)
}

async function byPerson(context: OAuth2Context, interaction: Interaction): Promise<TokenSet> {
  const knowsDevices = (await serverOf(context)).device_authorization_endpoint !== undefined
  if (interaction.device && (knowsDevices || !interaction.redirect))
    return (await import('./device-code.ts')).deviceCode(context, interaction)
  return (await import('./authorization-code.ts')).authorizationCode(context, interaction)
}

/**
 * Removes the tokens first, then revokes them where the server supports it (RFC 7009). With `end` the user is logged out at the provider
 * last, if it has a page for that.
 */
async function logout(context: OAuth2Context, { end, revoke: mayRevoke = true }: LogoutChoice = {}): Promise<void> {
  const set = await dropTokens(context)
  try {
    if (set && mayRevoke) await revoke(context, set)
  } finally {
    const { end_session_endpoint: page } = end ? await serverOf(context) : {}
    if (page !== undefined) await end?.(endOfSession(page, context, set))
  }
}

/** Returns the logout URL (OpenID Connect RP-Initiated Logout 1.0 §2): the ID token identifies the login, so that no other user is logged out. */
function endOfSession(page: string, { credential: { clientId } }: OAuth2Context, set: TokenSet | undefined): string {
  const url = new URL(page)
  url.searchParams.set('client_id', clientId)
  if (set?.idToken !== undefined) url.searchParams.set('id_token_hint', set.idToken)
  return url.href
}

/**
 * Revokes the refresh token first, so that it cannot be used any more, and the access token even if that failed: RFC 7009 §2.1 leaves it to the
 * server whether one revokes the other. Errors: `OAUTH_*`, `HTTP_<status>`, those of the transport; of two, the first.
 */
async function revoke(context: OAuth2Context, { refreshToken, accessToken }: TokenSet): Promise<void> {
  const { revocation_endpoint: url } = await serverOf(context)
  if (url === undefined) return warnUnrevoked(context)
  const secrets = refreshToken === undefined ? [accessToken] : [refreshToken, accessToken]
  const failures: unknown[] = []
  for (const token of secrets) {
    try {
      await callEndpoint(context, { endpoint: 'revocation endpoint', secrets }, ({ library, configuration }) =>
        library.tokenRevocation(configuration, token),
      )
    } catch (error) {
      const endedBefore = refreshToken !== undefined && failures.length === 0
      if (token !== accessToken || !isNoLoss(error, endedBefore)) failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** Warns when the server has an endpoint for it, on a host that the user does not allow. */
async function warnUnrevoked(context: OAuth2Context): Promise<void> {
  const ignored = await ignoredEndpoint(context, 'revocation_endpoint')
  if (ignored === undefined) return
  const what = `the tokens of "${context.credential.id}" were removed, but not revoked: they are valid until they expire`
  const why = `the revocation endpoint is on ${ignored.origin}, which the credential does not allow`
  context.warn({ code: 'TOKEN_NOT_REVOKED', message: `${what}, because ${why}; for the next logout, ${ignored.hint}` })
}

/** Error codes for a token that was revoked with its refresh token. RFC 7009 §2.2 defines none, but some servers send one. */
const UNKNOWN = ['invalid_token', 'invalid_request']

/**
 * True when a refusal can be ignored: the server cannot revoke access tokens, which expire (RFC 7009 §2.2.1), or it
 * no longer knows this one. The latter is accepted after the refresh token was revoked by a request that differs in the token alone.
 */
function isNoLoss(error: unknown, endedBefore: boolean): boolean {
  if (!isAuthError(error)) return false
  return error.actual === 'unsupported_token_type' || (endedBefore && UNKNOWN.includes(String(error.actual)))
}

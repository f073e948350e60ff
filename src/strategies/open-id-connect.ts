/** Strategy `openIdConnect`: identified by the discovery URL. */
import type { Strategy } from '../auth/strategy.ts'
import { type AuthError, ConfigurationError, SelectionError } from '../errors.ts'
import { isOpenIdConnectScheme, type OpenIdConnectScheme } from '../stac/scheme.ts'
import type { OAuth2Credential } from './oauth2/credential.ts'
import { clientFields, credentialProblem, OPEN_ID_FORMS } from './oauth2/credential.ts'
import { byToken } from './oauth2/oauth2.ts'
import { discoveryUrl } from './oauth2/server.ts'

/**
 * Matches providers by their discovery URL (OpenID Connect Discovery 1.0 §4) and logs in there; a finished bearer token
 * matches as well.
 */
export const openIdConnect: Strategy<OpenIdConnectScheme, OAuth2Credential> = {
  type: 'openIdConnect',
  acceptsToken: true,
  forms: OPEN_ID_FORMS,
  problem(scheme, at): AuthError | undefined {
    if (isOpenIdConnectScheme(scheme)) return undefined
    return new SelectionError('SCHEME_INVALID', 'an openIdConnect scheme needs "openIdConnectUrl"', { pointer: at })
  },
  identity: ({ openIdConnectUrl }) => [
    [{ name: 'openIdConnectUrl', value: discoveryUrl(openIdConnectUrl), pointer: '/openIdConnectUrl', url: 'absolute' }],
  ],
  schemeOf: ({ openIdConnectUrl, issuer }) => ({ type: 'openIdConnect', openIdConnectUrl: openIdConnectUrl ?? issuer ?? '' }),
  refine(credential) {
    if (credential.openIdConnectUrl === undefined && credential.issuer === undefined) {
      throw new ConfigurationError('CONFIG_INVALID', 'set openIdConnectUrl, or issuer, or both when they differ')
    }
    const complete = withOpenId({ ...credential, flow: credential.flow ?? 'authorizationCode' })
    const problem = credentialProblem(complete)
    if (problem) throw problem
    return complete
  },
  describe: ({ openIdConnectUrl }) => ({
    credential: { type: 'openIdConnect', openIdConnectUrl },
    fields: { clientId: clientFields.clientId, clientSecret: clientFields.clientSecret, scopes: clientFields.scopes },
    loginAt: discoveryUrl(openIdConnectUrl),
  }),
  ...byToken,
}

/** Adds the scope `openid` (OpenID Connect Core 1.0 §3.1.2.1) to those of the credential. */
function withOpenId(credential: OAuth2Credential): OAuth2Credential {
  const { flow, scopes = [] } = credential
  return flow === 'clientCredentials' || scopes.includes('openid') ? credential : { ...credential, scopes: ['openid', ...scopes] }
}

import type { Credential, Secret } from '../../auth/credential.ts'
import type { AuthContext, PeekContext } from '../../auth/strategy.ts'
import type { UrlPattern } from '../../auth/url-pattern.ts'
import type { OAuth2Scheme, OpenIdConnectScheme } from '../../stac/scheme.ts'

/** An `oauth2` or `openIdConnect` credential after reading. */
export type OAuth2Credential = Credential & {
  readonly type: 'oauth2' | 'openIdConnect'
  readonly flow: FlowName
  /** Issuer identifier; its metadata supplies the endpoints (RFC 8414). */
  readonly issuer?: string
  readonly openIdConnectUrl?: string
  readonly authorizationUrl?: string
  readonly tokenUrl?: string
  readonly refreshUrl?: string
  readonly deviceAuthorizationUrl?: string
  readonly revocationUrl?: string
  readonly endSessionUrl?: string
  readonly jwksUrl?: string
  /** Hosts of published endpoints, besides the origin of the discovery document. */
  readonly endpointHosts?: readonly UrlPattern[]
  readonly par?: boolean
  readonly redirectHost?: '127.0.0.1' | '::1' | 'localhost'
  readonly redirectPort?: number
  readonly redirectPath?: string
  readonly clientId: string
  readonly clientSecret?: Secret
  readonly clientAuthentication?: ClientAuthentication
  readonly privateKey?: Secret
  readonly keyId?: string
  readonly assertionAudience?: string
  readonly certificate?: Secret
  readonly scopes?: readonly string[]
  readonly resource?: string
  readonly audience?: string
  readonly dpop?: boolean
  readonly dpopKey?: Secret
  readonly dpopKeyPair?: () => unknown
  readonly present?: 'access_token' | 'id_token'
  /** Prefix of the token in requests for data, as in openEO: `oidc/<provider>/`. */
  readonly tokenPrefix?: string
  readonly placement?: { readonly in: 'query'; readonly name: string }
  readonly username?: Secret
  readonly password?: Secret
  readonly totp?: Secret
  readonly tokenParameters?: ReadonlyMap<string, Secret>
  readonly subject?: string
  readonly subjectTokenType?: string
  readonly requestedTokenType?: string
  readonly tokenRequest?: 'form' | 'json'
  /** Member of the token response that is the access token. */
  readonly tokenField?: string
}

export type FlowName = 'authorizationCode' | 'clientCredentials' | 'password' | 'implicit' | 'tokenExchange'

export type ClientAuthentication = 'basic' | 'post' | 'none' | 'secretJwt' | 'privateKeyJwt' | 'tls'

type Scheme = OAuth2Scheme | OpenIdConnectScheme

export type OAuth2Context = AuthContext<Scheme, OAuth2Credential> & {
  /** Milliseconds for which a `Retry-After` is honoured in this call; less when others wait for a lock. */
  readonly longestRest?: number
}
export type OAuth2PeekContext = PeekContext<Scheme, OAuth2Credential>

/** True when the credential names the issuer, directly or by discovery; otherwise nothing can be compared with it. */
export function knowsIssuer({ issuer, openIdConnectUrl }: OAuth2Credential): boolean {
  return issuer !== undefined || openIdConnectUrl !== undefined
}

/** True for flows with a login by the user. */
export function needsPerson({ flow }: OAuth2Credential): boolean {
  return flow === 'authorizationCode' || flow === 'implicit'
}

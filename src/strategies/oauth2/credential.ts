import type { Credential, CredentialFields, Field, Secret } from '../../auth/credential.ts'
import type { AuthContext, PeekContext } from '../../auth/strategy.ts'
import { namedOrigin, type UrlPattern } from '../../auth/url-pattern.ts'
import type { AuthError } from '../../errors.ts'
import type { OAuth2Scheme, OpenIdConnectScheme } from '../../stac/scheme.ts'
import { invalidField } from '../credential-values.ts'

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

/** Returns the method; default: `none` without a client secret. */
export function methodOf({ clientAuthentication, clientSecret }: OAuth2Credential) {
  return clientAuthentication ?? (clientSecret ? 'basic' : 'none')
}

/** The forms of credentials: one per flow, with endpoints written out or with an issuer that publishes them. */

type Fields = { readonly [name: string]: Field }

const flowField: Fields = { flow: { kind: 'text', label: 'Flow', required: true } }

const issuerField: Fields = { issuer: { kind: 'issuer', label: 'Issuer of the tokens; it publishes the endpoints that are not set here' } }

const tokenUrl: Fields = {
  tokenUrl: { kind: 'url', label: 'Token endpoint' },
  refreshUrl: { kind: 'url', label: 'Endpoint that redeems refresh tokens' },
}

const authorizationUrl: Fields = { authorizationUrl: { kind: 'url', label: 'Authorization endpoint' } }

const exchangeFields: Fields = {
  subject: { kind: 'id', label: 'Credential whose token is exchanged', required: true },
  subjectTokenType: { kind: 'text', label: 'Type of that token' },
  requestedTokenType: { kind: 'text', label: 'Type of the requested token' },
}

/** Fields that every OAuth 2.0 client may have. */
export const clientFields = {
  clientId: { kind: 'text', label: 'Client id', required: true },
  clientSecret: { kind: 'secret', label: 'Client secret' },
  clientAuthentication: {
    kind: 'text',
    label: 'Client authentication method',
    values: ['basic', 'post', 'none', 'secretJwt', 'privateKeyJwt', 'tls'],
  },
  privateKey: { kind: 'secret', label: 'Private key of the client (PEM PKCS #8, or JWK), for privateKeyJwt and tls', lines: true },
  keyId: { kind: 'text', label: 'Identifier of that key' },
  certificate: { kind: 'secret', label: 'Certificate of the client (PEM), for tls', lines: true },
  assertionAudience: {
    kind: 'text',
    label: 'Audience of the client’s JWTs; default: the issuer where it is known, else the token endpoint',
  },
  scopes: { kind: 'texts', label: 'Scopes to request; scopes of the catalog are never requested' },
  resource: { kind: 'text', label: 'Resource indicator (RFC 8707)' },
  audience: { kind: 'text', label: 'Audience' },
  dpop: { kind: 'boolean', label: 'Request tokens that are bound to a key (RFC 9449)' },
  dpopKey: {
    kind: 'secret',
    label: 'That key, to reuse it after a restart; default: a new key that cannot be exported',
    lines: true,
  },
  dpopKeyPair: { kind: 'function', label: 'Function that returns that key as a CryptoKeyPair that cannot be exported, for web pages' },
  jwksUrl: { kind: 'url', label: 'Keys of the provider, when they are on another host' },
  endpointHosts: { kind: 'patterns', label: 'Other hosts (URL patterns) that published endpoints may use' },
  revocationUrl: { kind: 'url', label: 'Endpoint that revokes tokens (RFC 7009)' },
  tokenField: { kind: 'text', label: 'Member of the token response that is the access token; default: access_token, or token' },
  present: { kind: 'text', label: 'Token to send with requests', values: ['access_token', 'id_token'] },
  tokenPrefix: { kind: 'text', label: 'Prefix of the token, for servers that use it to tell token issuers apart' },
  placement: { kind: 'placement', label: 'Query parameter for the token, instead of the Authorization header' },
} as const satisfies Fields

const form = (name: string, ...fields: readonly Fields[]): CredentialFields => ({
  when: { flow: [name] },
  fields: Object.assign({}, flowField, issuerField, ...fields, clientFields),
})

/** Fields of a login by the user. */
const loginFields = {
  deviceAuthorizationUrl: { kind: 'url', label: 'Endpoint for logins on another device (RFC 8628)' },
  par: { kind: 'boolean', label: 'Push the authorization request (RFC 9126); default: when the server supports it, with true always' },
  redirectHost: {
    kind: 'text',
    label: 'Host of the redirect URI, as it is registered with the provider; default: 127.0.0.1',
    values: ['127.0.0.1', '::1', 'localhost'],
  },
  redirectPort: { kind: 'number', label: 'Port of the redirect URI; default: a free one' },
  redirectPath: { kind: 'text', label: 'Path of that redirect URI; default: /callback' },
  endSessionUrl: { kind: 'url', label: 'Page to which the provider redirects after the logout (OpenID Connect RP-Initiated Logout 1.0)' },
} as const satisfies Fields

/** The account of the password grant, which must be enabled explicitly. */
const passwordFields = {
  username: { kind: 'text-or-secret', label: 'User name', required: true },
  password: { kind: 'secret', label: 'Password', required: true },
  allowPasswordGrant: { kind: 'boolean', label: 'Send the password to the token endpoint, against the advice of RFC 9700', required: true },
  totp: { kind: 'secret', label: 'One-time code of the second factor, read again for every token request', oneTime: true },
  tokenParameters: { kind: 'parameters', label: 'Further parameters of the token request' },
  tokenRequest: { kind: 'text', label: 'Format of the token request, for endpoints that require JSON', values: ['form', 'json'] },
} as const satisfies Fields

export const OAUTH2_FORMS: readonly CredentialFields[] = [
  form('clientCredentials', tokenUrl),
  form('authorizationCode', authorizationUrl, tokenUrl, loginFields),
  form('password', tokenUrl, passwordFields),
  form('tokenExchange', tokenUrl, exchangeFields),
  form('implicit', authorizationUrl, {
    allowImplicit: { kind: 'boolean', label: 'Read a token from a URL, against the advice of RFC 9700', required: true },
  }),
]

const discovery: Fields = {
  openIdConnectUrl: { kind: 'url', label: 'Discovery URL' },
  issuer: { kind: 'issuer', label: 'Issuer, instead of the discovery URL, or beside it when the two differ' },
  ...authorizationUrl,
  ...tokenUrl,
  ...loginFields,
}

const openIdForm = (flows: readonly (string | undefined)[], more: Fields = {}): CredentialFields => ({
  when: { flow: flows },
  fields: { ...discovery, flow: { kind: 'text', label: 'Flow; default: authorizationCode' }, ...more, ...clientFields },
})

export const OPEN_ID_FORMS: readonly CredentialFields[] = [
  openIdForm([undefined, 'authorizationCode']),
  openIdForm(['clientCredentials']),
  openIdForm(['password'], passwordFields),
]

/** Returns the fields that a user must fill in for a flow with known endpoints. */
export function wanted({ when, fields }: CredentialFields): Fields {
  const isService = when?.flow?.includes('clientCredentials') === true
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      if (name === 'clientSecret' && isService) return [[name, { ...field, required: true }]]
      return field.required || name === 'scopes' || name === 'totp' ? [[name, field]] : []
    }),
  )
}

const PREFIX = /^[\x21-\x7e]{1,200}$/

/** Returns the problem of a credential across its fields. */
export function credentialProblem(credential: OAuth2Credential): AuthError | undefined {
  const lacking = missingEndpoint(credential) ?? missingProof(credential) ?? unusable(credential)
  if (lacking) return invalidField(...lacking)
  if (credential.flow === 'password' && credential.allowPasswordGrant !== true)
    return invalidField('allowPasswordGrant', 'must be true for this flow')
  if (credential.flow === 'implicit' && credential.allowImplicit !== true)
    return invalidField('allowImplicit', 'must be true for this flow')
  if (credential.present === 'id_token' && credential.dpop)
    return invalidField('present', 'cannot be an ID token when tokens are bound to a key')
  if (credential.tokenPrefix !== undefined && !PREFIX.test(credential.tokenPrefix)) {
    return invalidField('tokenPrefix', 'must be 1 to 200 visible ASCII characters without blanks')
  }
  if (credential.dpop && credential.tokenPrefix) return invalidField('tokenPrefix', 'cannot be used when tokens are bound to a key')
  if (credential.dpop && credential.placement) return invalidField('placement', 'cannot be in the query when tokens are bound to a key')
  for (const name of ['dpopKey', 'dpopKeyPair']) {
    if (credential[name] && !credential.dpop) return invalidField(name, 'requires "dpop": true')
  }
  if (credential.dpopKey && credential.dpopKeyPair) return invalidField('dpopKeyPair', 'and dpopKey are the same key: set only one of them')
  return undefined
}

type Lack = readonly [field: string, why: string]

function missingEndpoint({ type, flow, issuer, tokenUrl: ofToken, authorizationUrl: ofLogin }: OAuth2Credential): Lack | undefined {
  if (type === 'openIdConnect' || issuer !== undefined) return undefined
  if (flow !== 'implicit' && ofToken === undefined) return ['tokenUrl', 'is missing (or give "issuer")']
  if ((flow === 'implicit' || flow === 'authorizationCode') && ofLogin === undefined) {
    return ['authorizationUrl', 'is missing (or give "issuer")']
  }
  return undefined
}

const PATH = /^\/[A-Za-z0-9\-._~/]{0,200}$/

/** Browsers normalise these paths. */
const REWRITTEN = /\/\/|\/\.\.?(?:\/|$)/

/** Parameters that have fields of their own. */
const OWN_PARAMETERS =
  /^(?:grant_type|username|password|totp|scope|resource|audience|client_id|client_secret|client_assertion.*|refresh_token)$/

function unusable({ redirectPort = 1, redirectPath = '/', endpointHosts = [], tokenParameters }: OAuth2Credential): Lack | undefined {
  if (!Number.isInteger(redirectPort) || redirectPort > 65_535) return ['redirectPort', 'must be a port: a whole number from 1 to 65535']
  if (!PATH.test(redirectPath) || REWRITTEN.test(redirectPath)) {
    return ['redirectPath', 'must begin with "/", followed only by letters, digits and - . _ ~ /']
  }
  const wild = endpointHosts.findIndex((host) => namedOrigin(host) === undefined)
  if (wild >= 0) return [`endpointHosts/${wild}`, 'must name one host: wildcards and buckets cannot be endpoints']
  const taken = [...(tokenParameters?.keys() ?? [])].find((name) => OWN_PARAMETERS.test(name))
  if (taken !== undefined) return ['tokenParameters', `must not contain "${taken}", which has a field of its own`]
  return undefined
}

function missingProof(credential: OAuth2Credential): Lack | undefined {
  const method = methodOf(credential)
  const needed = {
    basic: ['clientSecret'],
    post: ['clientSecret'],
    secretJwt: ['clientSecret'],
    none: [],
    privateKeyJwt: ['privateKey'],
    tls: ['certificate', 'privateKey'],
  }[method]
  const field = needed.find((name) => credential[name] === undefined)
  if (field) return [`${field}`, `is missing: "clientAuthentication" is ${method}`]
  if (credential.flow === 'clientCredentials' && method === 'none' && !credential.clientAuthentication)
    return ['clientSecret', 'is missing']
  return undefined
}

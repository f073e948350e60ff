/** The shapes that entries may have: one per flow, with endpoints written out or with an issuer that publishes them. */
import type { CredentialFields, Field } from '../../auth/credential.ts'
import { namedOrigin } from '../../auth/url-pattern.ts'
import { type AuthError, ConfigurationError } from '../../errors.ts'
import { methodOf } from './client-authentication.ts'
import type { OAuth2Credential } from './credential.ts'

type Fields = { readonly [name: string]: Field }

const flow: Fields = { flow: { kind: 'text', label: 'Flow', required: true } }

const issuer: Fields = { issuer: { kind: 'issuer', label: 'Issuer of the tokens; it publishes the endpoints that are not written here' } }

const tokenUrl: Fields = {
  tokenUrl: { kind: 'url', label: 'Token endpoint' },
  refreshUrl: { kind: 'url', label: 'Endpoint that redeems refresh tokens' },
}

const authorizationUrl: Fields = { authorizationUrl: { kind: 'url', label: 'Authorization endpoint' } }

const exchangeFields: Fields = {
  subject: { kind: 'id', label: 'Entry whose token is exchanged', required: true },
  subjectTokenType: { kind: 'text', label: 'Type of that token' },
  requestedTokenType: { kind: 'text', label: 'Type of the token to ask for' },
}

/** Fields that every OAuth 2.0 client may have. */
export const clientFields = {
  clientId: { kind: 'text', label: 'Client id', required: true },
  clientSecret: { kind: 'secret', label: 'Client secret' },
  clientAuthentication: {
    kind: 'text',
    label: 'How the client proves itself',
    values: ['basic', 'post', 'none', 'secretJwt', 'privateKeyJwt', 'tls'],
  },
  privateKey: { kind: 'secret', label: 'Private key of the client (PEM PKCS #8, or JWK), for privateKeyJwt and tls', lines: true },
  keyId: { kind: 'text', label: 'Identifier of that key' },
  certificate: { kind: 'secret', label: 'Certificate of the client (PEM), for tls', lines: true },
  assertionAudience: {
    kind: 'text',
    label: 'Audience of the client’s JWTs; default: the issuer where it is known, else the token endpoint',
  },
  scopes: { kind: 'texts', label: 'Scopes to ask for; those of the catalog are never asked for' },
  resource: { kind: 'text', label: 'Resource indicator (RFC 8707)' },
  audience: { kind: 'text', label: 'Audience' },
  dpop: { kind: 'boolean', label: 'Ask for tokens that are bound to a key (RFC 9449)' },
  dpopKey: {
    kind: 'secret',
    label: 'That key, where it must outlive the process; default: a new one that nobody can read out',
    lines: true,
  },
  dpopKeyPair: { kind: 'function', label: 'Function that gives that key as a CryptoKeyPair which nobody can read out, for pages' },
  jwksUrl: { kind: 'url', label: 'Keys of the provider, where they are on another host than the rest' },
  endpointHosts: { kind: 'patterns', label: 'Other hosts (URL patterns) on which published endpoints may be' },
  revocationUrl: { kind: 'url', label: 'Endpoint that revokes tokens (RFC 7009)' },
  present: { kind: 'text', label: 'Token to send to the data', values: ['access_token', 'id_token'] },
  tokenPrefix: { kind: 'text', label: 'Text in front of the token, for servers that tell token issuers by it' },
  placement: { kind: 'placement', label: 'Query parameter for the token, instead of the Authorization header' },
} as const satisfies Fields

const form = (name: string, ...fields: readonly Fields[]): CredentialFields => ({
  when: { flow: [name] },
  fields: Object.assign({}, flow, issuer, ...fields, clientFields),
})

/** How a person may log in. */
const loginFields = {
  deviceAuthorizationUrl: { kind: 'url', label: 'Endpoint for logins on another device (RFC 8628)' },
  par: { kind: 'boolean', label: 'Push the authorization request (RFC 9126); default: where the server can, with true always' },
  redirectPort: { kind: 'number', label: 'Port of the redirect URI on 127.0.0.1; default: a free one' },
  redirectPath: { kind: 'text', label: 'Path of that redirect URI; default: /callback' },
  endSessionUrl: { kind: 'url', label: 'Page on which the login at the provider ends (OpenID Connect RP-Initiated Logout 1.0)' },
} as const satisfies Fields

/** The account of the password grant, which must be asked for in so many words. */
const passwordFields = {
  username: { kind: 'text-or-secret', label: 'User name', required: true },
  password: { kind: 'secret', label: 'Password', required: true },
  allowPasswordGrant: { kind: 'boolean', label: 'Hand the password to the token endpoint, against the advice of RFC 9700', required: true },
  totp: { kind: 'secret', label: 'One-time code of the second factor, read again for every token request', oneTime: true },
  tokenParameters: { kind: 'parameters', label: 'Further parameters of the token request' },
  tokenRequest: { kind: 'text', label: 'Form of the token request, for endpoints that want JSON', values: ['form', 'json'] },
} as const satisfies Fields

export const OAUTH2_FORMS: readonly CredentialFields[] = [
  form('clientCredentials', tokenUrl),
  form('authorizationCode', authorizationUrl, tokenUrl, loginFields),
  form('password', tokenUrl, passwordFields),
  form('tokenExchange', tokenUrl, exchangeFields),
  form('implicit', authorizationUrl, {
    allowImplicit: { kind: 'boolean', label: 'Take a token out of an address, against the advice of RFC 9700', required: true },
  }),
]

const discovery: Fields = {
  openIdConnectUrl: { kind: 'url', label: 'Discovery address' },
  issuer: { kind: 'issuer', label: 'Issuer, instead of the discovery URL, or beside it where the two differ' },
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

/** The fields that a user must fill in for a flow whose endpoints are known. */
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

/** What is wrong with an entry across its fields. */
export function credentialProblem(credential: OAuth2Credential): AuthError | undefined {
  const lacking = missingEndpoint(credential) ?? missingProof(credential) ?? unusable(credential)
  if (lacking) return invalid(lacking[0], lacking[1])
  if (credential.flow === 'password' && credential.allowPasswordGrant !== true)
    return invalid('/allowPasswordGrant', 'must be true for this flow')
  if (credential.flow === 'implicit' && credential.allowImplicit !== true) return invalid('/allowImplicit', 'must be true for this flow')
  if (credential.present === 'id_token' && credential.dpop)
    return invalid('/present', 'cannot be an ID token where tokens are bound to a key')
  if (credential.tokenPrefix !== undefined && !PREFIX.test(credential.tokenPrefix)) {
    return invalid('/tokenPrefix', 'must be 1 to 200 visible ASCII characters without blanks')
  }
  if (credential.dpop && credential.tokenPrefix) return invalid('/tokenPrefix', 'cannot be used where tokens are bound to a key')
  if (credential.dpop && credential.placement) return invalid('/placement', 'cannot be in the query where tokens are bound to a key')
  for (const name of ['dpopKey', 'dpopKeyPair']) {
    if (credential[name] && !credential.dpop) return invalid(`/${name}`, 'is for entries with "dpop": true')
  }
  if (credential.dpopKey && credential.dpopKeyPair) return invalid('/dpopKeyPair', 'and dpopKey are the same key: give one of them')
  return undefined
}

type Lack = readonly [pointer: string, what: string]

function missingEndpoint({ type, flow, issuer, tokenUrl, authorizationUrl }: OAuth2Credential): Lack | undefined {
  if (type === 'openIdConnect' || issuer !== undefined) return undefined
  if (flow !== 'implicit' && tokenUrl === undefined) return ['/tokenUrl', 'is missing (or give "issuer")']
  if ((flow === 'implicit' || flow === 'authorizationCode') && authorizationUrl === undefined) {
    return ['/authorizationUrl', 'is missing (or give "issuer")']
  }
  return undefined
}

const PATH = /^\/[A-Za-z0-9\-._~/]{0,200}$/

/** Browsers rewrite these before they ask. */
const REWRITTEN = /\/\/|\/\.\.?(?:\/|$)/

/** Parameters that fields of their own decide about. */
const OWN_PARAMETERS =
  /^(?:grant_type|username|password|totp|scope|resource|audience|client_id|client_secret|client_assertion.*|refresh_token)$/

function unusable({ redirectPort = 1, redirectPath = '/', endpointHosts = [], tokenParameters }: OAuth2Credential): Lack | undefined {
  if (!Number.isInteger(redirectPort) || redirectPort > 65_535) return ['/redirectPort', 'must be a port: a whole number from 1 to 65535']
  if (!PATH.test(redirectPath) || REWRITTEN.test(redirectPath)) {
    return ['/redirectPath', 'must begin with "/", followed by letters, digits and - . _ ~ / only']
  }
  const wild = endpointHosts.findIndex((host) => namedOrigin(host) === undefined)
  if (wild >= 0) return [`/endpointHosts/${wild}`, 'must name one host: wildcards and buckets cannot be endpoints']
  const taken = [...(tokenParameters?.keys() ?? [])].find((name) => OWN_PARAMETERS.test(name))
  if (taken !== undefined) return ['/tokenParameters', `must not have "${taken}", which other fields decide about`]
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
  if (field) return [`/${field}`, `is missing: "clientAuthentication" is ${method}`]
  if (credential.flow === 'clientCredentials' && method === 'none' && !credential.clientAuthentication)
    return ['/clientSecret', 'is missing']
  return undefined
}

function invalid(pointer: string, what: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `${pointer.slice(1)} ${what}`, { pointer })
}

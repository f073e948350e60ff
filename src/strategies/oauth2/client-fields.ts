import type { Field } from '../../auth/credential.ts'

type Fields = { readonly [name: string]: Field }

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

/** How a person may log in. */
export const loginFields = {
  deviceAuthorizationUrl: { kind: 'url', label: 'Endpoint for logins on another device (RFC 8628)' },
  par: { kind: 'boolean', label: 'Push the authorization request (RFC 9126); default: where the server can, with true always' },
  redirectPort: { kind: 'number', label: 'Port of the redirect URI on 127.0.0.1; default: a free one' },
  redirectPath: { kind: 'text', label: 'Path of that redirect URI; default: /callback' },
  endSessionUrl: { kind: 'url', label: 'Page on which the login at the provider ends (OpenID Connect RP-Initiated Logout 1.0)' },
} as const satisfies Fields

/** The account of the password grant, which must be asked for in so many words. */
export const passwordFields = {
  username: { kind: 'text-or-secret', label: 'User name', required: true },
  password: { kind: 'secret', label: 'Password', required: true },
  allowPasswordGrant: { kind: 'boolean', label: 'Hand the password to the token endpoint, against the advice of RFC 9700', required: true },
  totp: { kind: 'secret', label: 'One-time code of the second factor, read again for every token request', oneTime: true },
  tokenParameters: { kind: 'parameters', label: 'Further parameters of the token request' },
  tokenRequest: { kind: 'text', label: 'Form of the token request, for endpoints that want JSON', values: ['form', 'json'] },
} as const satisfies Fields

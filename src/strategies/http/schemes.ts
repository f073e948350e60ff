/**
 * The HTTP authentication schemes that compute their credentials: what a credential of each has, and the file with its flow, which is loaded with
 * the first request, because most programs use one or two. All others take a ready-made value.
 */

import { platform } from '#platform'
import type { Credential } from '../../auth/credential.ts'
import { type AuthError, UnsupportedError } from '../../errors.ts'
import type { HashName } from '../../platform/platform.ts'
import { invalidField } from '../credential-values.ts'
import { accountFields, basic } from './basic.ts'
import { bearer } from './bearer.ts'
import { type HttpAuthScheme, loadedFlow, privateKeyField, withoutConnections } from './http-strategy.ts'
import type { LoadPrivacyPass } from './private-token.ts'
import type { ScramHash } from './scram.ts'

const MAX_TEXT = 1024

/**
 * Signs keying material exported from the TLS connection (RFC 9729), valid on that connection only. Servers send no challenge, and a
 * server that does not know the key responds as if the target did not exist, often with 404.
 */
const concealed: HttpAuthScheme = {
  name: 'concealed',
  fields: {
    privateKey: { ...privateKeyField, required: true },
    keyId: { kind: 'text', label: 'Key identifier registered with the server', required: true },
    realm: { kind: 'text', label: 'Realm that the server expects' },
  },
  about: { standard: 'RFC 9729', browsers: 'never', steps: 'a', testedAgainst: 'in-process server' },
  check: concealedProblem,
  unsupported: () => withoutConnections('Concealed', 'use a program outside the browser'),
  authorize: loadedFlow(async () => (await import('./concealed.ts')).concealedFlow),
}

function concealedProblem({ keyId, realm = '' }: Credential): AuthError | undefined {
  if (String(keyId).length > MAX_TEXT) return invalidField('keyId', 'is too long')
  if (/^[\x20-\x7e]*$/.test(String(realm)) && String(realm).length <= MAX_TEXT) return undefined
  return invalidField('realm', 'must be printable ASCII, at most 1024 characters')
}

/** Strongest first (RFC 7616 §3.7). */
export const ALGORITHMS: readonly HashName[] = ['SHA-512-256', 'SHA-256', 'MD5']

/**
 * `Digest` (RFC 7616, with the forms of RFC 2617 and RFC 2069): the password itself is never sent. Challenges are cached,
 * so only the first request of a protection space takes another round trip.
 */
export const digest: HttpAuthScheme = {
  name: 'digest',
  fields: {
    ...accountFields,
    algorithms: { kind: 'texts', label: `Algorithms to accept: ${ALGORITHMS.join(', ')}` },
    requireServerProof: { kind: 'boolean', label: 'Refuse responses of servers that do not prove that they know the password' },
  },
  about: { standard: 'RFC 7616', browsers: 'if exposed', steps: 'h, a', testedAgainst: 'lighttpd, Apache, Tomcat, libmicrohttpd, Twisted' },
  check: digestProblem,
  authorize: loadedFlow(async () => (await import('./digest.ts')).digestFlow),
}

function digestProblem({ algorithms }: Credential): AuthError | undefined {
  if (algorithms === undefined) return undefined
  const list = algorithms as readonly string[]
  if (list.length > 0 && list.every((name) => (ALGORITHMS as readonly string[]).includes(name))) return undefined
  return invalidField('algorithms', `must be a list of some of ${ALGORITHMS.join(', ')}`)
}

/** Sends a token bound to a key (RFC 9449): both from the credential, or both from the `oauth2` or `openIdConnect` credential named in `with`. */
export const dpop: HttpAuthScheme = {
  name: 'dpop',
  fields: {
    token: { kind: 'secret', label: 'Access token', required: true },
    privateKey: { ...privateKeyField, required: true },
  },
  alternative: { by: ['with'], fields: { with: { kind: 'id', label: 'Credential that obtains token and key', required: true } } },
  about: { standard: 'RFC 9449', browsers: 'yes', steps: 'a; again for a nonce', testedAgainst: 'oidc-provider' },
  authorize: loadedFlow(async () => (await import('./dpop.ts')).dpopFlow),
}

/**
 * Sends a token bound to a key, on a request signed with it (RFC 9635 §7.2, §7.3.1; RFC 9421); a token without a key is sent as a
 * bearer token. The grant server that a refusal names is reported and never contacted.
 */
export const gnap: HttpAuthScheme = {
  name: 'gnap',
  fields: {
    token: { kind: 'secret', label: 'Access token', required: true },
    privateKey: privateKeyField,
    keyId: { kind: 'text', label: 'Key identifier registered with the server' },
  },
  about: { standard: 'RFC 9635', browsers: 'yes', steps: 'a', testedAgainst: 'in-process server' },
  check({ privateKey, keyId }: Credential) {
    if ((privateKey === undefined) !== (keyId === undefined)) {
      return invalidField(
        keyId === undefined ? 'keyId' : 'privateKey',
        'is missing: set both privateKey and keyId, or neither for a bearer token',
      )
    }
    if (keyId === undefined || /^[\x20-\x7e]+$/.test(String(keyId))) return undefined
    return invalidField('keyId', 'must be printable ASCII')
  },
  authorize: loadedFlow(async () => (await import('./gnap.ts')).gnapFlow),
}

const BASE64URL = /^[A-Za-z0-9_-]+$/

/** Signs the server's challenge with a key that is registered there (RFC 7486 §2, §3); a challenge is used until its `max-age`. */
export const hoba: HttpAuthScheme = {
  name: 'hoba',
  fields: {
    privateKey: { ...privateKeyField, required: true },
    keyId: { kind: 'text', label: 'Key identifier of the registration, in base64url', required: true },
  },
  about: { standard: 'RFC 7486', browsers: 'if exposed', steps: 'h, a', testedAgainst: 'in-process server' },
  check({ keyId }: Credential) {
    if (BASE64URL.test(String(keyId))) return undefined
    return invalidField('keyId', 'must be base64url')
  },
  authorize: loadedFlow(async () => (await import('./hoba.ts')).hobaFlow),
}

/**
 * `Mutual`: the first request of a realm takes two more round trips. Experimental: not tested against
 * another implementation.
 */
export const mutual: HttpAuthScheme = {
  name: 'mutual',
  fields: accountFields,
  about: {
    standard: 'RFC 8120, RFC 8121',
    browsers: 'if exposed',
    steps: 'h, h, a',
    testedAgainst: 'our own server only: interoperability not proven',
  },
  authorize: loadedFlow(async () => (await import('./mutual.ts')).mutualFlow),
}

/**
 * Authenticates the user with a ticket from the system's Kerberos cache, for the service `HTTP@host` of the URL as written.
 * The first token is sent preemptively; a response is returned only when the server has proved its identity. The credential
 * holds no secret: `sendTo` alone decides who may get a token.
 */
export const negotiate: HttpAuthScheme = {
  name: 'negotiate',
  fields: {
    principal: { kind: 'text', label: 'Kerberos principal, when there are tickets of several' },
    delegate: { kind: 'boolean', label: 'Let the server act on your behalf elsewhere (ticket delegation)' },
  },
  about: {
    standard: 'RFC 4559',
    browsers: 'never',
    steps: 'a; again for each token of the server',
    testedAgainst: 'Apache (mod_auth_gssapi), MIT Kerberos, Heimdal',
  },
  check({ principal = '' }) {
    if (!/[\u0000-\u001f\u007f]/.test(String(principal))) return undefined
    return invalidField('principal', 'contains a control character')
  },
  unsupported: () => withoutConnections('Negotiate', "let the browser log in by itself: fetch(url, { credentials: 'include' })"),
  authorize: loadedFlow(async () => (await import('./negotiate.ts')).negotiateFlow),
}

/** Sends `OAuth` with a signature of method, URL, query and form body; HMAC-SHA1 by default. */
export const oauth: HttpAuthScheme = {
  name: 'oauth',
  fields: {
    consumerKey: { kind: 'text-or-secret', label: 'Consumer key', required: true },
    consumerSecret: { kind: 'secret', label: 'Consumer secret (RSA-SHA1 does not use it)', required: true },
    token: { kind: 'secret', label: 'Access token; absent when the consumer acts for itself' },
    tokenSecret: { kind: 'secret', label: 'Secret of the access token' },
    signatureMethod: { kind: 'text', label: 'Signature method', values: ['HMAC-SHA1', 'HMAC-SHA256', 'RSA-SHA1', 'PLAINTEXT'] },
    privateKey: { ...privateKeyField, label: `${privateKeyField.label}, for RSA-SHA1` },
  },
  about: { standard: 'RFC 5849', browsers: 'yes', steps: 'a', testedAgainst: 'OAuthLib' },
  check({ token, tokenSecret, signatureMethod, privateKey }: Credential) {
    if (tokenSecret !== undefined && token === undefined) return invalidField('tokenSecret', 'requires "token", which is missing')
    if (signatureMethod === 'RSA-SHA1' && privateKey === undefined) return invalidField('privateKey', 'is missing: RSA-SHA1 requires it')
    if (signatureMethod !== 'RSA-SHA1' && privateKey !== undefined)
      return invalidField('privateKey', 'is only for signatureMethod RSA-SHA1')
    return undefined
  },
  authorize: loadedFlow(async () => (await import('./oauth.ts')).oauthFlow),
}

/** `SCRAM-SHA-1`, for servers with accounts older than SHA-256. */
export const scramSha1 = scram('SHA-1')

/** `SCRAM-SHA-256`, which every SCRAM server supports. */
export const scramSha256 = scram('SHA-256')

function scram(hash: ScramHash): HttpAuthScheme {
  return {
    name: `scram-${hash.toLowerCase()}`,
    fields: accountFields,
    about: { standard: 'RFC 7804', browsers: 'if exposed', steps: 'h, h, a', testedAgainst: 'GNU SASL, Authen::SCRAM' },
    authorize: loadedFlow(async () => {
      const { scramFlow } = await import('./scram.ts')
      return (request, context) => scramFlow(request, context, hash)
    }),
  }
}

/** A token signed with the user's P-256 key, for the origin of the request, and the key beside it (RFC 8292 §2, §3). */
export const vapid: HttpAuthScheme = {
  name: 'vapid',
  fields: {
    privateKey: { ...privateKeyField, required: true },
    subject: { kind: 'text', label: 'Contact of the sender: a mailto: or https: URL', required: true },
  },
  about: { standard: 'RFC 8292', browsers: 'yes', steps: 'a', testedAgainst: 'in-process server' },
  check({ subject }: Credential) {
    if (/^(?:mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/.test(String(subject))) return undefined
    return invalidField('subject', 'must be a mailto: or https: URL')
  },
  authorize: loadedFlow(async () => (await import('./vapid.ts')).vapidFlow),
}

/** The scheme with the package that the platform finds; in pages and workers without one, see `httpWithTokenIssuer`. */
export const privateToken = /* @__PURE__ */ privateTokenWith(platform.optionalPackages?.privacyPass)

/**
 * Redeems anonymous tokens (RFC 9577): ready ones, or new ones from the issuer that the credential names (RFC 9578). A token is sent once,
 * for the challenge it was issued for; parallel requests never share one. `load` imports the package that token requests need.
 */
export function privateTokenWith(load: LoadPrivacyPass = notRegistered): HttpAuthScheme {
  return {
    name: 'privatetoken',
    fields: { token: { kind: 'secret', label: 'Tokens in base64url, separated by blanks; each is for one request', required: true } },
    alternative: {
      by: ['issuerName', 'issuerRequestUri', 'issuer'],
      fields: {
        issuerName: { kind: 'text', label: 'Name of the issuer, as in challenges; other issuers are refused', required: true },
        issuerRequestUri: { kind: 'url', label: 'URL of the token issuer' },
        with: { kind: 'id', label: 'Credential that authorizes token requests' },
        issuer: { kind: 'function', label: 'In code only: function that returns a token for a challenge' },
      },
    },
    about: { standard: 'RFC 9577', browsers: 'if exposed', steps: 'h, a', testedAgainst: '@cloudflare/privacypass-ts' },
    check: privateTokenProblem,
    endpoints: ({ issuerRequestUri }) => (typeof issuerRequestUri === 'string' ? [issuerRequestUri] : []),
    unsupported: ({ issuerRequestUri }) => (load === notRegistered && issuerRequestUri !== undefined ? unregistered() : undefined),
    authorize: loadedFlow(async () => {
      const { privateTokenFlow } = await import('./private-token.ts')
      return (request, context) => privateTokenFlow(request, context, load)
    }),
  }
}

async function notRegistered(): Promise<never> {
  throw unregistered()
}

function unregistered(): UnsupportedError {
  const message = 'requesting tokens from an issuer is not part of the default strategies in pages and workers'
  const hint = "add httpWithTokenIssuer of 'stac-auth/strategies' to strategies, or set the function issuer in the credential"
  return new UnsupportedError('SCHEME_UNSUPPORTED', message, { hint })
}

function privateTokenProblem({ issuerName, issuerRequestUri, issuer, with: via }: Credential): AuthError | undefined {
  if (issuerName === undefined) return undefined
  if ((issuerRequestUri === undefined) === (issuer === undefined))
    return invalidField('issuerRequestUri', 'or, in code, the function issuer must be set, and not both')
  if (via !== undefined && issuer !== undefined) return invalidField('with', 'requires issuerRequestUri')
  return undefined
}

/** In the order of their names. */
export const schemes: readonly HttpAuthScheme[] = [
  basic,
  bearer,
  concealed,
  digest,
  dpop,
  gnap,
  hoba,
  mutual,
  negotiate,
  oauth,
  privateToken,
  scramSha1,
  scramSha256,
  vapid,
]

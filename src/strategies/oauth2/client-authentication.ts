import type { ClientAuth, ServerMetadata } from 'openid-client'
import type { Secret } from '../../auth/credential.ts'
import { base64, fromBase64url } from '../../crypto/encoding.ts'
import type { ClientCertificate } from '../../http/message.ts'
import { reveal, revealText, unfit } from '../reveal.ts'
import { knowsIssuer, type OAuth2Context, type OAuth2Credential } from './credential.ts'

/** Client authentication of a credential, and the secrets it uses. */
export interface Authentication {
  readonly method: ClientAuth
  /** Basic credentials without the encoding of RFC 6749 §2.3.1, where that makes a difference. */
  readonly unencoded?: ClientAuth
  readonly clientSecret?: string
  readonly secrets: readonly string[]
  /** For the TLS connection (RFC 8705 §2), PEM. */
  readonly certificate?: ClientCertificate
}

/**
 * Returns the authentication by the method of the credential (RFC 6749 §2.3, RFC 7523, RFC 8705), and never by another. Errors:
 * `CREDENTIAL_VALUE_INVALID`, `CREDENTIAL_SOURCE`.
 */
export async function authenticationOf(
  { credential }: OAuth2Context,
  client: typeof import('./library.ts'),
  server: ServerMetadata,
): Promise<Authentication> {
  const { clientSecret } = credential
  const method = methodOf(credential)
  if (method === 'none') return { method: client.None(), secrets: [] }
  const assertion = { [client.modifyAssertion]: addressedTo(assertionAudience(credential, server)) }
  if (method === 'privateKeyJwt') return { method: client.PrivateKeyJwt(await signer(credential), assertion), secrets: [] }
  if (method === 'tls') return { method: client.TlsClientAuth(), secrets: [], certificate: await certificateOf(credential) }
  const secret = clientSecret ? await reveal(clientSecret, 'clientSecret', credential) : ''
  const methods = {
    basic: basicAuthentication(formEncoded(credential.clientId), formEncoded(secret)),
    post: client.ClientSecretPost(secret),
    secretJwt: client.ClientSecretJwt(secret, assertion),
  }
  const isPlain = formEncoded(credential.clientId + secret) === credential.clientId + secret
  // RFC 7617 §2: without encoding a client id must not contain a colon.
  const hasOther = method === 'basic' && !isPlain && !credential.clientId.includes(':')
  const unencoded = hasOther ? { unencoded: basicAuthentication(credential.clientId, secret) } : {}
  return { method: methods[method], ...unencoded, secrets: [secret], ...(secret !== '' && { clientSecret: secret }) }
}

/** Returns the method; default: `none` without a client secret. */
export function methodOf({ clientAuthentication, clientSecret }: OAuth2Credential) {
  return clientAuthentication ?? (clientSecret ? 'basic' : 'none')
}

/**
 * Returns the audience of a client JWT: from the credential, else the issuer (draft-ietf-oauth-rfc7523bis), else, when it is unknown,
 * the token endpoint (RFC 7523 §3).
 */
function assertionAudience(credential: OAuth2Credential, { issuer, token_endpoint: tokenUrl = issuer }: ServerMetadata): string {
  return credential.assertionAudience ?? (knowsIssuer(credential) ? issuer : tokenUrl)
}

function addressedTo(audience: string) {
  return (_header: unknown, payload: Record<string, unknown>) => {
    payload.aud = audience
  }
}

async function signer(credential: OAuth2Credential) {
  const { importPrivateKey } = await import('../../crypto/private-key.ts')
  const text = await revealText(credential.privateKey as Secret, 'privateKey', credential)
  const key = await importPrivateKey(text, ['ES256', 'EdDSA', 'RS256'])
  if ('problem' in key) throw unfit('privateKey', credential.id, key.problem)
  return { key: key.pair.privateKey, ...(credential.keyId && { kid: credential.keyId }) }
}

async function certificateOf(credential: OAuth2Credential) {
  const [cert, key] = await Promise.all([
    revealText(credential.certificate as Secret, 'certificate', credential),
    revealText(credential.privateKey as Secret, 'privateKey', credential),
  ])
  return { cert, key }
}

/** Encodes as in RFC 6749 §2.3.1 and Appendix B. `-`, `.` and `_` stay unencoded, which also suits servers that do not decode. */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}

/** Algorithms of JWTs that are signed with a secret (RFC 7518 §3.2). */
export const HMACS = ['HS256', 'HS384', 'HS512'] as const

export type Hmac = (typeof HMACS)[number]

/** True for a JWT that is signed with the client secret (OpenID Connect Core 1.0 §10.1). */
export async function isSignedWithSecret(jwt: string, algorithm: Hmac, secret: string): Promise<boolean> {
  const end = jwt.lastIndexOf('.')
  const signature = fromBase64url(jwt.slice(end + 1))
  if (signature === undefined) return false
  const bytes = (text: string) => new TextEncoder().encode(text)
  const hmac = { name: 'HMAC', hash: `SHA-${algorithm.slice(2)}` }
  const key = await crypto.subtle.importKey('raw', bytes(secret), hmac, false, ['verify'])
  return crypto.subtle.verify(hmac, key, new Uint8Array(signature), bytes(jwt.slice(0, end)))
}

function basicAuthentication(clientId: string, secret: string): ClientAuth {
  const credentials = base64(new TextEncoder().encode(`${clientId}:${secret}`))
  return (_server, _client, _body, headers) => headers.set('authorization', `Basic ${credentials}`)
}

/** A login between its request and its response; its values are used once. */

import type { ServerMetadata } from 'openid-client'
import { base64url, sameBytes } from '../../crypto/encoding.ts'
import { CredentialError, TrustError } from '../../errors.ts'
import { isObject } from '../../stac/document.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { knowsIssuer, type OAuth2Context, type OAuth2Credential } from './credential.ts'
import { invalidAnswer } from './response.ts'
import { tokenKey } from './token.ts'

export interface PendingLogin {
  readonly state: string
  /** For OpenID Connect (OpenID Connect Core 1.0 §3.1.2.1). */
  readonly nonce?: string
  /** RFC 7636 §4.1. */
  readonly verifier: string
}

/** Milliseconds that a response is accepted after the page was unloaded. */
const LIFE = 10 * 60_000

export function newLogin({ credential, random }: OAuth2Context): PendingLogin {
  const fresh = () => base64url(random(32))
  // Some providers require it for the scope openid, even when the ID token, which repeats it, is not used.
  const isOpenId = credential.type === 'openIdConnect' || credential.scopes?.includes('openid')
  return { state: fresh(), verifier: fresh(), ...(isOpenId && { nonce: fresh() }) }
}

/** Encodes the login as text: bound to the credential, its server and the redirect URI, and valid for ten minutes. */
export function encodeLogin({ state, nonce, verifier }: PendingLogin, context: OAuth2Context, uri: string): string {
  return JSON.stringify({ state, nonce, verifier, boundTo: boundTo(context, uri), until: context.clock.now() + LIFE })
}

/** Decodes a login. Errors: `OAUTH_RESPONSE_INVALID` for a text of another credential or a malformed one, `LOGIN_TIMEOUT`. */
export function decodeLogin(text: string, context: OAuth2Context, uri: string): PendingLogin {
  const { id } = context.credential
  const { state, nonce, verifier, until, boundTo: bound } = parsed(text)
  const isWhole = typeof state === 'string' && typeof verifier === 'string' && typeof until === 'number'
  if (!isWhole || state === '' || bound !== boundTo(context, uri)) throw strangeAnswer(id)
  if (context.clock.now() > until) throw new CredentialError('LOGIN_TIMEOUT', `the login for "${id}" timed out`, { credential: id })
  return { state, verifier, ...(typeof nonce === 'string' && { nonce }) }
}

/** True for exactly one `state`, compared in constant time. */
export function hasState(parameters: URLSearchParams, { state }: Pick<PendingLogin, 'state'>): boolean {
  const states = parameters.getAll('state')
  const bytes = (text: string) => new TextEncoder().encode(text)
  return states.length === 1 && sameBytes(bytes(states[0] ?? ''), bytes(state))
}

/**
 * True when the `iss` of a response is that of the credential's server (RFC 9207 §2.4). A credential with endpoints and without
 * issuer has no name to compare with: then the response must come from the origin of the login.
 */
export function isOfIssuer(
  iss: string | null,
  { issuer, authorization_endpoint: page = '' }: ServerMetadata,
  credential: OAuth2Credential,
) {
  if (knowsIssuer(credential)) return iss === issuer
  return iss !== null && canParseUrl(iss) && new URL(iss).origin === new URL(page).origin
}

/** Returns `OAUTH_ISSUER_MISMATCH`: the response has another issuer, or none when the server always sends it. */
export function foreignIssuer({ issuer }: ServerMetadata, credential: OAuth2Credential): TrustError {
  const { id } = credential
  return new TrustError('OAUTH_ISSUER_MISMATCH', `the login response for "${id}" has another issuer, or none`, {
    credential: id,
    ...(knowsIssuer(credential)
      ? { expected: issuer }
      : { hint: 'if issuer and login page are on different hosts, add "issuer" to the credential' }),
  })
}

/** Returns `OAUTH_RESPONSE_INVALID`; the error never quotes the response. */
export function strangeAnswer(credential: string) {
  return invalidAnswer({ credential, url: '', name: 'authorization endpoint' }, 'belongs to another login')
}

function boundTo({ credential }: OAuth2Context, uri: string): string {
  return JSON.stringify([credential.id, tokenKey(credential), credential.issuer, credential.authorizationUrl, uri])
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** A login between its request and its answer; its values are used once. */
import type { ServerMetadata } from 'openid-client'
import { base64url, sameBytes } from '../../crypto/encoding.ts'
import { CredentialError, TrustError } from '../../errors.ts'
import { isObject } from '../../stac/json.ts'
import { knowsIssuer, type OAuth2Context, type OAuth2Credential } from './credential.ts'
import { invalidAnswer } from './oauth-error.ts'
import { tokenKey } from './token.ts'

export interface PendingLogin {
  readonly state: string
  /** For OpenID Connect (OpenID Connect Core 1.0 §3.1.2.1). */
  readonly nonce?: string
  /** RFC 7636 §4.1. */
  readonly verifier: string
}

/** Milliseconds that an answer is waited for, where the page went away meanwhile. */
const LIFE = 10 * 60_000

export function newLogin({ credential, random }: OAuth2Context): PendingLogin {
  const fresh = () => base64url(random(32))
  // Some providers insist on it for the scope openid, also where the ID token, which repeats it, is not looked at.
  const isOpenId = credential.type === 'openIdConnect' || credential.scopes?.includes('openid')
  return { state: fresh(), verifier: fresh(), ...(isOpenId && { nonce: fresh() }) }
}

/** The login as text: bound to the entry, its server and the redirect URI, and to ten minutes. */
export function encodeLogin({ state, nonce, verifier }: PendingLogin, context: OAuth2Context, uri: string): string {
  return JSON.stringify({ state, nonce, verifier, boundTo: boundTo(context, uri), until: context.clock.now() + LIFE })
}

/** Errors: `OAUTH_RESPONSE_INVALID` for a text of another entry or none of ours, `LOGIN_TIMEOUT`. */
export function decodeLogin(text: string, context: OAuth2Context, uri: string): PendingLogin {
  const { id } = context.credential
  const { state, nonce, verifier, until, boundTo: bound } = parsed(text)
  const isWhole = typeof state === 'string' && typeof verifier === 'string' && typeof until === 'number'
  if (!isWhole || state === '' || bound !== boundTo(context, uri)) throw strangeAnswer(id)
  if (context.clock.now() > until)
    throw new CredentialError('LOGIN_TIMEOUT', `nobody finished the login for "${id}" in time`, { credential: id })
  return { state, verifier, ...(typeof nonce === 'string' && { nonce }) }
}

/** One `state`, the right one, compared in constant time. */
export function hasState(parameters: URLSearchParams, { state }: Pick<PendingLogin, 'state'>): boolean {
  const states = parameters.getAll('state')
  const bytes = (text: string) => new TextEncoder().encode(text)
  return states.length === 1 && sameBytes(bytes(states[0] ?? ''), bytes(state))
}

/**
 * True when the `iss` of an answer is that of the credential's server (RFC 9207 §2.4). A credential that writes its endpoints and no
 * issuer knows no name to compare with: then the answer must come from where the login was.
 */
export function isOfIssuer(
  iss: string | null,
  { issuer, authorization_endpoint: page = '' }: ServerMetadata,
  credential: OAuth2Credential,
) {
  if (knowsIssuer(credential)) return iss === issuer
  return iss !== null && URL.canParse(iss) && new URL(iss).origin === new URL(page).origin
}

/** `OAUTH_ISSUER_MISMATCH`: the answer was made by somebody else, or names nobody where its server always does. */
export function foreignIssuer({ issuer }: ServerMetadata, credential: OAuth2Credential): TrustError {
  const { id } = credential
  return new TrustError('OAUTH_ISSUER_MISMATCH', `the answer to the login of "${id}" is that of another issuer, or names none`, {
    credential: id,
    ...(knowsIssuer(credential)
      ? { expected: issuer }
      : { hint: 'if your provider has its issuer on another host than its login page, add "issuer" to the credential' }),
  })
}

/** `OAUTH_RESPONSE_INVALID`: nothing of it is quoted. */
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

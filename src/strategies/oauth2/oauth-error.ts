/** Errors of the endpoints of an authorization server. */
import { type AuthError, CredentialError, NetworkError, ProtocolError, TrustError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { Redactor } from '../../text/redactor.ts'

/** An endpoint of a credential; `secrets` must not appear in errors. */
export interface Endpoint {
  readonly credential: string
  readonly url: string
  /** `token endpoint`, `discovery document`, … */
  readonly name: string
  readonly secrets?: readonly string[]
}

/**
 * Advice for the codes of RFC 6749 §5.2, RFC 6750 §3.1, RFC 7009 §2.2.1, RFC 8628 §3.5, RFC 8693 §2.2.2 and RFC 8707 §2; unregistered
 * codes are not shown.
 */
const REMEDIES: { readonly [code: string]: string } = {
  invalid_client: 'check clientId and clientSecret; if the server expects them in the body, set "clientAuthentication": "post"',
  invalid_scope: 'check "scopes" of the credential',
  unauthorized_client: 'this client may not use this flow: ask the provider',
  unsupported_grant_type: 'the server does not support this flow: check "flow" and "tokenUrl"',
  invalid_request: 'check the fields of the credential against the documentation of the provider',
  invalid_grant: 'the grant has expired or was revoked',
  invalid_token: 'the token has expired or was revoked',
  unsupported_token_type: 'the server does not revoke tokens of this type: they expire',
  invalid_target: 'check "resource" and "audience" of the credential',
  invalid_dpop_proof: 'check the clock of this machine',
  access_denied: 'the login was refused',
  authorization_pending: 'the login is not finished',
  slow_down: 'the server limits the polling rate',
  expired_token: 'the login timed out',
  login_required: 'log in again',
  consent_required: 'log in again',
  interaction_required: 'log in again',
  server_error: 'try again later',
  temporarily_unavailable: 'try again later',
}

/** A code of words, as the registered ones are: it cannot be a secret that the server repeats. */
const CODE = /^[a-z]{2,20}(?:[_-][a-z]{1,20}){0,5}$/

/** Returns `OAUTH_ERROR`; `actual` is the server's code when it is registered, or of words and no secret. */
export function oauthError(
  { credential, url, name, secrets = [] }: Endpoint,
  status: number,
  code: string,
  description = '',
): CredentialError {
  const hint = Object.hasOwn(REMEDIES, code) ? REMEDIES[code] : undefined
  const words = plainWords(description, secrets)
  const isShown = hint !== undefined || (CODE.test(code) && !secrets.some((secret) => code.includes(secret)))
  const message = `the ${name} refused "${credential}" with ${isShown ? code : 'an unregistered error code'}${words && `: ${words}`}`
  // A busy server did not process the request.
  const retryable = status === 429 || status >= 500
  return new CredentialError('OAUTH_ERROR', message, {
    credential,
    url,
    status,
    retryable,
    ...(hint && { hint }),
    ...(isShown && { actual: code }),
  })
}

/** Returns `OAUTH_RESPONSE_INVALID`; the error never quotes the response. */
export function invalidAnswer({ credential, url, name }: Endpoint, why: string): ProtocolError {
  return new ProtocolError('OAUTH_RESPONSE_INVALID', `the response of the ${name} of "${credential}" ${why}`, { credential, url })
}

/** Returns `OAUTH_REDIRECT`. */
export function redirectRefused({ credential, name }: Endpoint, { url, status }: HttpResponse): TrustError {
  const message = `the ${name} of "${credential}" sent a redirect. It was not followed`
  return new TrustError('OAUTH_REDIRECT', message, { credential, url, status })
}

/** Returns `HTTP_<status>`, or `OAUTH_RESPONSE_INVALID` for a status that is not an error. */
export function unexpectedStatus(endpoint: Endpoint, status: number): AuthError {
  const { credential, url, name } = endpoint
  if (status < 400) return invalidAnswer(endpoint, `has the unexpected status ${status}`)
  const message = `the ${name} of "${credential}" failed with status ${status}`
  return new NetworkError(`HTTP_${status}`, message, { credential, url, status, retryable: status >= 500 || status === 429 })
}

/**
 * Returns the plain words of a server's description: servers repeat requests, and a secret has many
 * encodings. Words with digits, capitals or signs are removed, and everything when it contains a secret.
 */
function plainWords(description: string, secrets: readonly string[] = []): string {
  const redactor = new Redactor()
  for (const secret of secrets) redactor.add(secret)
  if (redactor.scrub(description) !== description || secrets.some((secret) => description.includes(secret))) return ''
  const words = description.slice(0, 2000).split(/\s+/)
  const plain = words.map((word) => (/^["'(]?[A-Za-z]?[a-z]{0,19}["'),.;:!?]{0,3}$/.test(word) ? word : '...'))
  return plain
    .join(' ')
    .replace(/\.\.\.(?: \.\.\.)+/g, '...')
    .slice(0, 200)
}

/** Returns `LOGIN_REQUIRED`: the user must log in; `why` says what became of the previous login. */
export function loginRequired({ id }: { readonly id: string }, why?: string): CredentialError {
  return new CredentialError('LOGIN_REQUIRED', `"${id}" needs a login${why === undefined ? '' : `: ${why}`}`, {
    credential: id,
    hint: `stac-auth login ${id}; in code, auth.login("${id}", …); or add a finished token as a credential of type "http", scheme "bearer"`,
  })
}

/** Returns `LOGIN_REQUIRED` for a login that has no way to reach the user. */
export function interactionMissing({ id }: { readonly id: string }): CredentialError {
  return new CredentialError('LOGIN_REQUIRED', `the login of "${id}" was given no way to show the login page to the user`, {
    credential: id,
    hint: `auth.login("${id}", { redirect: loopbackRedirect(…) }) with stac-auth/node; in pages, createLogins of stac-auth/browser`,
  })
}

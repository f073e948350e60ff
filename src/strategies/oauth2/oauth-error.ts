/** What endpoints of an authorization server say no with, in our words. */
import { type AuthError, CredentialError, NetworkError, ProtocolError, TrustError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { Redactor } from '../../text/redactor.ts'

/** Which endpoint of which entry; `secrets` are what must not be repeated. */
export interface Endpoint {
  readonly credential: string
  readonly url: string
  /** `token endpoint`, `discovery document`, … */
  readonly name: string
  readonly secrets?: readonly string[]
}

/**
 * What to do about the codes of RFC 6749 §5.2, RFC 6750 §3.1, RFC 7009 §2.2.1, RFC 8628 §3.5, RFC 8693 §2.2.2 and RFC 8707 §2; a code that
 * is not registered is not shown.
 */
const REMEDIES: { readonly [code: string]: string } = {
  invalid_client: 'check clientId and clientSecret; a server that wants them in the body needs "clientAuthentication": "post"',
  invalid_scope: 'check "scopes" of the entry',
  unauthorized_client: 'this client may not use this flow: ask the provider',
  unsupported_grant_type: 'the server does not offer this flow: check "flow" and "tokenUrl"',
  invalid_request: 'check the fields of the entry against the documentation of the provider',
  invalid_grant: 'the grant is not valid any more',
  invalid_token: 'the token is not valid any more',
  unsupported_token_type: 'the server does not revoke tokens of this type: they end by themselves',
  invalid_target: 'check "resource" and "audience" of the entry',
  invalid_dpop_proof: 'check the clock of this machine',
  access_denied: 'the login was refused',
  authorization_pending: 'the login is not finished',
  slow_down: 'the server wants fewer questions',
  expired_token: 'the login took too long',
  login_required: 'log in again',
  consent_required: 'log in again',
  interaction_required: 'log in again',
  server_error: 'try again later',
  temporarily_unavailable: 'try again later',
}

/** `OAUTH_ERROR`; `actual` is the server's code where it is a registered one. */
export function oauthError({ credential, url, name, secrets }: Endpoint, status: number, code: string, description = ''): CredentialError {
  const hint = Object.hasOwn(REMEDIES, code) ? REMEDIES[code] : undefined
  const words = plainWords(description, secrets)
  const message = `the ${name} refused "${credential}" with ${hint ? code : 'an unregistered error code'}${words && `: ${words}`}`
  // A server that is busy says so by the status; the request was not looked at.
  const retryable = status === 429 || status === 503
  return new CredentialError('OAUTH_ERROR', message, { credential, url, status, retryable, ...(hint && { hint, actual: code }) })
}

/** `OAUTH_RESPONSE_INVALID`; nothing of the answer is quoted. */
export function invalidAnswer({ credential, url, name }: Endpoint, why: string): ProtocolError {
  return new ProtocolError('OAUTH_RESPONSE_INVALID', `the answer of the ${name} of "${credential}" ${why}`, { credential, url })
}

/** `OAUTH_REDIRECT`. */
export function redirectRefused({ credential, name }: Endpoint, { url, status }: HttpResponse): TrustError {
  const message = `the ${name} of "${credential}" answered with a redirect; nothing was sent on`
  return new TrustError('OAUTH_REDIRECT', message, { credential, url, status })
}

/** `HTTP_<status>`, or `OAUTH_RESPONSE_INVALID` for a status that is no error. */
export function unexpectedStatus(endpoint: Endpoint, status: number): AuthError {
  const { credential, url, name } = endpoint
  if (status < 400) return invalidAnswer(endpoint, `came with status ${status}`)
  const message = `the ${name} of "${credential}" answered with status ${status}`
  return new NetworkError(`HTTP_${status}`, message, { credential, url, status, retryable: status >= 500 || status === 429 })
}

/**
 * A server's description as far as it is plain words: servers repeat what they were sent, and a secret has many
 * encodings. What has digits, capitals or signs inside is left out, and everything when a secret itself is in it.
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

/** `LOGIN_REQUIRED`: only a person can go on from here. */
export function loginRequired({ id }: { readonly id: string }): CredentialError {
  return new CredentialError('LOGIN_REQUIRED', `"${id}" needs a login`, {
    credential: id,
    hint: `stac-auth login ${id}; in code, auth.login("${id}", …); or add a finished token as an entry of type "http", scheme "bearer"`,
  })
}

/** Temporary keys for the token of a login: `AssumeRoleWithWebIdentity` (AWS STS API 2011-06-15; Ceph and MinIO have it too). */
import type { Token } from '../../auth/strategy.ts'
import { fromBase64url } from '../../crypto/encoding.ts'
import { type AuthError, ConfigurationError, CredentialError, NetworkError, ProtocolError } from '../../errors.ts'
import { type HttpResponse, isRedirect } from '../../http/message.ts'
import { elementContent, elementText, errorDocument } from '../../http/xml-text.ts'
import type { S3Keys } from '../../platform/platform.ts'
import type { S3Credential } from './access.ts'
import { KEY_FIELDS, keysIn } from './key-answer.ts'
import { formRequest, redirected } from './key-service.ts'
import type { S3Context } from './keys.ts'

/** Keys have a few kilobytes; session tokens of large roles most of them. */
const MAX_ANSWER = 64 * 1024

/** Name of the session in logs of the service, unless the credential has another. */
const SESSION_NAME = 'stac-auth'

/**
 * Returns keys for the token of the login in `with`. Errors: `LOGIN_REQUIRED`, `CONFIG_INVALID` for a login without the token needed,
 * `AUTH_REJECTED`, `HTTP_<status>`, `REDIRECT_CROSS_ORIGIN`, `RESPONSE_INVALID`, `RESPONSE_TOO_LARGE`, those of the login and of the
 * transport. Of an error document only its code is shown.
 */
export async function keysForToken(context: S3Context, token: string, signal: AbortSignal): Promise<S3Keys> {
  const { credential, send } = context
  const { id, stsEndpoint: url = '', roleArn, roleSessionName = SESSION_NAME, durationSeconds } = credential
  const members = Object.entries({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: roleSessionName,
    DurationSeconds: durationSeconds,
    WebIdentityToken: token,
  }).filter(([, value]) => value !== undefined)
  const response = await send(formRequest('POST', url, members, 'application/xml, text/xml'), { signal })
  if (response.status < 200 || response.status > 299) throw await refusal(response, credential, token)
  const keys = keysInXml(await response.text(MAX_ANSWER))
  if (keys) return keys
  const message = `the response of the token service of "${id}" is not XML with Credentials`
  throw new ProtocolError('RESPONSE_INVALID', message, { credential: id, url, status: response.status })
}

/** Returns the token that identifies the user to the service. Errors: `CONFIG_INVALID`, `LOGIN_REQUIRED`, those of the login. */
export async function identityToken({ credential, input, clock }: S3Context): Promise<string> {
  const { id, stsEndpoint = '', webIdentityToken, with: login } = credential
  const token: Token | undefined = await input?.token(stsEndpoint)
  const wanted = webIdentityToken ?? (token?.idToken === undefined ? 'access_token' : 'id_token')
  // Only the user knows the kind of a finished token.
  if (wanted === 'access_token' || input?.type === 'http') return token?.value ?? ''
  if (token?.idToken === undefined) {
    throw new ConfigurationError('CONFIG_INVALID', `"${login}" has no ID token for "${id}": it needs the scope "openid"`, {
      credential: id,
    })
  }
  if (endOf(token.idToken) > clock.now()) return token.idToken
  throw new CredentialError('LOGIN_REQUIRED', `the ID token of "${login}" has expired: "${login}" needs a new login`, {
    credential: String(login),
    hint: `stac-auth login ${login}; if its provider refreshes ID tokens, set "present": "id_token" in "${login}"`,
  })
}

/** Returns the end of an ID token, which its login verified, in epoch milliseconds. */
function endOf(idToken: string): number {
  const claims = fromBase64url(idToken.split('.')[1] ?? '')
  const { exp }: { exp?: unknown } = claims ? JSON.parse(new TextDecoder().decode(claims)) : {}
  return typeof exp === 'number' ? exp * 1000 : Number.POSITIVE_INFINITY
}

/** Returns the keys in an answer; undefined where there are none, or where parsers may read it differently. */
function keysInXml(xml: string): S3Keys | undefined {
  if (xml.includes('<!')) return undefined
  const credentials = elementContent(xml, 'Credentials') ?? ''
  const named = KEY_FIELDS.map((field) => [field, elementText(credentials, `${field[0]?.toUpperCase()}${field.slice(1)}`)?.trim()])
  return keysIn(Object.fromEntries(named))
}

const HINTS = new Map<string, (credential: S3Credential) => string>([
  ['ExpiredTokenException', ({ with: login }) => `the token has expired there: stac-auth login ${login}`],
  ['IDPRejectedClaim', ({ with: login }) => `the provider of "${login}" no longer accepts the token: stac-auth login ${login}`],
  [
    'InvalidIdentityToken',
    ({ with: login }) =>
      `check that the service knows the issuer and the client of "${login}", and webIdentityToken: AWS takes ID tokens only`,
  ],
  ['AccessDenied', () => 'check roleArn, and whom the role trusts'],
  ['InvalidParameterValue', () => 'check webIdentityToken, and durationSeconds, which the service limits'],
  ['ValidationError', () => 'check roleArn, roleSessionName and durationSeconds, which the role limits'],
  ['MissingParameter', () => 'this service needs roleArn'],
  ['MalformedInput', () => 'this service needs roleArn'],
])

/** Codes of failures that pass: the service did not reach the provider. */
const TEMPORARY = new Set(['IDPCommunicationError', 'ServiceUnavailable', 'Throttling', 'ThrottlingException', 'InternalError'])

/** Returns the error for a refusal (AWS STS API, "Common errors"): one sentence with its status and code. */
async function refusal(response: HttpResponse, credential: S3Credential, token: string): Promise<AuthError> {
  const { status, url } = response
  const { id, with: login } = credential
  if (isRedirect(status)) {
    await response.discard()
    return redirected(response, id, 'token service')
  }
  const word = /^[A-Za-z]{2,40}(?:\.[A-Za-z]{2,40})?$/.exec(elementText(await errorDocument(response), 'Code') ?? '')?.[0] ?? ''
  // A service may repeat what it was sent.
  const code = token.includes(word) ? '' : word
  const answer = code === '' ? `${status}` : `${status} ${code}`
  if (status === 429 || status >= 500 || TEMPORARY.has(code)) {
    const message = `the token service of "${id}" failed with ${answer}`
    return new NetworkError(`HTTP_${status}`, message, { credential: id, url, status, retryable: true })
  }
  const hint = HINTS.get(code)?.(credential) ?? `check roleArn and stsEndpoint of "${id}", and the login of "${login}"`
  const message = `the token service of "${id}" refused the token of "${login}" with ${answer}`
  return new CredentialError('AUTH_REJECTED', message, { credential: id, url, status, hint })
}

import { Secret } from '../../auth/credential.ts'
import { refusedCall } from '../../auth/strategy.ts'
import { type AuthError, CredentialError, isAuthError, NetworkError, ProtocolError, SelectionError, TrustError } from '../../errors.ts'
import { type HttpRequest, type HttpResponse, isRedirect, parsedJson } from '../../http/message.ts'
import { elementContent, elementText, errorDocument } from '../../http/xml-text.ts'
import type { S3Keys } from '../../platform/platform.ts'
import { reveal } from '../credential-values.ts'
import { livingIdToken } from '../stored-token.ts'
import { ID_PLACE, type S3Credential } from './endpoint.ts'
import { KEY_FIELDS, keysIn, type S3Context } from './keys.ts'

/** Keys from a service chosen by the user, such as `/s3credentials` of NASA's archives, and their release. */

/** Keys have a few kilobytes; session tokens of large roles most of them. */
const MAX_ANSWER = 64 * 1024

/**
 * Returns the keys from the service. Errors: `AUTH_REJECTED`, `HTTP_<status>`, `REDIRECT_CROSS_ORIGIN`, `RESPONSE_FIELD_MISSING`,
 * `RESPONSE_TOO_LARGE`, those of the credential that authorizes the call and of the transport. Errors never quote the response.
 */
export async function keysFromService({ credential, input, send, signal }: S3Context): Promise<S3Keys> {
  const { id, fields } = credential
  const response = await (input?.send ?? send)(await keyRequest(credential), { signal })
  await checkAnswer(response, id, 'key service')
  const { url, status } = response
  const keys = keysIn(parsedJson(await response.text(MAX_ANSWER)), fields)
  if (keys) return keys
  const places = (['accessKeyId', 'secretAccessKey'] as const).map((name) => fields?.get(name) ?? name)
  const message = `the response of the key service of "${id}" is not JSON with ${places.join(' and ')}`
  throw new SelectionError('RESPONSE_FIELD_MISSING', message, { credential: id, url, status })
}

/**
 * Deletes a pair at its service; one that is gone already is no error. Errors: `AUTH_REJECTED`, `HTTP_<status>`, those of the call and of
 * the transport, with the advice to delete the pair there.
 */
export async function releaseKeys({ accessKeyId }: S3Keys, { credential, input, send, signal }: S3Context): Promise<void> {
  const { id, releaseUrl = '', releaseMethod: method = 'DELETE' } = credential
  const url = releaseUrl.replace(ID_PLACE, () => encodeURIComponent(accessKeyId))
  try {
    const response = await (input?.send ?? send)({ method, url, headers: { accept: 'application/json' } }, signal ? { signal } : {})
    if (response.status !== 404 && response.status !== 410) await checkAnswer(response, id, 'key service')
    await response.discard()
  } catch (error) {
    if (!isAuthError(error)) throw error
    const Family = error.constructor as typeof CredentialError
    const hint = `delete it there yourself: its access key id ends with ${accessKeyId.slice(-4)}`
    const message = `the keys of "${id}" were forgotten here but not deleted at their service: ${error.message}`
    throw new Family(error.code, message, { credential: id, url: releaseUrl, ...(error.status && { status: error.status }), hint })
  }
}

async function keyRequest(credential: S3Credential): Promise<HttpRequest> {
  const { credentialsUrl: url = '', method = credential.body ? 'POST' : 'GET', body, bodyType = 'json' } = credential
  const headers = { accept: 'application/json' }
  if (!body) return { method, url, headers }
  const members = await Promise.all([...body].map(async ([name, value]) => [name, await memberValue(value, name, credential)] as const))
  if (bodyType === 'form') return formRequest(method, url, members)
  return { method, url, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(Object.fromEntries(members)) }
}

async function memberValue(value: unknown, name: string, credential: S3Credential): Promise<unknown> {
  return value instanceof Secret ? reveal(value, `body/${name}`, credential) : value
}

/** Returns a request with these members as a form (WHATWG URL §5.2); values that are no text are written as JSON. */
function formRequest(
  method: string,
  url: string,
  members: readonly (readonly [string, unknown])[],
  accept = 'application/json',
): HttpRequest {
  const form = members.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])
  const headers = { accept, 'content-type': 'application/x-www-form-urlencoded' }
  return { method, url, headers, body: new URLSearchParams(form).toString() }
}

/** Errors: `REDIRECT_CROSS_ORIGIN`, `AUTH_REJECTED`, `HTTP_<status>`; the response is discarded then. */
async function checkAnswer(response: HttpResponse, id: string, service: string): Promise<void> {
  const { status } = response
  if (status >= 200 && status <= 299) return
  await response.discard()
  throw isRedirect(status) ? redirected(response, id, service) : refusedCall(service, `calls of the ${service}`, response, id)
}

/** Returns the error for a redirect: services with a login page redirect there when they refuse a token. */
function redirected({ url, status }: Pick<HttpResponse, 'url' | 'status'>, id: string, service: string): TrustError {
  const message = `the ${service} of "${id}" sent a redirect instead of keys. It was not followed`
  const hint = 'services often redirect to a login page when they refuse a token: check the credential named in "with", then the URL'
  return new TrustError('REDIRECT_CROSS_ORIGIN', message, { credential: id, url, status, hint })
}

/** Temporary keys for the token of a login: `AssumeRoleWithWebIdentity` (AWS STS API 2011-06-15; Ceph and MinIO have it too). */

/** Name of the session in logs of the service, unless the credential has another. */
const SESSION_NAME = 'stac-auth'

/**
 * Returns keys for the token of the login in `with`. Errors: `LOGIN_REQUIRED`, `CONFIG_INVALID` for a login without the token needed,
 * `AUTH_REJECTED`, `HTTP_<status>`, `REDIRECT_CROSS_ORIGIN`, `RESPONSE_INVALID`, `RESPONSE_TOO_LARGE`, those of the login and of the
 * transport. Of an error document only its code is shown.
 */
export async function keysForToken({ credential, send, signal }: S3Context, token: string): Promise<S3Keys> {
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
  const token = await input?.token(stsEndpoint)
  const wanted = webIdentityToken ?? (token?.idToken === undefined ? 'access_token' : 'id_token')
  // Only the user knows the kind of a finished token.
  if (wanted === 'access_token' || input?.type === 'http') return token?.value ?? ''
  return livingIdToken(token, login, id, clock.now())
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

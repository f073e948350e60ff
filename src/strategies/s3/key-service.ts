/** Keys from a service chosen by the user, such as `/s3credentials` of NASA's archives, and their release. */
import { Secret } from '../../auth/credential.ts'
import { refusedCall } from '../../auth/strategy.ts'
import { type CredentialError, isAuthError, SelectionError, TrustError } from '../../errors.ts'
import { type HttpRequest, type HttpResponse, isRedirect } from '../../http/message.ts'
import type { S3Keys } from '../../platform/platform.ts'
import { reveal } from '../reveal.ts'
import { ID_PLACE, type S3Credential } from './access.ts'
import { keysIn } from './key-answer.ts'
import type { S3Context } from './keys.ts'

/** Keys have a few kilobytes. */
const MAX_ANSWER = 64 * 1024

/**
 * Returns the keys from the service. Errors: `AUTH_REJECTED`, `HTTP_<status>`, `REDIRECT_CROSS_ORIGIN`, `RESPONSE_FIELD_MISSING`,
 * `RESPONSE_TOO_LARGE`, those of the credential that authorizes the call and of the transport. Errors never quote the response.
 */
export async function keysFromService(context: S3Context, signal: AbortSignal): Promise<S3Keys> {
  const { credential, input, send } = context
  const { id, fields } = credential
  const response = await (input?.send ?? send)(await keyRequest(credential), { signal })
  await checkAnswer(response, id, 'key service')
  const { url, status } = response
  const keys = keysIn(parsed(await response.text(MAX_ANSWER)), fields)
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
export function formRequest(
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
export function redirected({ url, status }: Pick<HttpResponse, 'url' | 'status'>, id: string, service: string): TrustError {
  const message = `the ${service} of "${id}" sent a redirect instead of keys. It was not followed`
  const hint = 'services often redirect to a login page when they refuse a token: check the credential named in "with", then the URL'
  return new TrustError('REDIRECT_CROSS_ORIGIN', message, { credential: id, url, status, hint })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Temporary keys from a service chosen by the user, such as `/s3credentials` of NASA's archives. */
import { refusedCall } from '../../auth/strategy.ts'
import { SelectionError, TrustError } from '../../errors.ts'
import { momentOf } from '../../http/headers.ts'
import { type HttpResponse, isRedirect, type Send } from '../../http/message.ts'
import type { S3Keys } from '../../platform/platform.ts'
import { isObject, own } from '../../stac/document.ts'

/** Keys have a few kilobytes. */
const MAX_ANSWER = 64 * 1024

/** The service and the credential that authorizes calls. */
export interface KeyService {
  /** Id of the credential, for errors. */
  readonly id: string
  readonly url: string
  /** Sends as the credential that authorizes the call; follows no redirects. */
  readonly send: Send
  readonly signal?: AbortSignal
}

/**
 * Returns the keys from the service. Errors: `AUTH_REJECTED`, `HTTP_<status>`, `REDIRECT_CROSS_ORIGIN`, `RESPONSE_FIELD_MISSING`,
 * `RESPONSE_TOO_LARGE`, those of the credential that authorizes the call and of the transport. Errors never quote the response.
 */
export async function keysFromService({ id, url, send, signal }: KeyService): Promise<S3Keys> {
  const response = await send({ method: 'GET', url, headers: { accept: 'application/json' } }, signal ? { signal } : {})
  const { status } = response
  if (isRedirect(status)) {
    await response.discard()
    throw redirects(response, id)
  }
  if (status < 200 || status > 299) {
    await response.discard()
    throw refusedCall('key service', 'calls of the key service', response, id)
  }
  const keys = keysIn(parsed(await response.text(MAX_ANSWER)))
  if (keys) return keys
  const message = `the response of the key service of "${id}" is not JSON with accessKeyId and secretAccessKey`
  throw new SelectionError('RESPONSE_FIELD_MISSING', message, { credential: id, url, status })
}

/** Returns the error for a redirect: services with a login page redirect there when they refuse a token. */
function redirects({ url, status }: HttpResponse, id: string): TrustError {
  const message = `the key service of "${id}" sent a redirect instead of keys. It was not followed`
  const hint = 'services often redirect to a login page when they refuse a token: check the credential named in "with", then credentialsUrl'
  return new TrustError('REDIRECT_CROSS_ORIGIN', message, { credential: id, url, status, hint })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Names of each value, lower-case initials first (key services), then as AWS writes them. */
const NAMES = {
  accessKeyId: ['accessKeyId', 'AccessKeyId'],
  secretAccessKey: ['secretAccessKey', 'SecretAccessKey'],
  sessionToken: ['sessionToken', 'SessionToken', 'Token'],
  expiration: ['expiration', 'Expiration'],
}

/** Allowed in a header: longer values or other characters are not keys. */
const WORD = /^[!-~]{1,16384}$/

/** Returns the keys; undefined when the response has no usable ones. A malformed expiry counts as absent. */
export function keysIn(answer: unknown): S3Keys | undefined {
  if (!isObject(answer)) return undefined
  const named = (field: keyof typeof NAMES) => NAMES[field].map((name) => own(answer, name)).find((value) => value != null)
  const accessKeyId = named('accessKeyId')
  const secretAccessKey = named('secretAccessKey')
  const sessionToken = named('sessionToken') ?? ''
  if (!isWord(accessKeyId) || !isWord(secretAccessKey) || (sessionToken !== '' && !isWord(sessionToken))) return undefined
  const expiration = momentOf(named('expiration'))
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== '' && { sessionToken }),
    ...(expiration !== undefined && { expiration }),
  }
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && WORD.test(value)
}

/** Temporary keys from a service of the user's choice, such as the `/s3credentials` of NASA's archives. */
import { refusedCall } from '../../auth/refused-call.ts'
import { SelectionError, TrustError } from '../../errors.ts'
import { momentOf } from '../../http/headers.ts'
import type { HttpResponse, Send } from '../../http/message.ts'
import { isRedirect } from '../../http/redirect.ts'
import type { S3Keys } from '../../platform/platform.ts'
import { isObject, own } from '../../stac/json.ts'

/** Keys take a few kilobytes. */
const MAX_ANSWER = 64 * 1024

/** Whom to ask, and as what. */
export interface KeyService {
  /** Id of the entry, for errors. */
  readonly id: string
  readonly url: string
  /** Sends as the entry that authorizes the call; follows nothing. */
  readonly send: Send
  readonly signal?: AbortSignal
}

/**
 * The keys that the service gives. Errors: `AUTH_REJECTED`, `HTTP_<status>`, `REDIRECT_CROSS_ORIGIN`, `RESPONSE_FIELD_MISSING`,
 * `RESPONSE_TOO_LARGE`, those of the entry that authorizes the call and of the transport. Nothing of the answer is quoted.
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
  const message = `the answer of the key service of "${id}" is no JSON with accessKeyId and secretAccessKey`
  throw new SelectionError('RESPONSE_FIELD_MISSING', message, { credential: id, url, status })
}

/** Services with a login for people send everyone there whose token they do not know. */
function redirects({ url, status }: HttpResponse, id: string): TrustError {
  const message = `the key service of "${id}" redirects instead of giving keys; the redirect was not followed`
  const hint = 'many lead to a login page when they do not accept the token: check the entry named in "with", then credentialsUrl'
  return new TrustError('REDIRECT_CROSS_ORIGIN', message, { credential: id, url, status, hint })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What each value is called, lower-case initials first (key services), then as AWS writes them. */
const NAMES = {
  accessKeyId: ['accessKeyId', 'AccessKeyId'],
  secretAccessKey: ['secretAccessKey', 'SecretAccessKey'],
  sessionToken: ['sessionToken', 'SessionToken', 'Token'],
  expiration: ['expiration', 'Expiration'],
}

/** What can stand in a header: longer values or other characters are no keys. */
const WORD = /^[!-~]{1,16384}$/

/** The keys; undefined when the answer has none that can be used. An end that cannot be read counts as none. */
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

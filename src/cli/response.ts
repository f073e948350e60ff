/** What answers mean to the command line. */
import { AbortedError, type AuthError, CredentialError, isAuthError, NetworkError } from '../errors.ts'
import { parseChallenges } from '../http/challenge.ts'
import { readBody, utf8 } from '../http/read-body.ts'
import type { Target } from '../stac/target.ts'

/** Bytes; error documents of object stores are shorter. */
const MAX_ERROR = 65_536

/**
 * Passes a 2xx answer. Errors: `AUTH_REJECTED` for 401 and 403 to a request that nothing was sent with, `HTTP_<status>`; of the
 * body only the code of an object store's error is read.
 *
 * @param url address that answered
 * @param target what the request was for, if it was not an address of the user's
 */
export async function requireSuccess(response: Response, url: string, target?: Target): Promise<void> {
  if (response.ok) return
  const code = await storeCode(response)
  const { status } = response
  if (status === 401 || status === 403) throw uncovered(response, url, target)
  const message = `${bareAddress(url)}: the server answered ${status}${code && ` ${code}`}`
  throw new NetworkError(`HTTP_${status}`, message, { status, url, retryable: status === 429 || status >= 500 })
}

/** The code in an error document of an object store, or nothing; the rest of the body is thrown away. */
async function storeCode({ headers, body }: Response): Promise<string> {
  if (!body) return ''
  try {
    if (!/^(?:application|text)\/xml\b/.test(headers.get('content-type') ?? '')) return ''
    const { errorCode } = await import('../objects/error-code.ts')
    const text = utf8(await readBody(body as unknown as AsyncIterable<Uint8Array>, MAX_ERROR, ''))
    return errorCode(text)
  } catch {
    return ''
  } finally {
    await body.cancel().catch(() => undefined)
  }
}

/** What a failure while reading a body is: an interruption, a body that ended too early, or what the transport says. */
export function failedBody(error: unknown, url: string, signal: AbortSignal): AuthError {
  if (signal.aborted) return new AbortedError(signal.reason)
  if (isAuthError(error) && !error.code.startsWith('NETWORK_')) return error
  return incomplete(url, 'the connection ended before the whole body was received')
}

/** `FILE_INCOMPLETE`, with what happened. */
export function incomplete(url: string, problem: string): NetworkError {
  return new NetworkError('FILE_INCOMPLETE', `${bareAddress(url)}: ${problem}`, { url, retryable: true })
}

/** An entry that was sent and refused has its own error by now; this is about a request that carried none. */
function uncovered({ status, headers }: Response, url: string, target: Target | undefined): CredentialError {
  const { origin } = new URL(url)
  const schemes = offeredSchemes(headers.get('www-authenticate') ?? '')
  const asks = status === 403 ? 'refuses access (403)' : `asks for authentication (${schemes.join(', ') || '401'})`
  const unasked = target?.refs.length === 0
  const why = unasked ? 'the document names no scheme for it (auth:refs)' : 'no entry of yours covers it'
  return new CredentialError('AUTH_REJECTED', `${origin} ${asks} and ${why}: ${bareAddress(url)}`, {
    status,
    url,
    hint: unasked
      ? `stac-auth fetch ${bareAddress(url)} uses the entry whose sendTo covers that address`
      : `if you trust ${origin}, add an entry to the credential file, such as ${entryFor(schemes, origin)}`,
  })
}

/** The scheme names of challenges (RFC 9110 §11.6.1); their parameters are the server's own text and stay out. */
function offeredSchemes(field: string): string[] {
  const names = parseChallenges(field).challenges.map(({ scheme }) => scheme)
  return [...new Set(names)].filter((name) => name.length <= 32).slice(0, 5)
}

function entryFor(schemes: readonly string[], origin: string): string {
  const id = new URL(origin).hostname.replace(/[^A-Za-z0-9._-]+/g, '-')
  const isBasic = schemes[0]?.toLowerCase() === 'basic'
  const secret = isBasic ? { scheme: 'basic', username: '…', password: { env: 'PASSWORD' } } : { scheme: 'bearer', token: { env: 'TOKEN' } }
  return JSON.stringify({ id, type: 'http', ...secret, sendTo: [`${origin}/`] })
}

/** Origin and path: queries carry signatures and keys. */
function bareAddress(url: string): string {
  const { origin, pathname, protocol, host } = new URL(url)
  return (protocol === 's3:' ? `s3://${host}` : origin) + pathname
}

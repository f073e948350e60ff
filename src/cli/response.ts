/** What answers mean to the command line. */
import { AbortedError, type AuthError, CredentialError, isAuthError, NetworkError } from '../errors.ts'

/** Passes a 2xx answer. Errors: `AUTH_REJECTED` for 401 and 403, `HTTP_<status>`; the body is thrown away unread. */
export async function requireSuccess(response: Response): Promise<void> {
  if (response.ok) return
  await response.body?.cancel().catch(() => undefined)
  const { status, url } = response
  if (status === 401 || status === 403) {
    throw new CredentialError('AUTH_REJECTED', `the server answered ${status}: it does not accept what was sent`, { status, url })
  }
  throw new NetworkError(`HTTP_${status}`, `the server answered ${status}`, { status, url, retryable: status === 429 || status >= 500 })
}

/** What a failure while reading a body is: an interruption, a body that ended too early, or what the transport says. */
export function failedBody(error: unknown, url: string, signal: AbortSignal): AuthError {
  if (signal.aborted) return new AbortedError(signal.reason)
  if (isAuthError(error) && !error.code.startsWith('NETWORK_')) return error
  return new NetworkError('FILE_INCOMPLETE', 'the connection ended before the whole body was received', { url, retryable: true })
}

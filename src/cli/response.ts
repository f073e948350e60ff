/** What answers mean to the command line. */
import { AbortedError, type AuthError, isAuthError, NetworkError } from '../errors.ts'
import { answerFailure, bareAddress } from '../node/answer-failure.ts'
import type { Target } from '../stac/target.ts'

/**
 * Passes a 2xx answer; the body of any other one is thrown away. Errors: those of {@link answerFailure}.
 *
 * @param url address that answered
 * @param target what the request was for, if it was not an address of the user's
 */
export async function requireSuccess({ ok, status, headers, body }: Response, url: string, target?: Target): Promise<void> {
  if (ok) return
  try {
    throw await answerFailure({ status, url, headers, body: body as AsyncIterable<Uint8Array> | null }, target)
  } finally {
    await body?.cancel().catch(() => undefined)
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

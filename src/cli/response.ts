/** What answers mean to the command line. */
import { AbortedError, type AuthError, isAuthError, NetworkError } from '../errors.ts'
import { answerFailure, bareAddress, type UnreadAnswer } from '../node/answer-failure.ts'
import type { Target } from '../stac/target.ts'

/**
 * Passes a 2xx answer. Errors: those of {@link answerFailure}.
 *
 * @param drop throws the body of any other one away
 * @param target what the request was for, if it was not an address of the user's
 */
export async function requireSuccess(answer: UnreadAnswer, drop: () => unknown, target?: Target): Promise<void> {
  if (answer.status >= 200 && answer.status < 300) return
  try {
    throw await answerFailure(answer, target)
  } finally {
    await drop()
  }
}

/** What a failure while reading a body is: an interruption, a body that ended too early, or what the transport says. */
export function failedBody(error: unknown, url: string, signal: AbortSignal): AuthError {
  if (signal.aborted) return new AbortedError(signal.reason)
  if (isAuthError(error) && !/^(?:NETWORK_\w+|RESPONSE_TRUNCATED)$/.test(error.code)) return error
  return incomplete(url, 'the connection ended before the whole body was received')
}

/** `FILE_INCOMPLETE`, with what happened. */
export function incomplete(url: string, problem: string): NetworkError {
  return new NetworkError('FILE_INCOMPLETE', `${bareAddress(url)}: ${problem}`, { url, retryable: true })
}

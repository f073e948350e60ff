import { type AuthError, CredentialError, NetworkError } from '../errors.ts'
import type { HttpResponse } from '../http/message.ts'

/**
 * The error for an endpoint of an entry that did not do what it was asked for. `AUTH_REJECTED` for 401 and 403, else
 * `HTTP_<status>`, retryable where the trouble may pass.
 *
 * @param service what the endpoint is, for people
 * @param calls what is asked of it, for people
 */
export function refusedCall(service: string, calls: string, { status, url }: HttpResponse, credential: string): AuthError {
  if (status === 401 || status === 403) {
    return new CredentialError('AUTH_REJECTED', `the ${service} refused "${credential}" with ${status}`, {
      credential,
      url,
      status,
      hint: `name the entry that authorizes ${calls} in "with", and check its value`,
    })
  }
  const fields = { credential, url, status, retryable: status >= 500 || status === 429 }
  return new NetworkError(`HTTP_${status}`, `the ${service} of "${credential}" answered with status ${status}`, fields)
}

import { type AuthError, CredentialError, NetworkError } from '../errors.ts'
import type { HttpResponse } from '../http/message.ts'

/**
 * Returns the error for a failed request to an endpoint of a credential: `AUTH_REJECTED` for 401 and 403, otherwise
 * `HTTP_<status>`, retryable for temporary failures.
 *
 * @param service name of the endpoint in messages
 * @param calls name of the requests in messages
 */
export function refusedCall(service: string, calls: string, { status, url }: HttpResponse, credential: string): AuthError {
  if (status === 401 || status === 403) {
    return new CredentialError('AUTH_REJECTED', `the ${service} refused "${credential}" with ${status}`, {
      credential,
      url,
      status,
      hint: `name the credential that authorizes ${calls} in "with", and check its value`,
    })
  }
  const fields = { credential, url, status, retryable: status >= 500 || status === 429 }
  return new NetworkError(`HTTP_${status}`, `the ${service} of "${credential}" failed with status ${status}`, fields)
}

import { type AuthError, CredentialError, NetworkError } from '../errors.ts'
import { errorCode } from './error-code.ts'

/** `AUTH_REJECTED` for a list that is not for everybody, else `HTTP_<status>`; with the code of the service when it gives one. */
export function listRefusal(status: number, body: string, url: string): AuthError {
  const { host } = new URL(url)
  const code = errorCode(body)
  const what = `${status}${code && ` ${code}`}`
  if (status !== 401 && status !== 403) {
    const retryable = status === 429 || status >= 500
    return new NetworkError(`HTTP_${status}`, `${host} answered ${what} instead of a list`, { url, status, retryable })
  }
  return new CredentialError('AUTH_REJECTED', `${host} lists this folder for nobody without keys: ${what}`, {
    url,
    status,
    hint: 'add an s3 entry for it to the credential file',
  })
}

import { CredentialError } from '../errors.ts'
import type { HttpResponse } from '../http/message.ts'

/** The words of RFC 6750 §3.1, RFC 9449 §7.1 and RFC 9470 §3; any other text of a server may repeat what it was sent. */
const ERROR =
  /\berror="?(invalid_request|invalid_token|insufficient_scope|invalid_dpop_proof|use_dpop_nonce|insufficient_user_authentication)\b/

/**
 * `AUTH_REJECTED`: the server got the material and said no. It may be asked again where the material was good when the call began
 * and has `ended` since, as happens to tokens of a few seconds.
 */
export function rejected({ status, url, headers }: HttpResponse, credential: string, hop: number, ended: boolean): CredentialError {
  const { origin } = new URL(url)
  const error = ERROR.exec(headers.get('www-authenticate') ?? '')?.[1]
  return new CredentialError('AUTH_REJECTED', `${origin} refused "${credential}" with ${status}${error ? ` (${error})` : ''}`, {
    credential,
    url,
    hop,
    status,
    retryable: ended,
    hint:
      status === 403
        ? 'the account may lack the right, or must accept terms first'
        : 'check the value of the credential and whether it has expired',
  })
}

import type { AuthorizedRequest } from '../auth/auth.ts'
import { forJson } from '../text/sanitize.ts'
import { notExpressible } from './not-expressible.ts'
import { HIDDEN, isRedacted, type OutputOptions, secretText } from './redact.ts'

/**
 * Returns the keys of an `s3` request as `credential_process` of the AWS SDKs and CLI reads them. They are valid for the whole account of
 * the keys, not only for the object. Errors: `OUTPUT_UNSUPPORTED` for a request without keys.
 *
 * @example console.log(aws(await auth.authorize(assetOf(item, 'B04'), { keys: true }), { reveal: true }))
 */
export function aws(request: AuthorizedRequest, options?: OutputOptions): string {
  const { keys } = request
  if (!keys)
    throw notExpressible(request, 'credential_process is for the keys of an s3 scheme, and this request has none', 'use --as curl or url')
  const { accessKeyId, secretAccessKey, sessionToken, expiresAt } = keys
  const text = forJson(
    {
      Version: 1,
      AccessKeyId: secretText(accessKeyId, options),
      SecretAccessKey: secretText(secretAccessKey, options),
      ...(sessionToken && { SessionToken: secretText(sessionToken, options) }),
      ...(expiresAt !== undefined && { Expiration: expiresAt }),
    },
    2,
  )
  return isRedacted(request, options) ? `${HIDDEN}\n${text}` : text
}

import { serviceOf } from '../../stac/object-address.ts'
import type { Target } from '../../stac/target.ts'
import { type S3Credential, storagesFor } from './access.ts'
import { type Place, sameService } from './endpoint.ts'
import type { Refusal } from './refusal.ts'

/**
 * What to do where the document says that readers pay and access was denied; undefined when that is not why. Of two places of
 * a file one may be free: what is said about the service that refused counts, if anything is.
 */
export function payHint(
  { code = 'AccessDenied' }: Refusal,
  { endpoint }: Place,
  credential: S3Credential,
  target: Target | undefined,
): string | undefined {
  if (code !== 'AccessDenied' || credential.requesterPays) return undefined
  const storages = storagesFor(target)
  const here = storages.filter((storage) => sameService(serviceOf(storage, credential).endpoint ?? '', endpoint))
  if (!(here.length > 0 ? here : storages).some(({ requesterPays }) => requesterPays)) return undefined
  return `the readers of this bucket pay: set "requesterPays": true in entry "${credential.id}" if you agree to`
}

import type { AuthorizedRequest } from '../auth/auth.ts'
import { type OutputOptions, shown } from './redact.ts'

/**
 * Returns the URL alone; its query values are hidden when it carries a secret, unless `reveal` is set.
 *
 * @example console.log(url(request))
 */
export function url(request: AuthorizedRequest, options?: OutputOptions): string {
  return shown(request, options).url
}

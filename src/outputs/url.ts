import type { AuthorizedRequest } from '../auth/auth.ts'
import { type OutputOptions, shown } from './redact.ts'

/** The URL alone; query values are hidden when the URL carries a secret, unless `reveal`. */
export function url(request: AuthorizedRequest, options?: OutputOptions): string {
  return shown(request, options).url
}

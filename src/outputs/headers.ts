import type { AuthorizedRequest } from '../auth/auth.ts'
import { type OutputOptions, shown } from './redact.ts'

/**
 * Returns the headers as `name: value` lines, with names as in the request; an empty string when there are none.
 *
 * @example console.log(headers(request))
 */
export function headers(request: AuthorizedRequest, options?: OutputOptions): string {
  return shown(request, options)
    .headers.map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

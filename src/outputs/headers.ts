import type { AuthorizedRequest } from '../auth/auth.ts'
import { type OutputOptions, shown } from './redact.ts'

/** The headers as `name: value` lines, names as in the request; empty text when it has none. */
export function headers(request: AuthorizedRequest, options?: OutputOptions): string {
  return shown(request, options)
    .headers.map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

import type { AuthorizedRequest } from '../auth/auth.ts'
import { forJson } from '../text/sanitize.ts'

const FIELDS = ['method', 'url', 'headers', 'ref', 'scheme', 'credential', 'expiresAt', 'pointer'] as const

/**
 * Returns the request as one JSON object for programs. It is **not redacted**: the headers or the URL contain the secret.
 *
 * @example const { method, expiresAt } = JSON.parse(json(request))
 */
export function json(request: AuthorizedRequest): string {
  return forJson(Object.fromEntries(FIELDS.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]]))), 2)
}

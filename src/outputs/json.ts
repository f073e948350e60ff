import type { AuthorizedRequest } from '../auth/auth.ts'
import { forJson } from '../text/sanitize.ts'

const FIELDS = ['method', 'url', 'headers', 'ref', 'scheme', 'credential', 'expiresAt', 'pointer'] as const

/** The request for programs, as one JSON object. It is **not redacted**: the headers or the URL hold the secret. */
export function json(request: AuthorizedRequest): string {
  return forJson(Object.fromEntries(FIELDS.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]]))), 2)
}

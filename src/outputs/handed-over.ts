import type { AuthorizedRequest } from '../auth/auth.ts'
import { UnsupportedError } from '../errors.ts'

/**
 * Returns the headers for a program that sends the request itself and follows redirects. Errors: `SCHEME_UNSUPPORTED` when the program
 * would send a secret header on to another origin.
 */
export function handedOver(request: AuthorizedRequest): Readonly<Record<string, string>> {
  const [carried] = carriedHeaders(request)
  if (carried === undefined) return request.headers
  const { credential, pointer, url } = request
  throw new UnsupportedError(
    'SCHEME_UNSUPPORTED',
    `the header "${carried}" would be sent on to other hosts after redirects, so it is not returned`,
    {
      ...(credential !== undefined && { credential }),
      ...(pointer !== undefined && { pointer }),
      url,
      hint: 'send this request with fetch, which removes it on redirects',
    },
  )
}

/** Headers that `fetch`, curl and GDAL drop on redirects to another origin. */
const DROPPED = new Set(['authorization', 'cookie'])

/** Returns the secret headers that a client which follows redirects would send on to another origin. */
export function carriedHeaders({ secretIn }: AuthorizedRequest): readonly string[] {
  return secretIn.headers.filter((name) => !DROPPED.has(name.toLowerCase()))
}

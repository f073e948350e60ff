import type { AuthorizedRequest } from '../auth/auth.ts'
import { UnsupportedError } from '../errors.ts'

/**
 * Returns the headers for a program that sends the request itself and follows redirects.
 *
 * Errors: `SCHEME_UNSUPPORTED` when the program would forward a secret header to another origin.
 */
export function handedOver(request: AuthorizedRequest): Readonly<Record<string, string>> {
  const [carried] = carriedHeaders(request)
  if (carried === undefined) return request.headers
  const { credential, pointer, url } = request
  throw new UnsupportedError(
    'SCHEME_UNSUPPORTED',
    `the header "${carried}" is not returned: programs that follow redirects would send it to other hosts`,
    {
      ...(credential !== undefined && { credential }),
      ...(pointer !== undefined && { pointer }),
      url,
      hint: 'send this request with fetch, which removes it on redirects',
    },
  )
}

/** Headers that `fetch`, curl, GDAL and requests drop on redirects to another origin. */
const DROPPED: readonly string[] = ['authorization', 'cookie']

/** Returns the secret headers that a client which follows redirects would forward to another origin, except those that it drops. */
export function carriedHeaders({ secretIn }: AuthorizedRequest, dropped = DROPPED): readonly string[] {
  return secretIn.headers.filter((name) => !dropped.includes(name.toLowerCase()))
}

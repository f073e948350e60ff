import type { AuthorizedRequest } from '../auth/auth.ts'
import { UnsupportedError } from '../errors.ts'

/**
 * The headers for a program that sends by itself and follows redirects. Errors: `SCHEME_UNSUPPORTED` where one of them holds material that
 * the program would carry on to another origin.
 */
export function handedOver(request: AuthorizedRequest): Readonly<Record<string, string>> {
  const [carried] = carriedHeaders(request)
  if (carried === undefined) return request.headers
  const { credential, pointer, url } = request
  throw new UnsupportedError(
    'SCHEME_UNSUPPORTED',
    `the header "${carried}" would go along through redirects to other hosts; it is not handed out`,
    {
      ...(credential !== undefined && { credential }),
      ...(pointer !== undefined && { pointer }),
      url,
      hint: 'send this request with fetch, which takes it away there',
    },
  )
}

/** Fields that `fetch`, curl and GDAL drop by themselves on the way to another origin. */
const DROPPED = new Set(['authorization', 'cookie'])

/** Names of the headers with credentials that a client which follows redirects would carry on to another origin. */
export function carriedHeaders({ material }: AuthorizedRequest): readonly string[] {
  return material.headers.filter((name) => !DROPPED.has(name.toLowerCase()))
}

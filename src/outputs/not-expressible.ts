import type { AuthorizedRequest } from '../auth/auth.ts'
import { UnsupportedError } from '../errors.ts'
import { forLine } from '../text/sanitize.ts'

/** Returns the error for a request that an output cannot express; `instead` says which output can. */
export function notExpressible({ credential, pointer, url }: AuthorizedRequest, why: string, instead: string): UnsupportedError {
  return new UnsupportedError('OUTPUT_UNSUPPORTED', why, {
    ...(credential !== undefined && { credential }),
    ...(pointer !== undefined && { pointer }),
    url,
    hint: instead,
  })
}

/** Refuses requests that a program for http: and https: URLs cannot send. Errors: `OUTPUT_UNSUPPORTED`. */
export function requireWebGet(request: AuthorizedRequest, program: string): void {
  requireWeb(request, program)
  const { method, body } = request
  if (method === 'GET' && body === undefined) return
  throw notExpressible(request, `${program} sends GET only, and this is a ${method} request`, 'use --as curl or --as python')
}

/** Refuses URLs of object stores. Errors: `OUTPUT_UNSUPPORTED`. */
export function requireWeb(request: AuthorizedRequest, program: string): void {
  if (/^https?:/i.test(request.url)) return
  throw notExpressible(request, `${program} cannot request the URL of an object store`, 'use --as gdal, fsspec or rclone')
}

/** Returns a decoded name. Errors: `OUTPUT_UNSUPPORTED` for control characters, which are written escaped and so would name another file. */
export function requirePlain(request: AuthorizedRequest, name: string, program: string): string {
  if (forLine(name) === name) return name
  throw notExpressible(
    request,
    `the name of the file has a control character, which cannot be written for ${program}`,
    'use --as curl or url',
  )
}

/** Refuses the URL of an object with a query, such as `versionId`: a program that gets bucket and key requests another version. */
export function requireNoQuery(request: AuthorizedRequest, program: string): void {
  if (!request.url.includes('?')) return
  throw notExpressible(request, `${program} requests an object without the query of its URL`, 'use --as curl or url')
}

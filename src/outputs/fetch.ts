import type { AuthorizedRequest } from '../auth/auth.ts'
import { carriedHeaders } from './handed-over.ts'

/**
 * The arguments for any standard `fetch`. It must not carry a secret on to another origin, so redirects are an error
 * where a header holds some that `fetch` would not drop by itself, and the URL is never told as referrer.
 *
 * @example const response = await fetch(...fetchArguments(await auth.authorize(target)))
 */
export function fetchArguments(request: AuthorizedRequest): [url: string, init: RequestInit] {
  const { method, url, headers, body } = request
  const carried = carriedHeaders(request).length > 0
  const init: RequestInit = { method, headers: { ...headers }, redirect: carried ? 'error' : 'follow', referrerPolicy: 'no-referrer' }
  if (body !== undefined) init.body = typeof body === 'string' ? body : Uint8Array.from(body)
  return [url, init]
}

/** A standard `Request`, which can be sent once. */
export function requestOf(request: AuthorizedRequest): Request {
  return new Request(...fetchArguments(request))
}

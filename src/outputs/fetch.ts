import type { AuthorizedRequest } from '../auth/auth.ts'
import { carriedHeaders } from './handed-over.ts'

/**
 * Returns the arguments for any standard `fetch`. Redirects are an error where `fetch` would forward a secret header to another origin,
 * and the URL is never sent as a referrer.
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

/**
 * Returns a standard `Request`, which can be sent once.
 *
 * @example const response = await fetch(requestOf(await auth.authorize(target)))
 */
export function requestOf(request: AuthorizedRequest): Request {
  return new Request(...fetchArguments(request))
}

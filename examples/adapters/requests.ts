import type { Auth } from 'stac-auth'
import { type Given, requestsFor } from 'stac-auth/adapters/requests'

/** For a library that takes a URL and a `fetch`. */
export function urlAndFetch(auth: Auth, given: Given) {
  const { url, fetch } = requestsFor(auth, given)
  return [url, { fetch }] as const
}

/** For a library that must know the headers at once; undefined before `await auth.ready()`. */
export function headersAtOnce(auth: Auth, given: Given) {
  return requestsFor(auth, given).peek()
}

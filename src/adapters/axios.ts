/** An interceptor with which stac-auth sends the requests of axios. */
import type { Auth } from '../auth/auth.ts'
import { isAuthError } from '../errors.ts'
import { type Given, type GivenOptions, requestsFor } from './requests.ts'

/** The parts of an axios request configuration that are used here. */
interface Config {
  adapter?: unknown
  env?: object
}

/**
 * Returns a request interceptor for axios (1.12 or newer). stac-auth sends the request, with the credential whose `sendTo` contains its
 * URL, or by what is given: by the references of a target, Asset or Link for URLs below it. The configuration, which may appear in errors
 * and logs, contains no secret, and axios does not send one through redirects. Errors of stac-auth are thrown as `AxiosError` with the same
 * `code`.
 *
 * @example client.interceptors.request.use(authorizeWith(auth))
 */
export function authorizeWith(auth: Auth, given?: Given, options?: GivenOptions): <Request extends object>(config: Request) => Request {
  const send: typeof globalThis.fetch =
    given === undefined
      ? (input, init) => auth.fetch(input, { anonymous: options?.anonymous, ...init })
      : requestsFor(auth, given, options).fetch
  const fetch: typeof globalThis.fetch = (input, init) => send(withoutName(input), init).catch(rethrow)
  return <Request extends Config>(config: Request) => ({ ...config, adapter: 'fetch', env: { ...config.env, fetch } })
}

/**
 * Rejects with the reason of a call that axios aborted, as `fetch` does: axios adds the error as `cause` to that reason, so an error that
 * has the reason as its own `cause` would make a loop.
 */
function rethrow(error: unknown): never {
  throw isAuthError(error) && error.code === 'ABORTED' && Object(error.cause).isAxiosError ? error.cause : error
}

/** Removes the `User-Agent` that axios adds: Firefox and Safari send it and require a CORS preflight for it, which few archives allow. */
function withoutName(input: RequestInfo | URL): RequestInfo | URL {
  if (input instanceof Request && input.headers.get('user-agent')?.startsWith('axios/')) input.headers.delete('user-agent')
  return input
}

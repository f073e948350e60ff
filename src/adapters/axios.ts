/** Requests of axios that the engine makes. */
import type { Auth } from '../auth/auth.ts'
import type { Target } from '../stac/target.ts'

/** What an interceptor of axios gets and gives, as far as it matters here. */
interface Config {
  adapter?: unknown
  env?: object
}

/**
 * A request interceptor for axios (1.12 or newer): the request is sent by the engine, with the credential whose `sendTo` covers its URL, or by
 * the references of a target for URLs below it. Nothing secret is in the configuration, where errors and logs would show it,
 * and axios does not carry it through redirects. Errors of the engine come as `AxiosError` with the same `code`.
 *
 * @example client.interceptors.request.use(authorizeWith(auth))
 */
export function authorizeWith(auth: Auth, target?: Target): <Request extends object>(config: Request) => Request {
  const fetch: typeof globalThis.fetch = target ? auth.fetchFor(target) : auth.fetch
  return <Request extends Config>(config: Request) => ({ ...config, adapter: 'fetch', env: { ...config.env, fetch } })
}

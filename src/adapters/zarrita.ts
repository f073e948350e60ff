/** Zarrita stores whose requests stac-auth sends. */
import type { Auth } from '../auth/auth.ts'
import { isAuthError } from '../errors.ts'
import { type Given, type GivenOptions, requestsFor } from './requests.ts'

/** The options of zarrita's `FetchStore` that are used here. */
export interface ZarrStoreOptions {
  /** Sends the authorized requests. */
  readonly fetch: (request: Request) => Promise<Response>
}

/** Options of a Zarr store. */
export interface ZarrOptions extends GivenOptions {
  /**
   * `missing`: treats a 403 as a missing key, for buckets that allow reading but not listing. A 403 before the first successful response
   * stays an error, so that a refused credential is not mistaken for an empty store. Default: `error`.
   */
  readonly forbidden?: 'missing'
}

/**
 * Returns the arguments for zarrita's `FetchStore`. Each key is requested by what is given (a URL, a target, or an Asset or Link), if
 * `sendTo` of the credential contains its URL. URLs may be `s3:`. Errors: `TARGET_NOT_FOUND`, `URL_*`; errors of `fetch` are thrown when
 * the store is read.
 *
 * @example const store = new FetchStore(...zarrStore(auth, assetOf(item, 'zarr')))
 */
export function zarrStore(
  auth: Auth,
  given: Given | undefined,
  { forbidden, ...options }: ZarrOptions = {},
): [url: string, ZarrStoreOptions] {
  const { url, fetch } = requestsFor(auth, given, options)
  if (forbidden !== 'missing') return [url, { fetch }]
  let opened = false
  const tolerant = async (request: Request) => {
    try {
      const response = await fetch(request)
      opened ||= response.ok
      return response
    } catch (error) {
      if (opened && isAuthError(error) && error.code === 'AUTH_REJECTED' && error.status === 403) return new Response(null, { status: 404 })
      throw error
    }
  }
  return [url, { fetch: tolerant }]
}

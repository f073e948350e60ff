/** Stores of zarrita whose requests the engine makes. */
import type { Auth } from '../auth/auth.ts'
import { targetAddress } from '../auth/resource.ts'
import { isAuthError } from '../errors.ts'
import type { Target } from '../stac/target.ts'

/** What zarrita's `FetchStore` takes as options, as far as it matters here. */
export interface ZarrStoreOptions {
  readonly fetch: (request: Request) => Promise<Response>
}

export interface ZarrOptions {
  /**
   * `missing`: a 403 means that there is no such key, as on buckets that you may read and not list. The first answer must be another
   * one, so a wrong secret is still told from an empty store. Default: an error.
   */
  readonly forbidden?: 'missing'
}

/**
 * The arguments for zarrita's `FetchStore`: each key is asked for by the references of the target, judged by its own URL.
 * URLs may be `s3:`. Errors: `TARGET_NOT_FOUND`, `URL_*`; those of `fetch` come with the reading.
 *
 * @example const store = new FetchStore(...zarrStore(auth, assetOf(item, 'zarr')))
 */
export function zarrStore(auth: Auth, target: Target | undefined, { forbidden }: ZarrOptions = {}): [url: string, ZarrStoreOptions] {
  const url = targetAddress(target)
  const fetch = auth.fetchFor(target)
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

/** A client for geotiff.js whose requests the engine makes. */
import type { Auth } from '../auth/auth.ts'
import { targetAddress } from '../auth/resource.ts'
import type { Target } from '../stac/target.ts'

/** What geotiff.js's `BaseClient` promises. */
export interface TiffClient {
  readonly url: string
  request(options?: RequestInit): Promise<TiffResponse>
}

/** What geotiff.js's `BaseResponse` promises. */
export interface TiffResponse {
  readonly ok: boolean
  readonly status: number
  getHeader(name: string): string | undefined
  getData(): Promise<ArrayBuffer>
}

/**
 * A client for geotiff.js's `fromCustomClient`: each range is asked for by the references of the target.
 * Errors: `TARGET_NOT_FOUND`, `URL_*`. Those of `fetch` are told to `onError` as well, for with a
 * block size geotiff.js only says that a request failed.
 *
 * @example const image = await (await fromCustomClient(tiffClient(auth, assetOf(item, 'B04')))).getImage()
 */
export function tiffClient(auth: Auth, target: Target | undefined, onError: (error: unknown) => void = () => {}): TiffClient {
  const url = targetAddress(target)
  const fetch = auth.fetchFor(target)
  return {
    url,
    request: async ({ headers, signal } = {}) => {
      const response = await fetch(url, { headers, signal }).catch((error: unknown) => {
        onError(error)
        throw error
      })
      return {
        ok: response.ok,
        status: response.status,
        getHeader: (name) => response.headers.get(name) ?? undefined,
        getData: () => response.arrayBuffer(),
      }
    },
  }
}

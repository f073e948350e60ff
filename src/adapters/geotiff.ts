/** A geotiff.js client whose requests stac-auth sends. */
import type { Auth } from '../auth/auth.ts'
import { type Given, type GivenOptions, requestsFor } from './requests.ts'

/** The interface of `BaseClient` of geotiff.js. */
export interface TiffClient {
  /** The URL of the file. */
  readonly url: string
  /** Requests the ranges of the file that are in the headers. */
  request(options?: RequestInit): Promise<TiffResponse>
}

/** The interface of `BaseResponse` of geotiff.js. */
export interface TiffResponse {
  /** True for 200 to 299. */
  readonly ok: boolean
  /** HTTP status. */
  readonly status: number
  /** Returns a header; names in any case. */
  getHeader(name: string): string | undefined
  /** Returns the body. */
  getData(): Promise<ArrayBuffer>
}

/**
 * Returns a client for `fromCustomClient` of geotiff.js, which requests each range by what is given: a URL, a target, or an Asset or Link.
 *
 * Errors: `TARGET_NOT_FOUND`, `URL_*`. Errors of `fetch` are also passed to `onError`, because geotiff.js with a block size reports only
 * that a request failed.
 *
 * @example const image = await (await fromCustomClient(tiffClient(auth, assetOf(item, 'B04')))).getImage()
 */
export function tiffClient(
  auth: Auth,
  given: Given | undefined,
  onError: (error: unknown) => void = () => {},
  options?: GivenOptions,
): TiffClient {
  const { url, fetch } = requestsFor(auth, given, options)
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

/** Parquet files for hyparquet; stac-auth sends the requests. */
import type { Auth } from '../auth/auth.ts'
import { ProtocolError } from '../errors.ts'
import { type Given, type GivenOptions, requestsFor } from './requests.ts'

/** The argument of `asyncBufferFromUrl` of hyparquet. */
export interface ParquetFile {
  /** The URL of the file. */
  readonly url: string
  /** Size of the whole file in bytes. */
  readonly byteLength: number
  /** Sends the authorized requests. */
  readonly fetch: typeof globalThis.fetch
}

/**
 * Returns the argument for `asyncBufferFromUrl` of hyparquet, for a URL, a target, or an Asset or Link. The size is read with a request for
 * the first byte, because a URL that is signed for GET refuses HEAD.
 *
 * Errors: `TARGET_NOT_FOUND`, `URL_*`, errors of `fetch`, `RANGE_INVALID` for a response that does not state the size, `HTTP_<status>`.
 *
 * @example const rows = await parquetReadObjects({ file: await asyncBufferFromUrl(await parquetFile(auth, assetOf(item, 'table'))) })
 */
export async function parquetFile(auth: Auth, given: Given | undefined, options?: GivenOptions): Promise<ParquetFile> {
  const { url, fetch } = requestsFor(auth, given, options)
  const response = await fetch(url, { headers: { range: 'bytes=0-0' } })
  await response.body?.cancel()
  return { url, byteLength: lengthOf(response, url), fetch }
}

/** Reads the size from `Content-Range` (RFC 9110 §14.4), or from `Content-Length` where the server ignores ranges. */
function lengthOf({ status, headers }: Response, url: string): number {
  if (status !== 200 && status !== 206)
    throw new ProtocolError(`HTTP_${status}`, `${new URL(url).host} answered ${status}`, { url, status })
  const [, length] = /^(?:bytes 0-0\/)?(\d{1,15})$/.exec(headers.get(status === 206 ? 'content-range' : 'content-length') ?? '') ?? []
  if (length !== undefined) return Number(length)
  throw new ProtocolError('RANGE_INVALID', `the response of ${new URL(url).host} does not state the length of the file`, {
    url,
    hint: 'in a browser the server must list Content-Range in Access-Control-Expose-Headers',
  })
}

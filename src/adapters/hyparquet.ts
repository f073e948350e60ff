/** Parquet files for hyparquet whose requests the engine makes. */
import type { Auth } from '../auth/auth.ts'
import { targetAddress } from '../auth/resource.ts'
import { ProtocolError } from '../errors.ts'
import type { Target } from '../stac/target.ts'

/** What hyparquet's `asyncBufferFromUrl` takes. */
export interface ParquetFile {
  readonly url: string
  /** Bytes of the whole file. */
  readonly byteLength: number
  readonly fetch: typeof globalThis.fetch
}

/**
 * The argument for hyparquet's `asyncBufferFromUrl`. The length comes from a request for the first byte, because a URL that is
 * signed for GET does not open for HEAD.
 *
 * Errors: `TARGET_NOT_FOUND`, `URL_*`, those of `fetch`, `RANGE_INVALID` for an answer that does not tell the length, `HTTP_<status>`.
 *
 * @example const rows = await parquetReadObjects({ file: await asyncBufferFromUrl(await parquetFile(auth, assetOf(item, 'table'))) })
 */
export async function parquetFile(auth: Auth, target: Target | undefined): Promise<ParquetFile> {
  const url = targetAddress(target)
  const fetch = auth.fetchFor(target)
  const response = await fetch(url, { headers: { range: 'bytes=0-0' } })
  await response.body?.cancel()
  return { url, byteLength: lengthOf(response, url), fetch }
}

/** RFC 9110 §14.4 for a part; the length of the whole where the server does not do parts. */
function lengthOf({ status, headers }: Response, url: string): number {
  if (status !== 200 && status !== 206) throw new ProtocolError(`HTTP_${status}`, `${new URL(url).host} answers ${status}`, { url, status })
  const [, length] = /^(?:bytes 0-0\/)?(\d{1,15})$/.exec(headers.get(status === 206 ? 'content-range' : 'content-length') ?? '') ?? []
  if (length !== undefined) return Number(length)
  throw new ProtocolError('RANGE_INVALID', `the response of ${new URL(url).host} does not state the length of the file`, {
    url,
    hint: 'in a browser the server must list Content-Range in Access-Control-Expose-Headers',
  })
}

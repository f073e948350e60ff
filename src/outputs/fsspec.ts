import type { AuthorizedRequest } from '../auth/auth.ts'
import { forJson } from '../text/sanitize.ts'
import { carriedHeaders } from './handed-over.ts'
import { notExpressible, requireNoQuery, requireWebGet } from './not-expressible.ts'
import { HIDDEN, isRedacted, type OutputOptions, secretText, shown } from './redact.ts'

/**
 * Returns JSON for `fsspec.open(url, **storage_options)` and the libraries that take these options: `url` and `storage_options`, for `s3fs`
 * with the request's `keys`. aiohttp drops `Authorization` on redirects to another host; with another secret header none is followed.
 * Errors: `OUTPUT_UNSUPPORTED`, also for a URL that fsspec reads as a pattern or as several URLs, and for an object's URL with a query.
 *
 * @example console.log(fsspec(request, { reveal: true }))
 */
export function fsspec(request: AuthorizedRequest, options?: OutputOptions): string {
  const text = forJson(request.location ? objectOptions(request, options) : webOptions(request, options), 2)
  return isRedacted(request, options) ? `${HIDDEN}\n${text}` : text
}

function webOptions(request: AuthorizedRequest, options?: OutputOptions): object {
  requireWebGet(request, 'fsspec')
  requireOne(request, /[*[]|::/.test(request.url))
  const { url, headers } = shown(request, options)
  return {
    url,
    storage_options: {
      ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
      ...(carriedHeaders(request, ['authorization']).length > 0 && { allow_redirects: false }),
      // Without it aiohttp would re-encode the URL, and a signature may depend on its exact text.
      encoded: true,
    },
  }
}

/** Refuses what fsspec reads as a pattern, for which it lists folders with the credential, or as a chain of URLs. */
function requireOne(request: AuthorizedRequest, isMany: boolean): void {
  if (!isMany) return
  throw notExpressible(request, 'fsspec reads this URL as a pattern or as several URLs', 'use --as curl or --as python')
}

function objectOptions(request: AuthorizedRequest, options?: OutputOptions): object {
  const { location, keys, credential } = request
  if (!location) return {}
  requireOne(request, /[*?[]|::/.test(location.key))
  requireNoQuery(request, 'fsspec')
  const { bucket, key, endpoint, region, virtualHost, requesterPays } = location
  const { accessKeyId, secretAccessKey, sessionToken } = keys ?? {}
  return {
    url: `s3://${bucket}/${key}`,
    storage_options: {
      ...(credential === undefined && { anon: true }),
      ...(accessKeyId !== undefined && { key: secretText(accessKeyId, options) }),
      ...(secretAccessKey !== undefined && { secret: secretText(secretAccessKey, options) }),
      ...(sessionToken !== undefined && { token: secretText(sessionToken, options) }),
      ...(requesterPays && { requester_pays: true }),
      client_kwargs: { endpoint_url: endpoint, region_name: region },
      config_kwargs: { s3: { addressing_style: virtualHost ? 'virtual' : 'path' } },
    },
  }
}

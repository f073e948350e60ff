import type { AuthorizedRequest } from '../auth/auth.ts'
import { bucketAndKey } from '../stac/object-address.ts'
import type { ObjectLocation } from '../stac/storage.ts'
import { forLine } from '../text/sanitize.ts'
import { type OutputOptions, shown } from './redact.ts'

/**
 * GDAL's configuration as `NAME=VALUE` lines, and the path to open as `GDAL_PATH`.
 *
 * An object store is opened as `/vsis3/`, signed by GDAL itself with the keys of the environment; anything else as
 * `/vsicurl/` with the headers of the request (GDAL 3.6 and later).
 */
export function gdal(request: AuthorizedRequest, options?: OutputOptions): string {
  const { location } = request
  const unsigned = location && request.credential !== undefined ? 'NO' : 'YES'
  const settings = [`AWS_NO_SIGN_REQUEST=${unsigned}`, `CLOUD_NO_SIGN_REQUEST=${unsigned}`]
  settings.push(...(location ? objectStore(location) : web(request, options)))
  return settings.join('\n')
}

function objectStore({ bucket, key, endpoint, region, virtualHost, requesterPays }: ObjectLocation): string[] {
  return [
    `AWS_S3_ENDPOINT=${forLine(endpoint.replace(/^https?:\/\//, '').replace(/\/$/, ''))}`,
    `AWS_REGION=${forLine(region)}`,
    `AWS_VIRTUAL_HOSTING=${virtualHost ? 'TRUE' : 'FALSE'}`,
    `AWS_HTTPS=${endpoint.startsWith('http:') ? 'NO' : 'YES'}`,
    ...(requesterPays ? ['AWS_REQUEST_PAYER=requester'] : []),
    `GDAL_PATH=/vsis3/${forLine(bucket)}/${forLine(key)}`,
  ]
}

function web(request: AuthorizedRequest, options?: OutputOptions): string[] {
  const { url, headers } = shown(request, options)
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return [...(lines.length > 0 ? [`GDAL_HTTP_HEADERS=${headerList(lines)}`] : []), `GDAL_PATH=${pathOf(url)}`]
}

/** An `s3:` address that asks for no signature has no location: GDAL finds its endpoint itself. */
function pathOf(url: string): string {
  const place = url.startsWith('s3:') ? bucketAndKey(url) : undefined
  return place ? `/vsis3/${forLine(place.bucket)}/${forLine(place.key)}` : `/vsicurl/${url}`
}

/** A comma separates headers, so one with a comma of its own is quoted; GDAL takes a lone header as it stands. */
function headerList(lines: readonly string[]): string {
  const [first = ''] = lines
  if (lines.length === 1 && !/,.*:/.test(first)) return first
  return lines.map((line) => (/[,"\\]/.test(line) ? `"${line.replace(/["\\]/g, '\\$&')}"` : line)).join(',')
}

import type { AuthorizedRequest } from '../auth/auth.ts'
import { bucketAndKey } from '../stac/object-address.ts'
import type { ObjectLocation } from '../stac/storage.ts'
import { forLine } from '../text/sanitize.ts'
import { requireNoQuery, requirePlain } from './not-expressible.ts'
import { type OutputOptions, secretText, shown } from './redact.ts'

/**
 * Returns the GDAL configuration as `NAME=VALUE` lines for the environment, with the path to open as `GDAL_PATH` (GDAL 3.6 and later).
 *
 * An object store is opened as `/vsis3/` and signed by GDAL, with the request's `keys` or without them with the keys of the environment;
 * everything else is opened as `/vsicurl/` with the headers of the request. Lines with an empty value override older values in the
 * environment. GDAL sends headers and signatures with every file that it opens, so open only this file.
 * Errors: `OUTPUT_UNSUPPORTED` for an object's URL with a query, and for a file name with control characters.
 *
 * @example console.log(gdal(request, { reveal: true }))
 */
export function gdal(request: AuthorizedRequest, options?: OutputOptions): string {
  const { location, credential } = request
  if (location || request.url.startsWith('s3:')) requireNoQuery(request, 'GDAL')
  const unsigned = location && credential !== undefined ? 'NO' : 'YES'
  const path = requirePlain(request, location ? objectPath(location) : pathOf(shown(request, options).url), 'GDAL')
  return [
    `AWS_NO_SIGN_REQUEST=${unsigned}`,
    `CLOUD_NO_SIGN_REQUEST=${unsigned}`,
    ...(location ? [...storeSettings(location), ...keySettings(request, options)] : webSettings(request, options)),
    // Listing the folder would request another URL. EMPTY_DIR would also hide files that GDAL writes to disk.
    'GDAL_DISABLE_READDIR_ON_OPEN=YES',
    `CPL_VSIL_CURL_ALLOWED_FILENAME=${path}`,
    `GDAL_PATH=${path}`,
  ].join('\n')
}

function storeSettings({ endpoint, region, virtualHost, requesterPays }: ObjectLocation): string[] {
  return [
    `AWS_S3_ENDPOINT=${forLine(endpoint.replace(/^https?:\/\//, '').replace(/\/$/, ''))}`,
    `AWS_REGION=${forLine(region)}`,
    // GDAL prefers this variable.
    `AWS_DEFAULT_REGION=${forLine(region)}`,
    `AWS_VIRTUAL_HOSTING=${virtualHost ? 'TRUE' : 'FALSE'}`,
    `AWS_HTTPS=${endpoint.startsWith('http:') ? 'NO' : 'YES'}`,
    `AWS_REQUEST_PAYER=${requesterPays ? 'requester' : ''}`,
    'GDAL_HTTP_HEADERS=',
  ]
}

function keySettings({ keys }: AuthorizedRequest, options?: OutputOptions): string[] {
  if (!keys) return []
  return [
    `AWS_ACCESS_KEY_ID=${secretText(keys.accessKeyId, options)}`,
    `AWS_SECRET_ACCESS_KEY=${secretText(keys.secretAccessKey, options)}`,
    `AWS_SESSION_TOKEN=${secretText(keys.sessionToken ?? '', options)}`,
  ]
}

/** Returns the settings for `/vsicurl/`, without HEAD requests: signed URLs refuse other methods. */
function webSettings(request: AuthorizedRequest, options?: OutputOptions): string[] {
  const lines = shown(request, options).headers.map(([name, value]) => `${name}: ${value}`)
  return [`GDAL_HTTP_HEADERS=${headerList(lines)}`, 'CPL_VSIL_CURL_USE_HEAD=NO']
}

/** Returns the path for GDAL. An `s3:` URL without a signature has no location; GDAL finds the endpoint itself. */
function pathOf(url: string): string {
  const place = url.startsWith('s3:') ? bucketAndKey(url) : undefined
  return place ? objectPath(place) : `/vsicurl/${url}`
}

function objectPath({ bucket, key }: Pick<ObjectLocation, 'bucket' | 'key'>): string {
  return `/vsis3/${bucket}/${key}`
}

/**
 * Quotes a header that contains a comma, because commas separate headers. Later GDAL versions use a text without a colon after its first
 * comma unchanged, with its quotes; adding a second header, which libcurl sends anyway, makes it a list for these versions too.
 */
function headerList(lines: readonly string[]): string {
  const quoted = lines.map((line) => (/[,"\\]/.test(line) ? `"${line.replace(/["\\]/g, '\\$&')}"` : line))
  if (lines.length === 1 && lines[0]?.includes(',')) quoted.unshift('accept: */*')
  return quoted.join(',')
}

import type { AuthorizedRequest } from '../auth/auth.ts'
import { bucketAndKey } from '../stac/object-address.ts'
import type { ObjectLocation } from '../stac/storage.ts'
import { forLine } from '../text/sanitize.ts'
import { type OutputOptions, secretText, shown } from './redact.ts'

/**
 * GDAL's configuration as `NAME=VALUE` lines for the environment, and the path to open as `GDAL_PATH` (GDAL 3.6 and later).
 *
 * An object store is opened as `/vsis3/`, signed by GDAL itself with the request's `keys`, or without them with those of the
 * environment; anything else as `/vsicurl/` with the headers of the request. Lines with an empty value keep an older one from
 * being mixed in. GDAL sends headers and signatures with all that it opens, so that is the one file.
 */
export function gdal(request: AuthorizedRequest, options?: OutputOptions): string {
  const { location, credential } = request
  const unsigned = location && credential !== undefined ? 'NO' : 'YES'
  const path = location ? objectPath(location) : pathOf(shown(request, options).url)
  return [
    `AWS_NO_SIGN_REQUEST=${unsigned}`,
    `CLOUD_NO_SIGN_REQUEST=${unsigned}`,
    ...(location ? [...storeSettings(location), ...keySettings(request, options)] : webSettings(request, options)),
    // The list of the folder is another URL. EMPTY_DIR would keep GDAL from what it writes on disk as well.
    'GDAL_DISABLE_READDIR_ON_OPEN=YES',
    `CPL_VSIL_CURL_ALLOWED_FILENAME=${path}`,
    `GDAL_PATH=${path}`,
  ].join('\n')
}

function storeSettings({ endpoint, region, virtualHost, requesterPays }: ObjectLocation): string[] {
  return [
    `AWS_S3_ENDPOINT=${forLine(endpoint.replace(/^https?:\/\//, '').replace(/\/$/, ''))}`,
    `AWS_REGION=${forLine(region)}`,
    // GDAL prefers this one.
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

/** A look at the headers first would be another method, which signed URLs refuse. */
function webSettings(request: AuthorizedRequest, options?: OutputOptions): string[] {
  const lines = shown(request, options).headers.map(([name, value]) => `${name}: ${value}`)
  return [`GDAL_HTTP_HEADERS=${headerList(lines)}`, 'CPL_VSIL_CURL_USE_HEAD=NO']
}

/** An `s3:` URL that asks for no signature has no location: GDAL finds its endpoint itself. */
function pathOf(url: string): string {
  const place = url.startsWith('s3:') ? bucketAndKey(url) : undefined
  return place ? objectPath(place) : `/vsicurl/${url}`
}

function objectPath({ bucket, key }: Pick<ObjectLocation, 'bucket' | 'key'>): string {
  return `/vsis3/${forLine(bucket)}/${forLine(key)}`
}

/**
 * A comma separates headers, so one with a comma of its own is quoted. Later versions take a text without a colon behind its
 * first comma as it stands, quotes and all; a second header, which libcurl sends anyway, makes it a list for them too.
 */
function headerList(lines: readonly string[]): string {
  const quoted = lines.map((line) => (/[,"\\]/.test(line) ? `"${line.replace(/["\\]/g, '\\$&')}"` : line))
  if (lines.length === 1 && lines[0]?.includes(',')) quoted.unshift('accept: */*')
  return quoted.join(',')
}

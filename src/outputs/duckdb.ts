import type { AuthorizedRequest } from '../auth/auth.ts'
import { forLine } from '../text/sanitize.ts'
import { notExpressible, requireWebGet } from './not-expressible.ts'
import { HIDDEN, isRedacted, type OutputOptions, secretText, shown } from './redact.ts'

/**
 * Returns a DuckDB statement that creates the temporary secret `stac_auth` for the URL of the request: `http` with its headers, or `s3`
 * with its `keys`. DuckDB sends the headers after redirects too, and has no option against it. Errors: `OUTPUT_UNSUPPORTED`.
 *
 * @example const sql = duckdb(request, { reveal: true })
 */
export function duckdb(request: AuthorizedRequest, options?: OutputOptions): string {
  const settings = request.location ? objectSettings(request, options) : webSettings(request, options)
  const lines = [...settings, ...(isRedacted(request, options) ? [HIDDEN] : [])]
  return `CREATE OR REPLACE TEMPORARY SECRET stac_auth (\n${lines.map((line) => `  ${line}`).join(',\n')}\n);`
}

function webSettings(request: AuthorizedRequest, options?: OutputOptions): string[] {
  requireWebGet(request, 'DuckDB')
  const { url, headers } = shown(request, options)
  if (request.secretIn.headers.length === 0)
    throw notExpressible(request, 'a secret of DuckDB holds headers or keys, and this request has none', 'read its URL: use --as url')
  const entries = headers.map(([name, value]) => `${literal(name)}: ${literal(value)}`)
  return ['TYPE http', `EXTRA_HTTP_HEADERS MAP { ${entries.join(', ')} }`, `SCOPE ${literal(url)}`]
}

function objectSettings(request: AuthorizedRequest, options?: OutputOptions): string[] {
  const { location, keys } = request
  if (!location || !keys) throw notExpressible(request, 'this request has no keys', 'read its URL: use --as url')
  const { bucket, key, endpoint, region, virtualHost, requesterPays } = location
  return [
    'TYPE s3',
    `KEY_ID ${literal(secretText(keys.accessKeyId, options))}`,
    `SECRET ${literal(secretText(keys.secretAccessKey, options))}`,
    ...(keys.sessionToken ? [`SESSION_TOKEN ${literal(secretText(keys.sessionToken, options))}`] : []),
    `REGION ${literal(region)}`,
    `ENDPOINT ${literal(endpoint.replace(/^https?:\/\//, '').replace(/\/$/, ''))}`,
    `URL_STYLE '${virtualHost ? 'vhost' : 'path'}'`,
    `USE_SSL ${!endpoint.startsWith('http:')}`,
    ...(requesterPays ? ['REQUESTER_PAYS true'] : []),
    `SCOPE ${literal(`s3://${bucket}/${key}`)}`,
  ]
}

function literal(text: string): string {
  return `'${forLine(text).replaceAll("'", "''")}'`
}

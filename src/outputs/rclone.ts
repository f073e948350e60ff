import type { AuthorizedRequest } from '../auth/auth.ts'
import type { ObjectLocation } from '../stac/storage.ts'
import { forLine } from '../text/sanitize.ts'
import { shellWord } from '../text/shell-word.ts'
import { notExpressible, requireNoQuery, requirePlain, requireWebGet } from './not-expressible.ts'
import { type OutputOptions, secretText, settingLines, shown } from './redact.ts'

/**
 * Returns a configuration file of rclone with the remote `stac-auth`: `http` with the headers of the request, or `s3` with its `keys`; a
 * comment contains the command. rclone drops `Authorization` and `Cookie` on redirects, but not for hosts below the same name, and no other header.
 * With hidden secrets every line is a comment. Errors: `OUTPUT_UNSUPPORTED`, also for a URL with a query, which rclone does not send, and for
 * a file name with control characters.
 *
 * @example await writeFile('rclone.conf', rclone(request, { reveal: true }), { mode: 0o600 })
 */
export function rclone(request: AuthorizedRequest, options?: OutputOptions): string {
  const { location } = request
  const [path, settings] = location ? objectSettings(request, location, options) : webSettings(request, options)
  const odd = settings.find(([, value]) => /%\(|\\$|^["`]/.test(value))
  if (odd) throw notExpressible(request, `the configuration of rclone cannot hold this value of ${odd[0]}`, 'use --as curl or --as python')
  const lines = [
    // Without HEAD requests rclone takes any file that it has copied to that name for this one.
    `# rclone --config FILE copyto ${location ? '' : '--ignore-times '}${shellWord(`stac-auth:${path}`)} NAME`,
    '[stac-auth]',
    ...settings.map(([name, value]) => `${name} = ${value}`),
  ]
  return settingLines(lines, request, options)
}

type Settings = readonly (readonly [name: string, value: string])[]

function webSettings(request: AuthorizedRequest, options?: OutputOptions): [path: string, settings: Settings] {
  requireWebGet(request, 'rclone')
  const { url, headers } = shown(request, options)
  const [, folder = '', name = ''] = /^(.*\/)([^/]+)$/.exec(url) ?? []
  const path = decoded(name)
  if (path === undefined || /[?#]/.test(url) || !headers.every(([header]) => /^[\w-]+$/.test(header)))
    throw notExpressible(request, 'rclone cannot request a URL with a query or without a file name', 'use --as curl, wget or aria2')
  const list = headers.flatMap(([header, value]) => [header, /[",\s]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value]).join(',')
  return [
    requirePlain(request, path, 'rclone'),
    [
      ['type', 'http'],
      ['url', folder],
      // Disables HEAD requests: the authorization may not be valid for another method.
      ['no_head', 'true'],
      ...(list === '' ? [] : [['headers', list] as const]),
    ],
  ]
}

function objectSettings(
  request: AuthorizedRequest,
  { bucket, key, endpoint, region, virtualHost, requesterPays }: ObjectLocation,
  options?: OutputOptions,
): [path: string, settings: Settings] {
  requireNoQuery(request, 'rclone')
  const { keys, credential } = request
  const secrets: Settings = keys
    ? [
        ['access_key_id', secretText(keys.accessKeyId, options)],
        ['secret_access_key', secretText(keys.secretAccessKey, options)],
        ...(keys.sessionToken ? [['session_token', secretText(keys.sessionToken, options)] as const] : []),
      ]
    : []
  return [
    requirePlain(request, `${bucket}/${key}`, 'rclone'),
    [
      ['type', 's3'],
      ['provider', /\.amazonaws\.com(?:\.cn)?\/?$/.test(endpoint) ? 'AWS' : 'Other'],
      ['env_auth', String(!keys && credential !== undefined)],
      ...secrets,
      ['endpoint', forLine(endpoint)],
      ['region', forLine(region)],
      ['force_path_style', String(!virtualHost)],
      ...(requesterPays ? [['requester_pays', 'true'] as const] : []),
    ],
  ]
}

/** Returns the decoded path, which rclone encodes again; undefined for a name that would become another URL. */
function decoded(name: string): string | undefined {
  try {
    const path = decodeURIComponent(name)
    return path === '' || path.includes('/') || path === '.' || path === '..' ? undefined : path
  } catch {
    return undefined
  }
}

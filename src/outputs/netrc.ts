import type { AuthorizedRequest } from '../auth/auth.ts'
import { notExpressible, requireWeb } from './not-expressible.ts'
import { type OutputOptions, secretText, settingLines } from './redact.ts'

/**
 * Returns a line of `~/.netrc` for a request with Basic authentication. Programs send it to every port and path of that host. With hidden
 * secrets it is a comment. Errors: `OUTPUT_UNSUPPORTED` for other requests, and for a name or password that the format cannot express.
 *
 * @example await writeFile('netrc', netrc(request, { reveal: true }), { mode: 0o600 })
 */
export function netrc(request: AuthorizedRequest, options?: OutputOptions): string {
  requireWeb(request, 'a program that reads .netrc')
  const [name, password] = userOf(request)
  const line = `machine ${new URL(request.url).hostname} login ${secretText(name, options)} password ${secretText(password, options)}`
  return settingLines([line], request, options)
}

function userOf(request: AuthorizedRequest): readonly [name: string, password: string] {
  const { headers, secretIn } = request
  const value = Object.entries(headers).find(([header]) => header.toLowerCase() === 'authorization')?.[1] ?? ''
  const [, encoded] = /^basic ([a-z0-9+/]+=*)$/i.exec(value) ?? []
  if (encoded === undefined || secretIn.url || secretIn.headers.length > 1)
    throw notExpressible(request, '.netrc holds a user name and a password, and this request has none', 'use --as curl, wget or headers')
  const [, name = '', password = ''] = /^([^:]*):(.*)$/s.exec(atob(encoded)) ?? []
  if ([name, password].every(isPlain)) return [name, password]
  throw notExpressible(
    request,
    'programs disagree on how .netrc holds this user name or password: only visible ASCII without quotes, backslashes and a leading "#"',
    'use --as curl, wget or headers',
  )
}

function isPlain(text: string): boolean {
  return /^[!-~]+$/.test(text) && !/["'\\]|^#/.test(text)
}

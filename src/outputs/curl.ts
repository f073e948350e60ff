import type { AuthorizedRequest } from '../auth/auth.ts'
import { forTerminal } from '../text/sanitize.ts'
import { shellWord } from '../text/shell-word.ts'
import { HIDDEN, isRedacted, type OutputOptions, shown } from './redact.ts'

/**
 * Returns a POSIX shell command that sends the request with curl. Every name and value is quoted as one argument. With hidden secrets no
 * shell runs it.
 *
 * @example console.log(curl(await auth.authorize(assetOf(item, 'B04'))))
 */
export function curl(request: AuthorizedRequest, options?: OutputOptions): string {
  const { method, url, headers, body } = shown(request, options)
  const parts = ['curl --globoff']
  if (method === 'HEAD') parts.push('--head')
  else if (method !== 'GET') parts.push(`--request ${shellWord(method)}`)
  for (const [name, value] of headers) parts.push(`--header ${shellWord(value === '' ? `${name};` : `${name}: ${value}`)}`)
  if (body !== undefined) parts.push(`--data-raw ${shellWord(forTerminal(body))}`)
  parts.push(shellWord(url))
  if (isRedacted(request, options)) parts.push(HIDDEN)
  return parts.join(' \\\n  ')
}

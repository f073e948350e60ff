import type { AuthorizedRequest } from '../auth/auth.ts'
import { forTerminal } from '../text/sanitize.ts'
import { shellWord } from '../text/shell-word.ts'
import { type OutputOptions, shown } from './redact.ts'

/** A command for POSIX shells that sends the request with curl; whatever a name or value holds, it stays one argument. */
export function curl(request: AuthorizedRequest, options?: OutputOptions): string {
  const { method, url, headers, body } = shown(request, options)
  const parts = ['curl --globoff']
  if (method === 'HEAD') parts.push('--head')
  else if (method !== 'GET') parts.push(`--request ${shellWord(method)}`)
  for (const [name, value] of headers) parts.push(`--header ${shellWord(value === '' ? `${name};` : `${name}: ${value}`)}`)
  if (body !== undefined) parts.push(`--data-raw ${shellWord(forTerminal(body))}`)
  return [...parts, shellWord(url)].join(' \\\n  ')
}

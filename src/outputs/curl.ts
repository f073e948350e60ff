import type { AuthorizedRequest } from '../auth/auth.ts'
import { forTerminal } from '../text/sanitize.ts'
import { shellWord } from '../text/shell-word.ts'
import { HIDDEN, isRedacted, type OutputOptions, shown } from './redact.ts'

/** A command for POSIX shells that sends the request with curl; whatever a name or value holds, it stays one argument. With hidden secrets no shell runs it. */
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

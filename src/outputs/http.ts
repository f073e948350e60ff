import type { AuthorizedRequest } from '../auth/auth.ts'
import { forTerminal } from '../text/sanitize.ts'
import { type OutputOptions, shown } from './redact.ts'

/**
 * Returns the request as HTTP/1.1 text (RFC 9112): request line, `host`, headers, an empty line, the body.
 *
 * Lines end in a line feed only, which RFC 9112 §2.2 allows recipients to accept, because terminals and line tools expect it.
 *
 * @example console.log(http(request))
 */
export function http(request: AuthorizedRequest, options?: OutputOptions): string {
  const { method, url, headers, body = '' } = shown(request, options)
  const [, host = '', target = ''] = /^[a-z0-9+.-]+:\/\/([^/?#]*)(.*)$/i.exec(url) ?? []
  const lines = [`${method} ${target.startsWith('/') ? target : `/${target}`} HTTP/1.1`, `host: ${host}`]
  for (const [name, value] of headers) if (name.toLowerCase() !== 'host') lines.push(`${name}: ${value}`)
  return `${lines.join('\n')}\n\n${forTerminal(body)}`
}

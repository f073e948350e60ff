import type { AuthorizedRequest } from '../auth/auth.ts'
import { forTerminal } from '../text/sanitize.ts'
import { shellWord } from '../text/shell-word.ts'
import { HIDDEN, isRedacted, type OutputOptions, shown } from './redact.ts'

/**
 * Returns assignments for POSIX shells: `STAC_AUTH_METHOD`, `STAC_AUTH_URL`, `STAC_AUTH_HEADERS` (one `name: value` per line) and, if there
 * is a body, `STAC_AUTH_BODY`. They are one command and are not exported; with hidden secrets `eval` refuses it and assigns nothing.
 *
 * @example console.log(sh(request))
 */
export function sh(request: AuthorizedRequest, options?: OutputOptions): string {
  const { method, url, headers, body } = shown(request, options)
  const parts = [
    `STAC_AUTH_METHOD=${shellWord(method)}`,
    `STAC_AUTH_URL=${shellWord(url)}`,
    `STAC_AUTH_HEADERS=${shellWord(headers.map(([name, value]) => `${name}: ${value}`).join('\n'))}`,
  ]
  if (body !== undefined) parts.push(`STAC_AUTH_BODY=${shellWord(forTerminal(body))}`)
  if (isRedacted(request, options)) parts.push(HIDDEN)
  return parts.join(' \\\n  ')
}

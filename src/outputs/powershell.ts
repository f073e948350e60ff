import type { AuthorizedRequest } from '../auth/auth.ts'
import { forTerminal } from '../text/sanitize.ts'
import { carriedHeaders } from './handed-over.ts'
import { requireWeb } from './not-expressible.ts'
import { HIDDEN, isRedacted, type OutputOptions, shown } from './redact.ts'

/**
 * Returns an `Invoke-WebRequest` command for PowerShell. It removes `Authorization` on redirects to another host; with another secret
 * header redirects are an error. Errors: `OUTPUT_UNSUPPORTED`.
 *
 * @example console.log(powershell(request))
 */
export function powershell(request: AuthorizedRequest, options?: OutputOptions): string {
  requireWeb(request, 'PowerShell')
  const { method, url, headers, body } = shown(request, options)
  const parts = [`Invoke-WebRequest -Uri ${literal(url)}`, `-Method ${literal(method)}`]
  if (headers.length > 0) parts.push(`-Headers @{ ${headers.map(([name, value]) => `${literal(name)} = ${literal(value)}`).join('; ')} }`)
  if (carriedHeaders(request, ['authorization']).length > 0) parts.push('-MaximumRedirection 0')
  if (body !== undefined) parts.push(`-Body ${literal(forTerminal(body))}`)
  if (isRedacted(request, options)) parts.push(HIDDEN)
  return parts.join(' `\n  ')
}

/** Returns a verbatim string: PowerShell treats typographic single quotes as plain ones, so each of them is doubled. */
function literal(text: string): string {
  return `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`
}

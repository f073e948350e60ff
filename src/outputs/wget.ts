import type { AuthorizedRequest } from '../auth/auth.ts'
import { shellWord } from '../text/shell-word.ts'
import { carriedHeaders } from './handed-over.ts'
import { requireWebGet } from './not-expressible.ts'
import { HIDDEN, isRedacted, type OutputOptions, shown } from './redact.ts'

/**
 * Returns a command for POSIX shells that writes the body to standard output with wget. Headers and URL are passed through a file that only
 * the user can read and a pipe, not as arguments. wget sends every header after redirects too, so with a secret one none is followed.
 * Errors: `OUTPUT_UNSUPPORTED`.
 *
 * @example console.log(wget(request))
 */
export function wget(request: AuthorizedRequest, options?: OutputOptions): string {
  requireWebGet(request, 'wget')
  const { url, headers } = shown(request, options)
  const settings = [
    'output_document = -',
    'netrc = off',
    ...(carriedHeaders(request, []).length > 0 ? ['max_redirect = 0'] : []),
    ...headers.map(([name, value]) => `header = ${name}: ${value}`),
  ]
  return [
    '(',
    `  config=$(mktemp) && trap 'rm -f "$config"' EXIT INT TERM &&`,
    `  printf '%s\\n' ${settings.map(shellWord).join(' \\\n    ')} >"$config" &&`,
    `  printf '%s\\n' ${shellWord(url)} | wget --config="$config" --input-file=-`,
    ...(isRedacted(request, options) ? [`  ${HIDDEN}`] : []),
    ')',
  ].join('\n')
}

import type { AuthorizedRequest } from '../auth/auth.ts'
import { carriedHeaders } from './handed-over.ts'
import { requireWeb } from './not-expressible.ts'
import { HIDDEN, isRedacted, type OutputOptions, shown } from './redact.ts'

/**
 * Returns a Python program that writes the body to standard output with `requests`. That library drops `Authorization` and `Cookie` on
 * redirects to another host; with another secret header a redirect ends the program. Errors: `OUTPUT_UNSUPPORTED`.
 *
 * @example console.log(python(request))
 */
export function python(request: AuthorizedRequest, options?: OutputOptions): string {
  requireWeb(request, 'requests')
  const { method, url, headers, body } = shown(request, options)
  const carries = carriedHeaders(request).length > 0
  const sent: (readonly [string, string])[] = headers.some(([name]) => name.toLowerCase() === 'accept-encoding')
    ? [...headers]
    : [...headers, ['accept-encoding', 'identity']]
  return [
    'import sys',
    '',
    'import requests',
    '',
    'with requests.request(',
    `    ${literal(method)},`,
    `    ${literal(url)},`,
    `    headers={${sent.map(([name, value]) => `${literal(name)}: ${literal(value)}`).join(', ')}},`,
    ...(body === undefined ? [] : [`    data=${literal(body)}.encode(),`]),
    '    auth=lambda request: request,  # keeps ~/.netrc from replacing the header',
    `    allow_redirects=${carries ? 'False' : 'True'},`,
    '    stream=True,',
    '    timeout=60,',
    ...(isRedacted(request, options) ? [`    ${HIDDEN}`] : []),
    ') as response:',
    '    response.raise_for_status()',
    ...(carries ? ['    if response.is_redirect:', '        sys.exit("refused a redirect: the headers must not follow it")'] : []),
    '    for chunk in response.iter_content(1 << 16):',
    '        sys.stdout.buffer.write(chunk)',
  ].join('\n')
}

/** Returns a string literal in ASCII; JSON and Python have the same escapes, except for characters beyond U+FFFF. */
function literal(text: string): string {
  return JSON.stringify(text).replace(/[^\0-\x7e]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

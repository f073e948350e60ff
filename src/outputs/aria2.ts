import type { AuthorizedRequest } from '../auth/auth.ts'
import { forFileName } from '../text/file-name.ts'
import { requireWebGet } from './not-expressible.ts'
import { type OutputOptions, settingLines, shown } from './redact.ts'

/**
 * Returns an input file for `aria2c --input-file`. aria2 sends every header after redirects too, and has no option against it. With
 * hidden secrets every line is a comment. Errors: `OUTPUT_UNSUPPORTED`.
 *
 * @example await writeFile('files.txt', aria2(request, { reveal: true }), { mode: 0o600 })
 */
export function aria2(request: AuthorizedRequest, options?: OutputOptions): string {
  requireWebGet(request, 'aria2')
  const { url, headers } = shown(request, options)
  const lines = [
    url,
    ...headers.map(([name, value]) => `  header=${name}: ${value}`),
    `  out=${forFileName(lastSegment(url))}`,
    '  no-netrc=true',
    '  parameterized-uri=false',
    // aria2 would follow a metalink or a torrent by itself, with the headers, to the hosts and files that it names.
    '  follow-metalink=false',
    '  follow-torrent=false',
  ]
  return settingLines(lines, request, options)
}

function lastSegment(url: string): string {
  const name = /([^/]*)$/.exec(url.replace(/[?#].*/, ''))?.[1] ?? ''
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

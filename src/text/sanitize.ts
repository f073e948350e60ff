/** Text that strangers wrote, made safe for the places where it is shown. Every output goes through here. */

/** C0 but line feed, DEL, C1, bidirectional controls, the byte order mark, and halves of surrogate pairs. */
const UNSAFE = /[\0-\t\v-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\p{Surrogate}]/gu

/** Text for a terminal: what could move the cursor, reorder or hide other text becomes `\u{…}`; line feeds stay. */
export function forTerminal(text: string): string {
  return text.replace(UNSAFE, escapeCodePoint)
}

/** As {@link forTerminal}, on one line: line feeds and Unicode line ends are written out as well. */
export function forLine(text: string): string {
  return forTerminal(text).replace(/[\n\u2028\u2029]/g, escapeCodePoint)
}

/** JSON text that prints safely and still means the same: the characters of {@link forTerminal} as JSON escapes. */
export function forJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A URL without what it may carry: origin and path; values of the query become `…`, user info and fragment go. */
export function forUrl(address: string): string {
  const [, head = '', query] = /^([^?#]*)(?:\?([^#]*))?/.exec(withoutUserInfo(address)) ?? []
  return forLine(query === undefined ? head : `${head}?${query.split('&').map(hideValue).join('&')}`)
}

/** A parameter without `=` may be a value as well as a name, so it is hidden whole. */
function hideValue(parameter: string): string {
  const end = parameter.indexOf('=')
  return end < 0 ? '…' : `${parameter.slice(0, end)}=…`
}

function withoutUserInfo(address: string): string {
  if (!URL.canParse(address)) return address.replace(/^([a-z][a-z0-9+.-]*:)?([\\/]{2})[^\\/?#]*@/i, '$1$2')
  const url = new URL(address)
  if (url.username === '' && url.password === '') return address
  url.username = ''
  url.password = ''
  return url.href
}

function escapeCodePoint(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}

/** Escapes untrusted text for output, and formats errors. Every output uses this module. */

import type { AuthError, ErrorCode } from '../errors.ts'
import { canParseUrl } from './can-parse-url.ts'

/**
 * All but line feeds and what is visible: letters, marks, numbers, punctuation, symbols and the space. U+2800 and U+1D159 are symbols without
 * a shape. A mark stands on a letter or number, or it changes other text; more than four on one hide the lines around it.
 */
const UNSAFE =
  /[^\n \p{L}\p{M}\p{N}\p{P}\p{S}]|\p{Default_Ignorable_Code_Point}|[\u2800\u{1d159}]|(?<!(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}](?:(?!\p{Default_Ignorable_Code_Point})\p{M}){0,3})\p{M}/gu

/** Escapes text for a terminal: what is not visible, and what could move the cursor, reorder or hide text, becomes `\u{…}`; line feeds stay. */
export function forTerminal(text: string): string {
  return text.replace(UNSAFE, escapeCodePoint)
}

/** Escapes like {@link forTerminal}, on one line: line feeds and Unicode line separators are escaped too. */
export function forLine(text: string): string {
  return forTerminal(text).replace(/[\n\u2028\u2029]/g, escapeCodePoint)
}

/** Escapes the characters of {@link forTerminal} in JSON text as JSON escapes, so that its value stays the same. */
export function forJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNSAFE, escapeUnits)
}

function escapeUnits(char: string): string {
  return char.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Returns a URL without secrets: origin and path; query values become `…`, user information and fragment are removed. */
export function forUrl(address: string): string {
  const [, head = '', query] = /^([^?#]*)(?:\?([^#]*))?/.exec(withoutUserInfo(address)) ?? []
  return forLine(query === undefined ? head : `${head}?${query.split('&').map(hideValue).join('&')}`)
}

/** A parameter without `=` may be a value, so it is hidden completely. */
function hideValue(parameter: string): string {
  const end = parameter.indexOf('=')
  return end < 0 ? '…' : `${parameter.slice(0, end)}=…`
}

function withoutUserInfo(address: string): string {
  if (!canParseUrl(address)) return address.replace(/^([a-z][a-z0-9+.-]*:)?([\\/]{2})[^\\/?#]*@/i, '$1$2')
  const url = new URL(address)
  if (url.username === '' && url.password === '') return address
  url.username = ''
  url.password = ''
  return url.href
}

function escapeCodePoint(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}

/** Formats `CODE pointer: message` on one line. */
export function headline({
  code,
  pointer,
  message,
}: {
  readonly code: ErrorCode
  readonly pointer?: string
  readonly message: string
}): string {
  return `${forLine(code)}${pointer ? ` ${forLine(pointer)}` : ''}: ${forLine(message)}`
}

/** Returns the indented lines of a hint. */
export function hintLines(hint: string | undefined, indent: string): string[] {
  return hint === undefined
    ? []
    : forTerminal(hint)
        .split('\n')
        .map((line) => `${indent}${line}`)
}

/** Formats an error or a warning with its hint and reasons, as the command line prints it. */
export function errorText(error: Pick<AuthError, 'code' | 'message' | 'pointer' | 'hint' | 'reasons'>, label = 'error'): string {
  const lines = [`${label} ${headline(error)}`, ...hintLines(error.hint, '  ')]
  for (const reason of error.reasons ?? []) lines.push(`  - ${headline(reason)}`, ...hintLines(reason.hint, '    '))
  return lines.join('\n')
}

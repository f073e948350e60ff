/** Errors as text for people. */
import type { AuthError, ErrorCode } from '../errors.ts'
import { forLine, forTerminal } from './sanitize.ts'

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

/** Formats an error with its hint and reasons, as the command line prints it. */
export function errorText(error: AuthError, label = 'error'): string {
  const lines = [`${label} ${headline(error)}`, ...hintLines(error.hint, '  ')]
  for (const reason of error.reasons ?? []) lines.push(`  - ${headline(reason)}`, ...hintLines(reason.hint, '    '))
  return lines.join('\n')
}

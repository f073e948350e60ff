/** Writes errors, warnings and notes to stderr, as text or as JSON lines. */
import type { Warning } from '../../auth/strategy.ts'
import { AuthError, type ErrorCode } from '../../errors.ts'
import { forJson, forLine, forTerminal } from '../../text/sanitize.ts'
import { type Io, write } from '../io.ts'
import { styleOf } from '../style.ts'

export interface Diagnostics {
  /** Writes an error with its hint and reasons; with JSON one line. */
  error(error: AuthError): Promise<void>
  /** Writes a warning. */
  warn(warning: Warning): void
  /** Writes a note; nothing with JSON. */
  note(text: string): Promise<void>
}

/** Returns the writer of diagnostics. Failures to write to stderr are ignored. */
export function createDiagnostics(io: Io, json: boolean): Diagnostics {
  const style = styleOf(io, io.stderr)
  const print = (text: string) => write(io.stderr, `${text}\n`).catch(() => undefined)
  return {
    error: (error) => {
      const told = error.code === 'ABORTED' ? interrupted(error) : error
      return print(json ? forJson(told) : errorText(told, style.red('error')))
    },
    warn: (warning) => {
      void print(json ? forJson({ severity: 'warn', ...warning }) : `${style.yellow('warning')} ${headline(warning)}`)
    },
    note: async (text) => {
      if (!json) await print(forTerminal(text))
    },
  }
}

/** Returns the error of an interruption by the user; `hint` says how to resume. */
function interrupted({ hint }: AuthError): AuthError {
  return new AuthError('ABORTED', 'interrupted', hint === undefined ? {} : { hint })
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

function errorText(error: AuthError, label: string): string {
  const lines = [`${label} ${headline(error)}`, ...hintLines(error.hint, '  ')]
  for (const reason of error.reasons ?? []) lines.push(`  - ${headline(reason)}`, ...hintLines(reason.hint, '    '))
  return lines.join('\n')
}

/** What goes to stderr: errors, warnings and notes, as text for people or as JSON lines for programs. */
import type { Warning } from '../../auth/strategy.ts'
import { AuthError, type ErrorCode } from '../../errors.ts'
import { forJson, forLine, forTerminal } from '../../text/sanitize.ts'
import { type Io, write } from '../io.ts'
import { styleOf } from '../style.ts'

export interface Diagnostics {
  /** One error: a line, its hint, its reasons; in JSON one line. Who aborts a command line is always its user. */
  error(error: AuthError): Promise<void>
  /** Something that stops nothing, when it happens. */
  warn(warning: Warning): void
  /** A line for people; nothing in JSON. */
  note(text: string): Promise<void>
}

/** Speaks JSON when `json`, else text. A stderr that has gone is nobody's failure. */
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

/** Who aborts a command line is its user; `hint` says how to go on. */
function interrupted({ hint }: AuthError): AuthError {
  return new AuthError('ABORTED', 'interrupted', hint === undefined ? {} : { hint })
}

/** `CODE pointer: message` on one line. */
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

/** The hint's lines, indented; empty when there is none. */
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

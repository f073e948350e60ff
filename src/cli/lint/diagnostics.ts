/** Writes errors, warnings and notes to stderr, as text or as JSON lines. */
import type { Warning } from '../../auth/strategy.ts'
import { AuthError } from '../../errors.ts'
import { errorText, headline } from '../../text/error-text.ts'
import { forJson, forTerminal } from '../../text/sanitize.ts'
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

/** The context that every command gets. */

import type { Diagnostics, Io } from './io.ts'

export interface Context {
  readonly io: Io
  readonly diagnostics: Diagnostics
  /** The form in which requests are logged, with `--verbose` or `STAC_AUTH_DEBUG`; known once the options are parsed. */
  readonly requestLog?: 'text' | 'json' | undefined
  /** Wraps an action that returns an exit code as an action of the argument parser. */
  readonly run: <Arguments extends unknown[]>(action: (...given: Arguments) => Promise<number>) => (...given: Arguments) => Promise<void>
}

/** What every command is given. */

import type { Io } from './io.ts'
import type { Diagnostics } from './lint/diagnostics.ts'

export interface Context {
  readonly io: Io
  readonly diagnostics: Diagnostics
  /** Makes an action of the argument parser from one that gives the exit code of the command. */
  readonly run: <Arguments extends unknown[]>(action: (...given: Arguments) => Promise<number>) => (...given: Arguments) => Promise<void>
}

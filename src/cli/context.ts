/** What every command is given. */
import type { Diagnostics } from './diagnostics.ts'
import type { Io } from './io.ts'

export interface Context {
  readonly io: Io
  readonly diagnostics: Diagnostics
  /** Makes an action of the argument parser from one that gives the exit code of the command. */
  readonly run: <Arguments extends unknown[]>(action: (...given: Arguments) => Promise<number>) => (...given: Arguments) => Promise<void>
}

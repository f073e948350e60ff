import type { AuthError } from '../errors.ts'
import { exitCodeOf, exitOfSignal } from './exit-code.ts'

/** What could not be done with one of several inputs, while the others went on. */
export interface Failure {
  readonly name: string
  readonly error: AuthError
  /** The exit code, where it is not that of the error: 0 for what the user asked to leave out. */
  readonly exit?: number
}

/** The exit code that a failure alone ends in. */
export function exitOfFailure({ error: { code }, exit }: Failure, signal: AbortSignal): number {
  return exit ?? (code === 'ABORTED' ? exitOfSignal(signal) : exitCodeOf(code))
}

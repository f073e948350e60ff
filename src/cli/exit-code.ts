/** Exit codes of the command line, and which error code ends in which. */
import { ERROR_CODES, HTTP_STATUS } from '../error-codes.ts'
import type { AuthError } from '../errors.ts'

export const EXIT = {
  done: 0,
  findings: 1,
  usage: 2,
  credentials: 3,
  refused: 4,
  network: 5,
  files: 6,
  internal: 70,
  interrupted: 130,
} as const

/** Returns the exit code of an error code, as the table of codes says; 70 for a code that is not in it. */
export function exitCodeOf(code: string): number {
  if (Object.hasOwn(ERROR_CODES, code)) return ERROR_CODES[code as keyof typeof ERROR_CODES].exit
  return /^HTTP_\d{3}$/.test(code) ? HTTP_STATUS.exit : EXIT.internal
}

/** An internal failure outranks all, then interrupted, usage, files, network, refused, credentials, findings. */
export const EXIT_ORDER: readonly number[] = [
  EXIT.internal,
  143,
  EXIT.interrupted,
  EXIT.usage,
  EXIT.files,
  EXIT.network,
  EXIT.refused,
  EXIT.credentials,
  EXIT.findings,
]

/** The one exit code of several outcomes. */
export function worstExit(codes: Iterable<number>): number {
  const all = new Set(codes)
  return EXIT_ORDER.find((code) => all.has(code)) ?? EXIT.done
}

/** 143 for `SIGTERM`, and for `SIGHUP`, which asks for the same; else 130. */
export function exitOfSignal(signal: AbortSignal): number {
  return signal.reason === 'SIGTERM' || signal.reason === 'SIGHUP' ? 143 : EXIT.interrupted
}

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

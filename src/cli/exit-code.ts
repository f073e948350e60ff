/** Exit codes of the command line, their error codes, what to do about them, and the error of wrong arguments. */
import { ERROR_CODES, HTTP_STATUS } from '../error-codes.ts'
import { type AuthError, ConfigurationError } from '../errors.ts'

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

/** Exit codes and what they mean. */
export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'done'],
  [1, 'findings'],
  [2, 'usage or configuration error'],
  [3, 'credentials missing or refused, or login required'],
  [4, 'refused by the trust rules'],
  [5, 'network or service failure'],
  [6, 'file system or integrity failure'],
  [70, 'internal error'],
  [130, 'interrupted, or the reader of stdout has closed it'],
  [143, 'ended by SIGTERM or SIGHUP'],
]

/** Returns the exit code of an error code; 70 for an unknown code. */
export function exitCodeOf(code: string): number {
  if (Object.hasOwn(ERROR_CODES, code)) return ERROR_CODES[code as keyof typeof ERROR_CODES].exit
  return /^HTTP_\d{3}$/.test(code) ? HTTP_STATUS.exit : EXIT.internal
}

/** Returns what to do about an error code, as a hint; undefined for an unknown code. */
export function adviceFor(code: string): string | undefined {
  const known = Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as keyof typeof ERROR_CODES].advice : undefined
  const advice = known ?? (/^HTTP_\d{3}$/.test(code) ? statusAdvice(Number(code.slice(5))) : undefined)
  return advice?.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase()).replaceAll('`', '')
}

function statusAdvice(status: number): string {
  if (status === 404 || status === 410) return 'check the URL: the server has nothing there'
  if (status === 405) return 'use a method that the server accepts there'
  return status === 429 || status >= 500 ? 'try again later' : 'check what was sent: the server refuses it'
}

/** Exit codes by precedence, highest first. */
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

/** Returns the exit code with the highest precedence, 0 for none. */
export function worstExit(codes: Iterable<number>): number {
  const all = new Set(codes)
  return EXIT_ORDER.find((code) => all.has(code)) ?? EXIT.done
}

/** Returns 143 for `SIGTERM` and `SIGHUP`, else 130. */
export function exitOfSignal(signal: AbortSignal): number {
  return signal.reason === 'SIGTERM' || signal.reason === 'SIGHUP' ? 143 : EXIT.interrupted
}

/** A failure of one of several inputs; the others are processed. */
export interface Failure {
  readonly name: string
  readonly error: AuthError
  /** The exit code, if it differs from that of the error: 0 for what the user asked to skip. */
  readonly exit?: number
}

/** Returns the exit code of one failure. */
export function exitOfFailure({ error: { code }, exit }: Failure, signal: AbortSignal): number {
  return exit ?? (code === 'ABORTED' ? exitOfSignal(signal) : exitCodeOf(code))
}

/** Returns a usage error, exit code 2. */
export function usageError(message: string, hint?: string): ConfigurationError {
  return new ConfigurationError('USAGE', message, hint === undefined ? {} : { hint })
}

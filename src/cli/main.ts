/** The command line: arguments in, exit code out. Commands are loaded when one is asked for. */
import { AbortedError, AuthError, isAuthError } from '../errors.ts'
import { openFilesFailure } from '../node/system-error.ts'
import { EXIT, exitCodeOf, exitOfSignal } from './exit-code.ts'
import { untilInterrupted } from './interruption.ts'
import { type Io, isBrokenPipe, write } from './io.ts'
import { createDiagnostics, type Diagnostics } from './lint/diagnostics.ts'
import { wantsJson } from './usage.ts'
import { version } from './version.ts'

/**
 * Milliseconds that an interrupted command has to end by itself: a worker finishes its job, a download what it writes, others remove
 * what they began or report what there is. That is done at once, but on a busy machine nothing is.
 */
const CLEANUP: Readonly<Record<string, number>> = { worker: 60_000, download: 5_000, fetch: 5_000, lint: 5_000, translate: 5_000 }
const CLEANUP_OF_OTHERS = 500

/** Runs one command. Everything it says goes to `io`; it never throws and never ends the process. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const diagnostics = createDiagnostics(io, wantsJson(argv))
  // Failures come back from each write; without a listener they would end the process as well.
  for (const stream of [io.stdout, io.stderr]) stream.on('error', () => undefined)
  try {
    const code = await untilInterrupted(command(argv, io, diagnostics), io.signal, CLEANUP[argv[0] ?? ''] ?? CLEANUP_OF_OTHERS)
    return io.signal.aborted ? exitOfSignal(io.signal) : code
  } catch (error) {
    return await failure(error, io, diagnostics)
  }
}

async function command(argv: readonly string[], io: Io, diagnostics: Diagnostics): Promise<number> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    await write(io.stdout, `${version()}\n`)
    return EXIT.done
  }
  const { runProgram } = await import('./program.ts')
  return runProgram(argv, io, diagnostics)
}

async function failure(thrown: unknown, io: Io, diagnostics: Diagnostics): Promise<number> {
  // Whoever closes the output stops the command: without a word, but what remained was not done.
  if (isBrokenPipe(thrown)) return EXIT.interrupted
  const error = io.signal.aborted ? new AbortedError(io.signal.reason) : known(thrown)
  await diagnostics.error(error)
  if (error.code === 'INTERNAL' && io.env.STAC_AUTH_DEBUG) await diagnostics.note(frames(thrown))
  return error.code === 'ABORTED' ? exitOfSignal(io.signal) : exitCodeOf(error.code)
}

function known(thrown: unknown): AuthError {
  if (isAuthError(thrown)) return thrown
  const open = openFilesFailure(thrown)
  if (open) return open
  // The message of a foreign error may quote a header or a body, so only its kind is told.
  const kind = thrown instanceof Error ? thrown.name : typeof thrown
  return new AuthError('INTERNAL', `an unexpected ${kind} in stac-auth itself`, { hint: 'STAC_AUTH_DEBUG=1 shows where; please report it' })
}

/** Where it was thrown, without the message. */
function frames(thrown: unknown): string {
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : ''
  return stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n')
}

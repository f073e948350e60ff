/** Runs the command line: arguments in, exit code out. Commands are loaded on first use. */
import { AbortedError, AuthError, isAuthError } from '../errors.ts'
import { openFilesFailure } from '../node/base/index.ts'
import { EXIT, exitCodeOf, exitOfSignal } from './exit-code.ts'
import { createDiagnostics, type Diagnostics, type Io, isBrokenPipe, untilInterrupted, version, wantsJson, write } from './io.ts'

/** The program of `run` decides when it ends, and how. */
const MAX_TIMER = 2 ** 31 - 1

/**
 * Milliseconds that an interrupted command has to end by itself: a worker finishes its job, a download its writes; others remove
 * partial files or report partial results.
 */
const CLEANUP: Readonly<Record<string, number>> = {
  worker: 60_000,
  download: 5_000,
  fetch: 5_000,
  lint: 5_000,
  translate: 5_000,
  run: MAX_TIMER,
}
const CLEANUP_OF_OTHERS = 500

/** Runs one command and returns its exit code. Writes to `io` only; never throws and never ends the process. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const diagnostics = createDiagnostics(io, wantsJson(argv))
  // Each write reports its failures; without a listener they would also end the process.
  for (const stream of [io.stdout, io.stderr]) stream.on('error', () => undefined)
  try {
    const code = await untilInterrupted(command(argv, io, diagnostics), io.signal, CLEANUP[argv[0] ?? ''] ?? CLEANUP_OF_OTHERS)
    return io.signal.aborted && !(argv[0] === 'run' || isWatching(argv)) ? exitOfSignal(io.signal) : code
  } catch (error) {
    return await failure(error, io, diagnostics)
  }
}

/** True for `lint --watch`, which returns the exit code of what it told last. */
function isWatching(argv: readonly string[]): boolean {
  return argv[0] === 'lint' && argv.includes('--watch')
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
  // The reader has closed the output: the command stops without a message, but it is not complete.
  if (isBrokenPipe(thrown)) return EXIT.interrupted
  const isStopped = isAuthError(thrown) && thrown.code === 'ABORTED'
  const error = io.signal.aborted && !isStopped ? new AbortedError(io.signal.reason) : known(thrown)
  await diagnostics.error(error)
  if (error.code === 'INTERNAL' && io.env.STAC_AUTH_DEBUG) await diagnostics.note(frames(thrown))
  return error.code === 'ABORTED' ? exitOfSignal(io.signal) : exitCodeOf(error.code)
}

function known(thrown: unknown): AuthError {
  if (isAuthError(thrown)) return thrown
  const open = openFilesFailure(thrown)
  if (open) return open
  // The message of a foreign error may quote a header or a body, so only its name is shown.
  const kind = thrown instanceof Error ? thrown.name : typeof thrown
  return new AuthError('INTERNAL', `internal error: unexpected ${kind}`, { hint: 'set STAC_AUTH_DEBUG=1 to show where, and report it' })
}

/** Returns the stack frames of an error without its message. */
function frames(thrown: unknown): string {
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : ''
  return stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n')
}

/** Starts the program of `run`, passes signals on to it and waits for it. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { ConfigurationError } from '../../errors.ts'
import { systemCode } from '../../node/base/index.ts'
import { usageError } from '../exit-code.ts'
import type { Io } from '../io.ts'

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/**
 * Runs a program with the standard streams of this process and returns its exit code; 128 and the number of the signal that ended it.
 * It does not outlive this process, unless that is killed.
 *
 * Errors: `USAGE` for a program that cannot be started.
 */
export async function runChild(command: readonly string[], env: Record<string, string>, io: Io): Promise<number> {
  const [program = '', ...args] = command
  const stdio = [stdioOf(io.stdin), stdioOf(io.stdout), stdioOf(io.stderr)]
  const child = started(program, args, { env, stdio, windowsHide: true })
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', (error) => reject(notStarted(program, error)))
    child.once('close', (code, signal) => resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]))
  })
  connect(child, io)
  const release = passSignals(child, hasTerminal(io))
  try {
    return await ended
  } finally {
    release()
  }
}

/** Node throws some failures instead of reporting them, such as for the batch files of Windows. */
function started(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(program, args, options)
  } catch (error) {
    throw notStarted(program, error)
  }
}

/** A stream of this process is inherited, so that a terminal stays one; another one is connected by {@link connect}. */
function stdioOf(stream: unknown): 'inherit' | 'pipe' {
  return stream === process.stdin || stream === process.stdout || stream === process.stderr ? 'inherit' : 'pipe'
}

function connect(child: ChildProcess, { stdin, stdout, stderr }: Io): void {
  // A program that does not read its input closes it.
  if (child.stdin) stdin.pipe(child.stdin.on('error', () => undefined))
  child.stdout?.pipe(stdout, { end: false })
  child.stderr?.pipe(stderr, { end: false })
}

function hasTerminal({ stdin, stdout, stderr }: Io): boolean {
  return [stdin, stdout, stderr].some(({ isTTY }) => isTTY)
}

/**
 * Passes signals on until the returned function is called. Those of the keyboard reach the program from the terminal already, and twice
 * they would mean something else.
 */
function passSignals(child: ChildProcess, terminal: boolean): () => void {
  const pass = (signal: NodeJS.Signals) => {
    if (!terminal || (signal !== 'SIGINT' && signal !== 'SIGQUIT')) child.kill(signal)
  }
  const kill = () => child.kill()
  for (const signal of PASSED_ON) process.on(signal, pass)
  process.once('exit', kill)
  return () => {
    for (const signal of PASSED_ON) process.off(signal, pass)
    process.off('exit', kill)
  }
}

const BATCH_HINT = 'put cmd /c before a batch file (.cmd, .bat)'

function notStarted(program: string, error: unknown): ConfigurationError {
  const code = systemCode(error)
  if (/\.(?:bat|cmd)$/i.test(program) && code === 'EINVAL') return usageError(`cannot start "${program}": it is a batch file`, BATCH_HINT)
  const hint = process.platform === 'win32' ? `check its name, or give its path; ${BATCH_HINT}` : 'check its name, or give its path'
  if (code === 'ENOENT') return usageError(`cannot start "${program}": the program was not found`, hint)
  const why = code === 'EACCES' ? 'it is not an executable file' : `the system refuses it (${code ?? 'unknown reason'})`
  return usageError(`cannot start "${program}": ${why}`, 'give the path of a program, and its arguments after it')
}

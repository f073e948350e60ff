import { type ChildProcess, type ExecFileException, execFile } from 'node:child_process'
import { MAX_SECRET_BYTES, sourceError } from './secret-text.ts'

/** Milliseconds a program may take. */
const TIMEOUT = 30_000

/**
 * What a program prints, at most 64 KiB. It is started directly, without a shell and without input; what it says on stderr is not shown,
 * and it does not outlive this process.
 *
 * Errors: `CREDENTIAL_SOURCE` with the program's name and what it did wrong, never with its output or arguments.
 *
 * @param hint what the program must do, for people
 */
export function runProgram([program = '', ...args]: readonly string[], hint: string, timeout = TIMEOUT): Promise<Uint8Array> {
  const limits = { timeout, maxBuffer: MAX_SECRET_BYTES, killSignal: 'SIGKILL', encoding: 'buffer', windowsHide: true } as const
  return new Promise((resolve, reject) => {
    let child: ChildProcess | undefined
    const kill = () => child?.kill('SIGKILL')
    const end = (error: ExecFileException | null, stdout: Uint8Array) => {
      process.off('exit', kill)
      if (error) reject(programError(program, problemOf(error, timeout), hint))
      else resolve(stdout)
    }
    try {
      child = execFile(program, args, limits, end)
      process.once('exit', kill)
      // A program that wants input would wait for it until the end of its time.
      child.stdin?.on('error', () => {}).end()
    } catch {
      reject(programError(program, 'cannot be started', hint))
    }
  })
}

/** The error for a program that did something else than what it was started for. Code `CREDENTIAL_SOURCE`. */
export function programError(program: string, problem: string, hint: string) {
  return sourceError(`the program ${program} ${problem}`, hint)
}

function problemOf({ code, killed, signal }: ExecFileException, timeout: number): string {
  if (String(code) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `printed more than ${MAX_SECRET_BYTES} bytes`
  if (killed) return `did not end within ${timeout / 1000} s`
  if (typeof code === 'number') return `ended with exit code ${code}`
  if (signal) return `was ended by ${signal}`
  return String(code) === 'ENOENT' ? 'was not found' : 'cannot be started'
}

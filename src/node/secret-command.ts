import { type ChildProcess, type ExecFileException, execFile } from 'node:child_process'
import { MAX_SECRET_BYTES, secretText, sourceError } from './secret-text.ts'

/** Milliseconds a program may take. */
const TIMEOUT = 30_000

/**
 * The one line that a program prints. It is started directly, without a shell and without input; what it says on stderr is not shown,
 * and it does not outlive this process.
 *
 * Errors: `CREDENTIAL_SOURCE` with the program's name and what it did wrong, never with its output or arguments.
 */
export function runSecretCommand([program = '', ...args]: readonly string[], timeout = TIMEOUT): Promise<string> {
  const limits = { timeout, maxBuffer: MAX_SECRET_BYTES, killSignal: 'SIGKILL', encoding: 'buffer', windowsHide: true } as const
  return new Promise((resolve, reject) => {
    let child: ChildProcess | undefined
    const kill = () => child?.kill('SIGKILL')
    const end = (error: ExecFileException | null, stdout: Uint8Array) => {
      process.off('exit', kill)
      if (error) reject(commandError(program, problemOf(error, timeout)))
      else resolve(oneLine(stdout, program))
    }
    try {
      child = execFile(program, args, limits, end)
      process.once('exit', kill)
      // A program that wants input would wait for it until the end of its time.
      child.stdin?.on('error', () => {}).end()
    } catch {
      reject(commandError(program, 'cannot be started'))
    }
  })
}

async function oneLine(stdout: Uint8Array, program: string): Promise<string> {
  const line = secretText(stdout, `the program ${program}`)
  if (/[\r\n]/.test(line)) throw commandError(program, 'printed more than one line')
  return line
}

function commandError(program: string, problem: string) {
  return sourceError(`the program ${program} ${problem}`, 'run it yourself: it must print the secret alone, on one line')
}

function problemOf({ code, killed, signal }: ExecFileException, timeout: number): string {
  if (String(code) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `printed more than ${MAX_SECRET_BYTES} bytes`
  if (killed) return `did not end within ${timeout / 1000} s`
  if (typeof code === 'number') return `ended with exit code ${code}`
  if (signal) return `was ended by ${signal}`
  return String(code) === 'ENOENT' ? 'was not found' : 'cannot be started'
}

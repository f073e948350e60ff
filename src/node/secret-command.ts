import { programError, runProgram } from './run-program.ts'
import { secretText } from './secret-text.ts'

const HINT = 'run it yourself: it must print the secret alone, on one line'

/** The one line that a program prints. Errors: those of {@link runProgram}, `CREDENTIAL_SOURCE` for more than one line. */
export async function runSecretCommand(command: readonly string[], timeout?: number): Promise<string> {
  const [program = ''] = command
  const line = secretText(await runProgram(command, HINT, timeout), `the program ${program}`)
  if (/[\r\n]/.test(line)) throw programError(program, 'printed more than one line', HINT)
  return line
}

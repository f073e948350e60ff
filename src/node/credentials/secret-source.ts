import { type ChildProcess, type ExecFileException, execFile } from 'node:child_process'
import { isAbsolute, join } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import type { SecretSource } from '../../auth/credential.ts'
import { AbortedError } from '../../errors.ts'
import { readRegularFile } from '../files.ts'
import { loadKeyring } from '../tokens/token-keyring.ts'
import { MAX_SECRET_BYTES, secretText, sourceError } from './secret-text.ts'
import { HOME_HINT, homeFolder } from './user-folder.ts'

/** Where the operating system's secret store keeps ours. */
const KEYRING_SERVICE = 'stac-auth'

/**
 * A function that reads a secret from its source at the first call and remembers it; simultaneous calls share one reading, a failed one
 * may be tried again.
 *
 * Errors: `CREDENTIAL_SOURCE` naming the source and what to do, never what it gave; `ABORTED` when a prompt is left.
 */
export function secretSource(source: SecretSource): () => Promise<string> {
  let reading: Promise<string> | undefined
  return () => {
    reading ??= read(source).catch((error) => {
      reading = undefined
      throw error
    })
    return reading
  }
}

async function read(source: SecretSource): Promise<string> {
  if ('env' in source) return fromEnvironment(source.env)
  if ('file' in source) return fromFile(source.file)
  if ('command' in source) return runSecretCommand(source.command)
  if ('keyring' in source) return fromKeyring(source.keyring)
  return promptSecret(source.prompt)
}

function fromEnvironment(name: string): string {
  const value = process.env[name]
  if (value === undefined)
    throw sourceError(`the environment variable ${name} is not set`, `set ${name} in the environment of this program`)
  return value
}

async function fromFile(name: string): Promise<string> {
  const path = /^~[/\\]/.test(name) ? join(homeOf(name), name.slice(2)) : name
  if (!isAbsolute(path))
    throw sourceError(`the secret file ${name} is named by a relative path`, 'use an absolute path, or one that starts with ~/')
  const file = await readRegularFile(path, MAX_SECRET_BYTES)
  if ('problem' in file)
    throw sourceError(`the secret file ${name} ${file.problem}`, `it must contain only the secret, at most ${MAX_SECRET_BYTES} bytes`)
  return secretText(file.bytes, `the secret file ${name}`)
}

/** Errors: `CREDENTIAL_SOURCE`. */
function homeOf(name: string): string {
  const home = homeFolder()
  if (home === undefined) throw sourceError(`the secret file ${name} is in the home folder, but no home folder is set`, HOME_HINT)
  return home
}

async function fromKeyring(account: string): Promise<string> {
  const { Entry } = await loadKeyring()
  let secret: string | null
  try {
    secret = new Entry(KEYRING_SERVICE, account).getPassword()
  } catch {
    throw sourceError(
      `the keyring cannot be read for the account "${account}"`,
      'unlock it, or name another source, such as { "file": "~/path" }',
    )
  }
  if (secret === null) throw sourceError(`the keyring has no entry for the service "${KEYRING_SERVICE}" and the account "${account}"`)
  return secret
}

const HINT = 'run it yourself: it must print only the secret, on one line'

/** The one line that a program prints. Errors: those of {@link runProgram}, `CREDENTIAL_SOURCE` for more than one line. */
export async function runSecretCommand(command: readonly string[], timeout?: number): Promise<string> {
  const [program = ''] = command
  const line = secretText(await runProgram(command, HINT, timeout), `the program ${program}`)
  if (/[\r\n]/.test(line)) throw programError(program, 'printed more than one line', HINT)
  return line
}

/** The terminal that is asked. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & Pick<ReadStream, 'isTTY'>
  readonly output: NodeJS.WritableStream & Pick<WriteStream, 'isTTY'>
}

/** There is one terminal: questions wait for each other. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Asks for a secret at the terminal; nothing that is typed is shown.
 *
 * Errors: `CREDENTIAL_SOURCE` where input or stderr is no terminal, `ABORTED` for Ctrl-C and Ctrl-D.
 */
export function promptSecret(label: string, terminal: Terminal = { input: process.stdin, output: process.stderr }): Promise<string> {
  const answer = last.then(() => ask(label, terminal))
  last = answer.catch(() => {})
  return answer
}

async function ask(label: string, { input, output }: Terminal): Promise<string> {
  if (!input.isTTY || !output.isTTY) {
    throw sourceError(
      `"${label}" can only be prompted for at a terminal`,
      'use the source env, file, command or keyring in programs without one',
    )
  }
  output.write(`${printable(label)}: `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: silent, terminal: true, historySize: 0 })
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve)
      lines.once('SIGINT', () => reject(new AbortedError('interrupted at the prompt')))
      lines.once('close', () => reject(new AbortedError('the prompt was closed')))
    })
  } finally {
    lines.close()
    output.write('\n')
  }
}

/** A label comes from the user's own file, yet it must not move the cursor. */
function printable(label: string): string {
  return label.replace(/[\p{Cc}\p{Cf}]/gu, '')
}

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
      // A program that reads its input would block until its timeout.
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
  if (killed) return `did not exit within ${timeout / 1000} s`
  if (typeof code === 'number') return `exited with code ${code}`
  if (signal) return `was terminated by ${signal}`
  return String(code) === 'ENOENT' ? 'was not found' : 'cannot be started'
}

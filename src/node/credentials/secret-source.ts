/** The sources of secrets that a credential may name. */
import { type ChildProcess, type ExecFileException, execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import type { SecretReader, SecretSource } from '../../auth/credential.ts'
import { AbortedError, CredentialError } from '../../errors.ts'
import { shellWord } from '../../text/shell-word.ts'
import { readRegularFile } from '../base/files.ts'
import { HOME_HINT, homeFolder } from '../base/user-folder.ts'
import type { loadKeyring } from './keyring.ts'

/** Service name of our entries in the keyring. */
export const KEYRING_SERVICE = 'stac-auth'

/**
 * Returns the reader of a secret, which caches it.
 *
 * Errors of it: `CREDENTIAL_SOURCE` with the source and a hint, never with the value; `CREDENTIAL_VALUE_INVALID` for an empty one; `ABORTED` when
 * a prompt is cancelled.
 */
export function secretSource(source: SecretSource, options: ReadingOptions = {}): SecretReader {
  return new CachedSecret(() => read(source, options))
}

/** Options for reading a secret. */
export interface ReadingOptions {
  /** Name of the field or parameter that it is for: `username` reads the login of a netrc file, all others the password. */
  readonly field?: string
  readonly load?: typeof loadKeyring | undefined
}

class CachedSecret implements SecretReader {
  reading = 0
  readonly #source: () => Promise<string>
  #value: Promise<string> | undefined
  #again: Promise<boolean> | undefined

  constructor(source: () => Promise<string>) {
    this.#source = source
  }

  read(): Promise<string> {
    this.#value ??= this.#first()
    return this.#value
  }

  async isNewer(than: number): Promise<boolean> {
    if (this.reading === 0 || this.reading > than) return this.reading > than
    this.#again ??= this.#readAgain().finally(() => {
      this.#again = undefined
    })
    return this.#again
  }

  async #first(): Promise<string> {
    try {
      const value = await this.#source()
      this.reading = 1
      return value
    } catch (error) {
      this.#value = undefined
      throw error
    }
  }

  async #readAgain(): Promise<boolean> {
    const before = await this.#value
    const value = await this.#source().catch(() => before)
    if (value === undefined || value === before) return false
    this.#value = Promise.resolve(value)
    this.reading++
    return true
  }
}

/** How each kind of source is read, by its only key: what it names, and what it is for. */
const SOURCES: { readonly [kind in Kind]: (place: PlaceOf<kind>, options: ReadingOptions) => string | Promise<string> } = {
  env: fromEnvironment,
  file: fromFile,
  command: (command) => runSecretCommand(command),
  keyring: fromKeyring,
  netrc: fromNetrc,
  prompt: (label) => promptSecret(label),
}

type Kind = SecretSource extends infer Source ? (Source extends unknown ? keyof Source : never) : never
type PlaceOf<K extends Kind> = Extract<SecretSource, { readonly [kind in K]: unknown }>[K]

async function read(source: SecretSource, options: ReadingOptions): Promise<string> {
  const [[kind, place]] = Object.entries(source) as [[Kind, never]]
  return SOURCES[kind](place, options)
}

function fromEnvironment(name: string): string {
  const value = process.env[name]
  const hint = `set ${name} in the environment of this program`
  if (value === undefined)
    throw sourceError(
      `the environment variable ${name} is not set`,
      name.startsWith('$') ? `write its name without $: ${name.slice(1)}` : hint,
    )
  return notEmpty(value, `the environment variable ${name} is empty`, hint)
}

const IN_HOME = /^~[/\\]/

export const PATH_HINT = 'use an absolute path, or one that starts with ~/'

/** Returns true for a path of a secret file that is the same in every working directory. */
export function isSecretPath(path: string): boolean {
  return IN_HOME.test(path) || isAbsolute(path)
}

/** Returns the path of a secret file, with the home folder in place of `~`. Errors: `CREDENTIAL_SOURCE` without a home folder. */
export function secretFilePath(name: string): string {
  if (!IN_HOME.test(name)) return name
  const home = homeFolder()
  if (home === undefined) throw sourceError(`the secret file ${name} cannot be read: there is no home folder`, HOME_HINT)
  return join(home, name.slice(2))
}

async function fromFile(name: string): Promise<string> {
  if (!isSecretPath(name)) throw sourceError(`the secret file ${name} is named by a relative path`, PATH_HINT)
  const path = secretFilePath(name)
  const file = await readRegularFile(path, MAX_SECRET_BYTES)
  if ('problem' in file) {
    throw sourceError(`the secret file ${name} ${file.problem}`, await fileHint(path, file.problem))
  }
  return notEmpty(secretText(file.bytes, `the secret file ${name}`), `the secret file ${name} is empty`, 'write only the secret into it')
}

async function fileHint(path: string, problem: string): Promise<string> {
  if (problem !== 'is not readable by you') return `it must contain only the secret, at most ${MAX_SECRET_BYTES} bytes`
  const owner = await stat(path).then(
    ({ uid }) => uid,
    () => undefined,
  )
  if (owner === process.geteuid?.()) return `chmod u+r ${shellWord(path)}`
  return 'it or its folder belongs to another user: ask its owner, or name a file of your own'
}

async function fromKeyring(account: string, { load }: ReadingOptions): Promise<string> {
  const keyring = await import('./keyring.ts')
  const { AsyncEntry } = await (load ?? keyring.loadKeyring)()
  let secret: string | null
  try {
    secret = await keyring.keyringAnswer(new AsyncEntry(KEYRING_SERVICE, account).getPassword())
  } catch {
    throw sourceError(
      `the secret of the account "${account}" cannot be read: the keyring is locked or unavailable`,
      'unlock it, or name another source, such as { "file": "~/path" }',
    )
  }
  if (secret === null) throw sourceError(`the keyring has no entry for the service "${KEYRING_SERVICE}" and the account "${account}"`)
  return secret
}

async function fromNetrc(machine: string, { field }: ReadingOptions): Promise<string> {
  const { readNetrc } = await import('./netrc.ts')
  const part = field === 'username' ? 'login' : 'password'
  const value = await readNetrc(machine, part)
  return notEmpty(value, `the ${part} of the machine "${machine}" in the netrc file is empty`, 'write it into the file')
}

const HINT = 'run it yourself: it must print only the secret, on one line'

/** Returns the single line that a program prints. Errors: errors of {@link runProgram}, `CREDENTIAL_SOURCE` for several lines. */
export async function runSecretCommand(command: readonly string[], timeout?: number): Promise<string> {
  const [program = ''] = command
  const line = secretText(await runProgram(command, HINT, timeout), `the program ${program}`)
  if (/[\r\n]/.test(line)) throw programError(program, 'printed more than one line', HINT)
  return notEmpty(line, `the program ${program} printed nothing`, HINT)
}

/** The terminal to prompt on. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & Pick<ReadStream, 'isTTY'>
  readonly output: NodeJS.WritableStream & Pick<WriteStream, 'isTTY'>
}

/** Prompts are shown one at a time. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Prompts for a secret at the terminal without echo.
 *
 * Errors: `CREDENTIAL_SOURCE` where standard input or stderr is not a terminal, `ABORTED` for Ctrl-C and Ctrl-D.
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
      'use the source env, file, command, keyring or netrc in programs without one',
    )
  }
  output.write(`${printable(label)}: `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: silent, terminal: true, historySize: 0 })
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', (line) => {
        // The decoder's character for other bytes.
        if (line.includes('\ufffd')) reject(sourceError('the terminal did not send UTF-8', 'set its encoding to UTF-8'))
        else resolve(line)
      })
      lines.once('SIGINT', () => reject(new AbortedError('interrupted at the prompt')))
      lines.once('close', () => reject(new AbortedError('the prompt was closed')))
    })
  } finally {
    lines.close()
    output.write('\n')
  }
}

/** Removes control characters from a label, which could move the cursor. */
function printable(label: string): string {
  return label.replace(/[\p{Cc}\p{Cf}]/gu, '')
}

/** Timeout of a program in milliseconds. */
const TIMEOUT = 30_000

/**
 * Returns the output of a program, at most 64 KiB. It is started directly, without a shell and without input; its stderr is discarded, and
 * it is killed when this process ends.
 *
 * Errors: `CREDENTIAL_SOURCE` with the name of the program and the problem, never with its output or arguments.
 *
 * @param hint what the program must do, for users
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

/** Returns the error of a failed program, with the code `CREDENTIAL_SOURCE`. */
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

/** Maximum size of a secret in bytes. A larger value is probably the wrong file or program. */
const MAX_SECRET_BYTES = 65_536

/** No secret is empty. Errors: `CREDENTIAL_VALUE_INVALID`, which names the source, because the value says nothing. */
function notEmpty(value: string, message: string, hint: string): string {
  if (value === '') throw new CredentialError('CREDENTIAL_VALUE_INVALID', message, { hint })
  return value
}

/** Decodes UTF-8 and removes one trailing line break. Errors: `CREDENTIAL_SOURCE` for other bytes, and for a byte order mark. */
export function secretText(bytes: Uint8Array, source: string): string {
  const text = decoded(bytes)
  if (text === undefined) throw sourceError(`${source} returned bytes that are not UTF-8 text`, ENCODING_HINT)
  if (text.startsWith('\ufeff')) throw sourceError(`${source} returned a byte order mark before the secret`, ENCODING_HINT)
  return text.replace(/\r?\n$/, '')
}

const ENCODING_HINT = 'save or print it as UTF-8 without a byte order mark'

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Returns the error of an unreadable secret, with the code `CREDENTIAL_SOURCE`. Its texts never contain the value. */
export function sourceError(message: string, hint?: string): CredentialError {
  return new CredentialError('CREDENTIAL_SOURCE', message, hint ? { hint } : {})
}

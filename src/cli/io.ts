/** The process of a command: streams, environment, interruption and version, as parameters for tests; how text, errors and warnings are written. */

import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import type { Warning } from '../auth/strategy.ts'
import { AbortedError, AuthError, isAuthError } from '../errors.ts'
import { systemCode, writeFailure } from '../node/base/index.ts'
import { errorText, forJson, forTerminal } from '../text/sanitize.ts'
import { adviceFor } from './exit-code.ts'
import { withProviderHint } from './setup-hint.ts'

/** An output stream; columns and rows are those of a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

/** An input stream that may be a terminal. */
export type Input = Readable & { readonly isTTY?: boolean; readonly setRawMode?: (mode: boolean) => unknown }

export interface Io {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted with the name of the signal: `SIGINT`, `SIGTERM` or `SIGHUP`. */
  readonly signal: AbortSignal
}

/** Variables that every command reads. */
export const ENVIRONMENT: readonly (readonly [name: string, meaning: string])[] = [
  ['STAC_AUTH_CREDENTIALS', "the credential file, in place of the one in the user's configuration folder"],
  ['STAC_AUTH_TOKEN', 'a bearer token for the URLs in STAC_AUTH_TOKEN_FOR'],
  ['STAC_AUTH_DEBUG', 'logs requests as --verbose does, and shows where an internal error comes from'],
  ['NO_COLOR', 'turns colours off'],
  ['FORCE_COLOR', 'turns colours on where there is no terminal'],
]

/** Returns the streams of this process. The first signal aborts the command, a second one ends the process at once. */
export function processIo(): Io {
  const interruption = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interruption.abort(name))
  const { stdin, stdout, stderr, env } = process
  return { stdin, stdout, stderr, env, signal: interruption.signal }
}

/** Writes to a stream and waits until it is flushed. Errors: `DISK_FULL`, `FILE_ACCESS`, and a broken pipe unchanged. */
export function write(stream: Writable, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(isBrokenPipe(error) ? error : writeFailure(error, 'the output')) : resolve()))
  })
}

/** Returns true for a write to a closed pipe, as after `head`. */
export function isBrokenPipe(error: unknown): boolean {
  return ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(systemCode(error))
}

/**
 * Waits for a promise; after an interruption for at most `grace` milliseconds more. Errors: those of the promise, `ABORTED`.
 */
export function untilInterrupted<T>(running: Promise<T>, signal: AbortSignal, grace = 0): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const leave = () => {
      timer = setTimeout(() => reject(new AbortedError(signal.reason)), grace)
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    running.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', leave)
      clearTimeout(timer)
    })
  })
}

export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  /** True if the locale is UTF-8. */
  readonly unicode: boolean
  /** Marks success. */
  readonly tick: string
  /** Marks failure. */
  readonly cross: string
}

/** Returns true for a terminal without `TERM=dumb`, and with `FORCE_COLOR` for any stream; never with `NO_COLOR` or `FORCE_COLOR=0`. */
export function isColoured({ env }: Pick<Io, 'env'>, stream: Output): boolean {
  if (env.NO_COLOR || env.FORCE_COLOR === '0' || env.FORCE_COLOR === 'false') return false
  return Boolean(env.FORCE_COLOR) || (stream.isTTY === true && env.TERM !== 'dumb')
}

/** Returns the style of a stream: colours if {@link isColoured}, Unicode symbols in a UTF-8 locale. */
export function styleOf(io: Pick<Io, 'env'>, stream: Output): Style {
  const { env } = io
  const coloured = isColoured(io, stream)
  const paint = (code: number) => (text: string) => (coloured ? `\x1b[${code}m${text}\x1b[0m` : text)
  const unicode = env.TERM !== 'dumb' && /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '')
  const [tick, cross] = unicode ? ['✓', '✗'] : ['+', 'x']
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33), unicode, tick, cross }
}

export interface Diagnostics {
  /** Writes an error with its hint and reasons; with JSON one line. */
  error(error: AuthError): Promise<void>
  /** Writes a warning with its hint. */
  warn(warning: Warning & { readonly hint?: string }): void
  /** Writes a note; nothing with JSON. */
  note(text: string): Promise<void>
}

/** Returns the writer of diagnostics. Failures to write to stderr are ignored. */
export function createDiagnostics(io: Io, json: boolean): Diagnostics {
  const style = styleOf(io, io.stderr)
  const print = (text: string) => write(io.stderr, `${text}\n`).catch(() => undefined)
  return {
    error: async (error) => {
      const told = error.code === 'ABORTED' ? interrupted(error) : advised(await withProviderHint(error))
      await print(json ? forJson(told) : errorText(told, style.red('error')))
    },
    warn: (warning) => {
      // The fields of an error are not all enumerable.
      const fields = isAuthError(warning) ? warning.toJSON() : warning
      void print(json ? forJson({ severity: 'warn', ...fields }) : errorText(warning, style.yellow('warning')))
    },
    note: async (text) => {
      if (!json) await print(forTerminal(text))
    },
  }
}

/** Shows each warning once, for commands that open the credentials several times. */
export function withoutRepeats(diagnostics: Diagnostics): Diagnostics {
  const warned = new Set<string>()
  return {
    ...diagnostics,
    warn: (warning) => {
      const text = JSON.stringify(warning)
      if (!warned.has(text)) diagnostics.warn(warning)
      warned.add(text)
    },
  }
}

/** Returns an error of the network or of a server with advice; it has no hint where only its code is known. */
function advised(error: AuthError): AuthError {
  const hint = error.hint === undefined && /^(?:NETWORK|TLS|TIMEOUT|HTTP)_(?!40[13]$)/.test(error.code) ? adviceFor(error.code) : undefined
  return hint === undefined ? error : withHint(error, hint)
}

/** Returns a copy of an error with another hint: of the same class, with all its fields. */
export function withHint(error: AuthError, hint: string): AuthError {
  const fields = { ...Object.getOwnPropertyDescriptors(error), hint: { value: hint, enumerable: true } }
  return Object.create(Object.getPrototypeOf(error), fields)
}

/** Returns the error of an interruption by the user; `hint` says how to resume. */
function interrupted({ hint }: AuthError): AuthError {
  return new AuthError('ABORTED', 'interrupted', hint === undefined ? {} : { hint })
}

/** Returns true if the arguments ask for JSON, before they are parsed, so that usage errors are JSON too. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const options = end < 0 ? argv : argv.slice(0, end)
  return options.some((option, index) => {
    if (option === '--json' || option === '--as=json' || option === '--format=json') return true
    return (option === '--as' || option === '--format') && options[index + 1] === 'json'
  })
}

/** The version of this package. */
export function version(): string {
  return JSON.parse(readFileSync(packageFile('package.json'), 'utf8')).version
}

/** The address of a file of this package. Where it is published, modules are joined, and have other folders: none but this one is asked. */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url)
}

/** The outside of the command line: streams, environment and interruption, as parameters so that tests can stand in. */
import type { Readable, Writable } from 'node:stream'
import { systemCode, writeFailure } from '../node/system-error.ts'

/** A stream that may be a terminal, of so many columns and rows. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

/** A stream that may be a terminal. */
export type Input = Readable & { readonly isTTY?: boolean }

export interface Io {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted with the name of the signal: `SIGINT`, `SIGTERM` or `SIGHUP`. */
  readonly signal: AbortSignal
}

/** This process. A first signal aborts what runs, a second one of its kind ends the process at once. */
export function processIo(): Io {
  const interruption = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interruption.abort(name))
  const { stdin, stdout, stderr, env } = process
  return { stdin, stdout, stderr, env, signal: interruption.signal }
}

/** Writes and waits until it is taken. Errors: `DISK_FULL`, `FILE_ACCESS`, and a broken pipe as it is. */
export function write(stream: Writable, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(isBrokenPipe(error) ? error : writeFailure(error, 'the output')) : resolve()))
  })
}

/** True for the failure of writing to a reader that has gone, as `head` does. */
export function isBrokenPipe(error: unknown): boolean {
  return ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(systemCode(error))
}

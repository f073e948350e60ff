/** Streams, environment and interruption of the command line, as parameters for tests. */
import type { Readable, Writable } from 'node:stream'
import { systemCode, writeFailure } from '../node/system-error.ts'

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

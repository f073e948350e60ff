/** Files, standard input and answers as bytes, read no further than a limit. */
import { createReadStream } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import { AbortedError, isAuthError } from '../errors.ts'
import { readFailure } from '../node/system-error.ts'
import { DOCUMENT_LIMITS } from '../stac/limits.ts'
import { tooLarge } from '../stac/parse-document.ts'
import type { Io } from './io.ts'

/** The bytes of a file, or of standard input for `-`. Errors: `FILE_ACCESS`, `DOC_TOO_LARGE` (reading stops there), `ABORTED`. */
export async function readInput(name: string, { stdin, signal }: Pick<Io, 'stdin' | 'signal'>): Promise<Uint8Array> {
  const stream = name === '-' ? stdin : createReadStream(name, { highWaterMark: 256 * 1024 })
  try {
    return await readAtMost(addAbortSignal(signal, stream), DOCUMENT_LIMITS.other)
  } catch (error) {
    if (signal.aborted) throw new AbortedError(signal.reason)
    throw isAuthError(error) ? error : readFailure(error, name)
  } finally {
    stream.destroy()
  }
}

/** All bytes of a stream. Errors: `DOC_TOO_LARGE` as soon as there are more than `limit`, else those of the stream. */
export async function readAtMost(stream: Readable | AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : (chunk as Uint8Array)
    size += bytes.byteLength
    if (size > limit) throw tooLarge(limit)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

/** Opens inputs as streams of bytes. */
import { closeSync, constants, createReadStream, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { addAbortSignal, pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Auth } from '../../auth/auth.ts'
import { AbortedError, type AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { readFailure, systemCode } from '../../node/system-error.ts'
import type { Io } from '../io.ts'
import { fetchBody } from '../read-document.ts'

/** Where the bytes of an input come from. */
export interface Source {
  readonly chunks: AsyncIterable<Uint8Array>
  /** The final URL. */
  readonly url?: string
}

/** Opens a file, a URL or stdin (`-`). Errors, here or while reading: `FILE_ACCESS`, `ABORTED`, those of `auth.fetch`. */
export async function openInput(name: string, io: Io, auth: () => Promise<Auth>): Promise<Source> {
  if (isAddress(name)) return fetchBody(name, io.signal, await auth())
  if (name === '-') return { chunks: streamed(io.stdin, name, io.signal) }
  const small = readAtOnce(name)
  return { chunks: small ? once(small) : streamed(createReadStream(name, { highWaterMark: CHUNK }), name, io.signal) }
}

/** Size limit of files that are read at once, and chunk size of larger files, in bytes. */
const SMALL = 2 ** 20

const CHUNK = 2 ** 16

/** Reads a small file at once; undefined for files to stream. Errors: `FILE_ACCESS`. */
export function readAtOnce(name: string, isRegular?: boolean): Uint8Array | undefined {
  try {
    return smallFile(name, SMALL, isRegular)
  } catch (error) {
    throw readFailure(error, name)
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Decompresses gzip. Errors: `FILE_INTEGRITY` for damaged or truncated data. */
export async function* unpacked(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  let failed: unknown
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks
    } catch (error) {
      failed = error
      throw error
    }
  }
  try {
    yield* pipeline(watched, createGunzip(), () => {}) as AsyncIterable<Uint8Array>
  } catch (error) {
    if (failed !== undefined) throw failed
    throw isAuthError(error)
      ? error
      : new IntegrityError('FILE_INTEGRITY', `cannot read "${name}" as gzip: the file is damaged or truncated`)
  }
}

async function* streamed(stream: Readable, name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of addAbortSignal(signal, stream)) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  } catch (error) {
    throw signal.aborted ? new AbortedError(signal.reason) : failureOf(error, name)
  } finally {
    stream.destroy()
  }
}

function failureOf(error: unknown, name: string): AuthError {
  return isAuthError(error) ? error : readFailure(systemCode(error) === 'ABORT_ERR' ? new Error('stopped') : error, name)
}

/**
 * Reads a regular file of at most `limit` bytes synchronously, which is much faster than a stream for small files. Undefined for larger
 * files, and for pipes and devices, which are not opened. `isRegular` skips the check of the file type.
 *
 * Throws the error of the system.
 */
function smallFile(path: string, limit: number, isRegular = false): Uint8Array | undefined {
  if (!isRegular && !statSync(path).isFile()) return undefined
  const file = openSync(path, AT_ONCE)
  try {
    const stats = fstatSync(file)
    return stats.isFile() && stats.size > 0 && stats.size <= limit ? firstBytes(file, stats.size) : undefined
  } finally {
    closeSync(file)
  }
}

/** Open flags that do not block if the file has just been replaced by a pipe. Windows has no `O_NONBLOCK`. */
const AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Reads at most `size` bytes, fewer if the file was truncated. */
function firstBytes(file: number, size: number): Uint8Array {
  const bytes = roomFor(size)
  let read = 0
  for (let more = -1; more !== 0 && read < size; read += more) more = readSync(file, bytes, read, size - read, null)
  return read < size ? bytes.subarray(0, read) : bytes
}

/** Size of a shared buffer for many files: allocating one per file costs more than reading it. */
const SLAB = 2 ** 18

let slab = Buffer.alloc(0)

/** Returns an unused part of the shared buffer. */
function roomFor(size: number): Buffer {
  if (size > SLAB / 4) return Buffer.allocUnsafe(size)
  if (size > slab.length) slab = Buffer.allocUnsafe(SLAB)
  const room = slab.subarray(0, size)
  slab = slab.subarray(size)
  return room
}

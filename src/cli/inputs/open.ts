/** Inputs as streams of bytes. */
import { closeSync, constants, createReadStream, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { addAbortSignal, pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Auth } from '../../auth/auth.ts'
import { AbortedError, type AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import { readFailure, systemCode } from '../../node/system-error.ts'
import type { Io } from '../io.ts'
import { fetchBody, isAddress } from '../read-document.ts'

/** Where the bytes of an input come from. */
export interface Source {
  readonly chunks: AsyncIterable<Uint8Array>
  /** Address that answered. */
  readonly url?: string
}

/** Opens a file, an address or standard input (`-`). Errors, here or while reading: `FILE_ACCESS`, `ABORTED`, those of `auth.fetch`. */
export async function openInput(name: string, io: Io, auth: () => Promise<Auth>): Promise<Source> {
  if (isAddress(name)) return fetchBody(name, io.signal, await auth())
  if (name === '-') return { chunks: streamed(io.stdin, name, io.signal) }
  const small = readAtOnce(name)
  return { chunks: small ? once(small) : streamed(createReadStream(name, { highWaterMark: CHUNK }), name, io.signal) }
}

/** Bytes of a file that is read in one go, and of a part of a larger one. */
const SMALL = 2 ** 20

const CHUNK = 2 ** 16

/** All bytes of a small file; undefined for what is to be streamed. Errors: `FILE_ACCESS`. */
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

/** What was packed with gzip. Errors: `FILE_INTEGRITY` when it is damaged or ends too early. */
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
    throw isAuthError(error) ? error : new IntegrityError('FILE_INTEGRITY', `"${name}" is packed with gzip, but damaged or cut short`)
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
 * All bytes of a regular file of at most `limit` bytes, at once: most files are small, and a stream costs many times what it reads of
 * them. Undefined for what is longer, and for pipes and devices, which are never waited for here. Nothing but a regular file is even
 * opened, for who writes into a pipe would notice: `isRegular` spares the question where a folder has just told.
 *
 * Throws what the system says.
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

/** Were the file replaced by a pipe since it was looked at, opening that would wait for a writer. Windows has no such flag. */
const AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Fewer than `size` where the file has become shorter. */
function firstBytes(file: number, size: number): Uint8Array {
  const bytes = roomFor(size)
  let read = 0
  for (let more = -1; more !== 0 && read < size; read += more) more = readSync(file, bytes, read, size - read, null)
  return read < size ? bytes.subarray(0, read) : bytes
}

/** Memory is taken for many files at once: to take and to collect it for each costs more than to read most of them. */
const SLAB = 2 ** 18

let slab = Buffer.alloc(0)

/** Bytes that nobody else has. */
function roomFor(size: number): Buffer {
  if (size > SLAB / 4) return Buffer.allocUnsafe(size)
  if (size > slab.length) slab = Buffer.allocUnsafe(SLAB)
  const room = slab.subarray(0, size)
  slab = slab.subarray(size)
  return room
}

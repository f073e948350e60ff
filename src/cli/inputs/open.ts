/** Inputs as streams of bytes. */
import { createReadStream } from 'node:fs'
import { addAbortSignal, pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Auth } from '../../auth/auth.ts'
import { AbortedError, type AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import { readFailure, systemCode } from '../../node/system-error.ts'
import type { Io } from '../io.ts'
import { fetchBody, isAddress } from '../read-document.ts'
import { smallFile } from './small-file.ts'

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

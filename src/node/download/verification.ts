/** Verifies bytes against known sizes and checksums. */
import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { IntegrityError } from '../../errors.ts'
import { readFailure } from '../system-error.ts'
import type { DownloadFile, Verification } from './download.ts'
import type { SelectedFile } from './selected-files.ts'

/** What is known about a file before it is fetched. */
export interface Promised {
  readonly size?: number
  readonly hash?: KnownHash
}

/** Returns what a document states; `unsupported` for a checksum that cannot be compared. */
export function promiseOf({ size, checksum }: SelectedFile): Promised & { readonly unsupported?: true } {
  const hash = checksum === undefined ? undefined : parseMultihash(checksum)
  return {
    ...(size !== undefined && { size }),
    ...(hash && { hash }),
    ...(checksum !== undefined && !hash && { unsupported: true }),
  }
}

/** Errors: `FILE_INTEGRITY` if the size differs from the document's. */
export function checkSize(file: PromisedFile, actual: number): void {
  if (file.size === undefined || file.size === actual) return
  throw broken(file, `has ${actual} bytes, its document states ${file.size}`, String(file.size), String(actual))
}

/** Errors: `FILE_INTEGRITY` if the digest differs from the known one. */
export function checkDigest(file: PromisedFile, { algorithm, digest }: KnownHash, actual: string, by: 'checksum' | 'digest'): void {
  if (actual.startsWith(digest)) return
  const who = by === 'checksum' ? 'its document' : 'its server'
  throw broken(file, `has another ${algorithm} than ${who} states`, digest, actual.slice(0, digest.length))
}

/** Returns what an existing file was compared with; undefined if it differs. Errors: `FILE_ACCESS`. */
export async function verifyPresent(path: string, bytes: number, promise: Promised): Promise<readonly Verification[] | undefined> {
  if (promise.size !== undefined && promise.size !== bytes) return undefined
  const verified: Verification[] = promise.size === undefined ? [] : ['size']
  if (!promise.hash) return verified
  const hash = createHash(promise.hash.algorithm)
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(chunk as Uint8Array)
  } catch (error) {
    throw readFailure(error, path)
  }
  return hash.digest('hex').startsWith(promise.hash.digest) ? [...verified, 'checksum'] : undefined
}

/** Describes a file, or a body that has no name yet. */
type PromisedFile = Pick<DownloadFile, 'url' | 'pointer' | 'size'> & Partial<Pick<DownloadFile, 'name'>>

function broken({ name, url, pointer }: PromisedFile, problem: string, expected: string, actual: string): IntegrityError {
  const message = name === undefined ? `the response ${problem}` : `"${name}" ${problem}; it was not saved`
  return new IntegrityError('FILE_INTEGRITY', message, { url, pointer, expected, actual })
}

/** A known hash. */
export interface KnownHash {
  /** Its name for `createHash`. */
  readonly algorithm: string
  /** Lower-case hex; a truncated digest is compared with the beginning. */
  readonly digest: string
}

/** The functions of the multicodec table that Node supports. */
const ALGORITHMS: Readonly<Record<number, string>> = {
  17: 'sha1',
  18: 'sha256',
  19: 'sha512',
  20: 'sha3-512',
  21: 'sha3-384',
  22: 'sha3-256',
  23: 'sha3-224',
  32: 'sha384',
  213: 'md5',
  4115: 'sha224',
  4116: 'sha512-224',
  4117: 'sha512-256',
  45632: 'blake2b512',
  45664: 'blake2s256',
}

/** Shorter digests prove nothing. */
const SHORTEST = 8

/** Parses a multihash in hex, as in `file:checksum`; undefined if it is malformed or cannot be computed here. */
function parseMultihash(text: string): KnownHash | undefined {
  if (!/^(?:[0-9a-f]{2}){4,200}$/i.test(text)) return undefined
  const bytes = Buffer.from(text, 'hex')
  const [code, afterCode] = varint(bytes, 0)
  const [length, start] = varint(bytes, afterCode)
  const algorithm = ALGORITHMS[code]
  if (algorithm === undefined || length < SHORTEST || bytes.length - start !== length) return undefined
  const hash = hashOf(algorithm)
  if (!hash || hash.digest().length < length) return undefined
  return { algorithm, digest: bytes.subarray(start).toString('hex') }
}

/** Undefined if this build of Node lacks it. */
function hashOf(algorithm: string): Hash | undefined {
  try {
    return createHash(algorithm)
  } catch {
    return undefined
  }
}

/** Parses a varint: seven bits per byte, the lowest first. Returns the number and its end. */
function varint(bytes: Uint8Array, start: number): readonly [number: number, end: number] {
  let value = 0
  let at = start
  for (let factor = 1; at < bytes.length; factor *= 128) {
    const byte = bytes[at++] ?? 0
    value += (byte & 0x7f) * factor
    if (byte < 0x80) break
  }
  return [value, at]
}

/** Whether bytes are what was promised. */
import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { IntegrityError } from '../../errors.ts'
import { readFailure } from '../system-error.ts'
import type { DownloadFile, Verification } from './events.ts'
import type { SelectedFile } from './selected-files.ts'

/** What is known about a file beforehand. */
export interface Promised {
  readonly size?: number
  readonly hash?: KnownHash
}

/** What a document promises; `unsupported` when it has a checksum that cannot be compared. */
export function promiseOf({ size, checksum }: SelectedFile): Promised & { readonly unsupported?: true } {
  const hash = checksum === undefined ? undefined : parseMultihash(checksum)
  return {
    ...(size !== undefined && { size }),
    ...(hash && { hash }),
    ...(checksum !== undefined && !hash && { unsupported: true }),
  }
}

/** Errors: `FILE_INTEGRITY` for another size than the document's. */
export function checkSize(file: PromisedFile, actual: number): void {
  if (file.size === undefined || file.size === actual) return
  throw broken(file, `has ${actual} bytes, its document states ${file.size}`, String(file.size), String(actual))
}

/** Errors: `FILE_INTEGRITY` for another digest than the one that is known. */
export function checkDigest(file: PromisedFile, { algorithm, digest }: KnownHash, actual: string, by: 'checksum' | 'digest'): void {
  if (actual.startsWith(digest)) return
  const who = by === 'checksum' ? 'its document' : 'its server'
  throw broken(file, `has another ${algorithm} than ${who} states`, digest, actual.slice(0, digest.length))
}

/** What speaks for a file that is there already; undefined when something speaks against it. Errors: `FILE_ACCESS`. */
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

/** A file, or without a name a body that may become none. */
type PromisedFile = Pick<DownloadFile, 'url' | 'pointer' | 'size'> & Partial<Pick<DownloadFile, 'name'>>

function broken({ name, url, pointer }: PromisedFile, problem: string, expected: string, actual: string): IntegrityError {
  const message = name === undefined ? `the response ${problem}` : `"${name}" ${problem}; it was not saved`
  return new IntegrityError('FILE_INTEGRITY', message, { url, pointer, expected, actual })
}

/** A hash that is known beforehand. */
export interface KnownHash {
  /** As `createHash` calls it. */
  readonly algorithm: string
  /** Lower-case hex; may be shorter than what the algorithm gives, then its beginning counts. */
  readonly digest: string
}

/** The functions of the table of multicodecs that Node has. */
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

/** Fewer bytes prove nothing. */
const SHORTEST = 8

/** Reads a multihash in hex, as `file:checksum` has it; undefined for one that cannot be computed here or is none. */
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

/** Undefined where this build of Node does not have it. */
function hashOf(algorithm: string): Hash | undefined {
  try {
    return createHash(algorithm)
  } catch {
    return undefined
  }
}

/** Seven bits in each byte, the lowest first; the number and where it ends. */
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

/** Whether bytes are what was promised. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { IntegrityError } from '../../errors.ts'
import { readFailure } from '../system-error.ts'
import type { DownloadFile, Verification } from './events.ts'
import { type KnownHash, parseMultihash } from './multihash.ts'
import type { WantedFile } from './wanted-files.ts'

/** What is known about a file beforehand. */
export interface Promised {
  readonly size?: number
  readonly hash?: KnownHash
}

/** What a document promises; `unsupported` when it has a checksum that cannot be compared. */
export function promiseOf({ size, checksum }: WantedFile): Promised & { readonly unsupported?: true } {
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
  throw broken(file, `has ${actual} bytes, its document says ${file.size}`, String(file.size), String(actual))
}

/** Errors: `FILE_INTEGRITY` for another digest than the one that is known. */
export function checkDigest(file: PromisedFile, { algorithm, digest }: KnownHash, actual: string, by: 'checksum' | 'digest'): void {
  if (actual.startsWith(digest)) return
  const who = by === 'checksum' ? 'its document' : 'its server'
  throw broken(file, `has another ${algorithm} than ${who} says`, digest, actual.slice(0, digest.length))
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
  const message = name === undefined ? `what came ${problem}` : `"${name}" ${problem}; nothing of it was kept`
  return new IntegrityError('FILE_INTEGRITY', message, { url, pointer, expected, actual })
}

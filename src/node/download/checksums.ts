/** Verifies bytes against the sizes and checksums that documents and servers state. */
import { createHash, type Hash } from 'node:crypto'
import { type AuthErrorFields, IntegrityError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { TRUST_SERVER } from '../base/promised-file.ts'
import type { DownloadFile } from './download.ts'
import { codingOf } from './response.ts'
import type { SelectedFile } from './selected-files.ts'

/** The known facts about a file before it is requested. */
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
export function checkSize(file: CheckedFile, actual: number): void {
  if (file.size === undefined || file.size === actual) return
  throw broken(file, `has ${actual} bytes, its document states ${file.size}`, {
    expected: String(file.size),
    actual: String(actual),
    hint: TRUST_SERVER,
  })
}

/** Errors: `FILE_INTEGRITY` if the digest differs from the known one. */
export function checkDigest(file: CheckedFile, { algorithm, digest }: KnownHash, actual: string, by: 'checksum' | 'digest'): void {
  if (actual.startsWith(digest)) return
  const who = by === 'checksum' ? 'its document' : 'its server'
  const fields = { expected: digest, actual: actual.slice(0, digest.length), ...(by === 'checksum' && { hint: TRUST_SERVER }) }
  throw broken(file, `has another ${algorithm} than ${who} states`, fields)
}

/** Describes a file, or a body that has no name yet. */
export type CheckedFile = Pick<DownloadFile, 'url' | 'pointer' | 'size'> & Partial<Pick<DownloadFile, 'name'>>

function broken({ name, url, pointer }: CheckedFile, problem: string, fields: AuthErrorFields): IntegrityError {
  const message = name === undefined ? `the response ${problem}` : `"${name}" ${problem}; it was not saved`
  return new IntegrityError('FILE_INTEGRITY', message, { url, pointer, ...fields })
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

type Fields = HttpResponse['headers']

/**
 * Returns the hash that a server states for the whole file, whichever part it sends: `Repr-Digest` (RFC 9530 §3), the MD5 that Azure and
 * Google store with an object, and the entity tag of an S3 object that was uploaded at once without a key service, which is its MD5. Other
 * entity tags of that form may be anything, so only services that identify themselves count.
 *
 * @param asSent the bytes stay in their content coding, to which all of these apply
 */
export function serverDigest(headers: Fields, status: number, asSent: boolean): KnownHash | undefined {
  const isCoded = codingOf(headers) !== undefined
  if (isCoded && !asSent) return undefined
  // Google removes a coding that the client does not accept, but still states the hash of the stored bytes.
  if (!isCoded && !isIdentity(headers.get('x-goog-stored-content-encoding'))) return representationDigest(headers)
  return representationDigest(headers) ?? objectMd5(headers, status) ?? entityTagMd5(headers)
}

function isIdentity(coding: string | null): boolean {
  return /^(?:identity)?$/i.test(coding?.trim() ?? '')
}

/** Parses `sha-256=:base64:`, among others. */
function representationDigest(headers: Fields): KnownHash | undefined {
  const field = headers.get('repr-digest') ?? ''
  for (const { form, algorithm, bytes } of REPRESENTATION) {
    const text = form.exec(field)?.[1]
    const digest = text && hexOf(text, bytes)
    if (digest) return { algorithm, digest }
  }
  return undefined
}

const REPRESENTATION = [
  { form: /(?:^|,)\s*sha-512=:([A-Za-z0-9+/]+=*):/, algorithm: 'sha512', bytes: 64 },
  { form: /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]+=*):/, algorithm: 'sha256', bytes: 32 },
] as const

/** `Content-MD5` applies to this body, so it counts for a whole one only. */
function objectMd5(headers: Fields, status: number): KnownHash | undefined {
  const google = /(?:^|,)\s*md5=([A-Za-z0-9+/]{22}==)/.exec(headers.get('x-goog-hash') ?? '')?.[1]
  const text = headers.get('x-ms-blob-content-md5') ?? google ?? (status === 200 ? headers.get('content-md5') : undefined)
  const digest = text && hexOf(text.trim(), 16)
  return digest ? { algorithm: 'md5', digest } : undefined
}

function entityTagMd5(headers: Fields): KnownHash | undefined {
  const digest = /^"([0-9a-f]{32})"$/i.exec(headers.get('etag')?.trim() ?? '')?.[1]
  const isS3 = headers.get('x-amz-request-id') !== null
  const encryption = headers.get('x-amz-server-side-encryption') ?? 'AES256'
  const isPlain = encryption === 'AES256' && headers.get('x-amz-server-side-encryption-customer-algorithm') === null
  return digest !== undefined && isS3 && isPlain ? { algorithm: 'md5', digest: digest.toLowerCase() } : undefined
}

function hexOf(base64: string, bytes: number): string | undefined {
  const value = Buffer.from(base64, 'base64')
  return value.length === bytes ? value.toString('hex') : undefined
}

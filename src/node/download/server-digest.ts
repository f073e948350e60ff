import type { HttpResponse } from '../../http/message.ts'
import type { KnownHash } from './multihash.ts'

type Fields = HttpResponse['headers']

/**
 * What a server says about the bytes of the whole file, whichever part it gives: `Repr-Digest` (RFC 9530 §3), the MD5 that Azure and
 * Google keep with an object, and the entity tag of an object of S3 that was uploaded at once and is not encrypted by a key service,
 * which is its MD5. Other entity tags of that form may be anything, so only services that say who they are count.
 *
 * @param asSent the bytes stay in their content coding, which all of these are about
 */
export function serverDigest(headers: Fields, status: number, asSent: boolean): KnownHash | undefined {
  const isCoded = !isIdentity(headers.get('content-encoding'))
  if (isCoded && !asSent) return undefined
  // Google takes off the coding of whoever does not want it, and goes on to tell the hash of what it keeps.
  if (!isCoded && !isIdentity(headers.get('x-goog-stored-content-encoding'))) return representationDigest(headers)
  return representationDigest(headers) ?? objectMd5(headers, status) ?? entityTagMd5(headers)
}

function isIdentity(coding: string | null): boolean {
  return /^(?:identity)?$/i.test(coding?.trim() ?? '')
}

/** `sha-256=:base64:`, among others. */
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

/** `Content-MD5` is of this body, so it counts for a whole one only. */
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

/** Asks a server about a file by requesting its first byte, because many signed URLs are valid for GET only. */
import { abortedBy } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { failure } from '../../http/network-error.ts'
import { sleep } from '../../net/cancellation.ts'
import type { Clock } from '../../net/clock.ts'
import { Retries, retryAfterOf, retryHint, withRetryAfter } from '../../net/retry.ts'
import type { Target } from '../../stac/target.ts'
import { answerFailure } from '../transport/answer-failure.ts'
import type { BodyPromise } from '../transport/page-refusal.ts'
import { pageRefusal } from '../transport/page-refusal.ts'
import { VERIFY_RETRIES } from './download-context.ts'
import { fileDigest } from './manifest.ts'
import type { KnownHash } from './verification.ts'

/** What a server says about a file. */
interface ServerFacts {
  /** Size in bytes. */
  readonly size?: number
  readonly etag?: string
  readonly lastModified?: string
  readonly hash?: KnownHash
}

/** How to ask a server. */
interface Inquiry {
  /** Sends a request with these headers. */
  send(headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse>
  /** Origin and path of the request. */
  readonly url: string
  readonly target?: Target
  /** What is expected of the file; an HTML page instead is an error. */
  readonly promise: BodyPromise
  readonly retries: number
  readonly clock: Clock
  readonly random: () => number
  readonly signal: AbortSignal
}

/**
 * Returns what the server says about the file, with retries.
 *
 * Errors: `AUTH_REJECTED`, `HTTP_<status>`, `LOGIN_PAGE`, `FILE_INTEGRITY` for an HTML page, those of the engine and the transport, `ABORTED`.
 */
export async function askServer(inquiry: Inquiry): Promise<ServerFacts> {
  const { clock, random, signal, url } = inquiry
  const retries = new Retries({ ...VERIFY_RETRIES, retries: inquiry.retries }, random)
  for (;;) {
    try {
      return await askedOnce(inquiry)
    } catch (thrown) {
      if (signal.aborted) throw abortedBy(signal)
      const error = failure(thrown, undefined, url)
      const delay = error.retryable ? retries.next({ hint: retryAfterOf(error), status: error.status }) : 'retries'
      if (typeof delay === 'string') throw error
      await sleep(delay, clock, signal)
    }
  }
}

/**
 * Compares a file with what its server says, by the strongest fact that both have: a hash, else the size and the recorded validators.
 *
 * @returns the difference, `undefined` for none, or `'unknown'` if there is nothing to compare
 *
 * Errors: `FILE_ACCESS`.
 */
export async function differenceFrom(
  { size, etag, lastModified, hash }: ServerFacts,
  local: { readonly path: string; readonly size: number; readonly etag?: string; readonly lastModified?: string },
): Promise<string | undefined> {
  if (size !== undefined && size !== local.size) return `it has ${local.size} bytes here and ${size} bytes on the server`
  if (hash)
    return (await fileDigest(local.path, hash.algorithm)).startsWith(hash.digest)
      ? undefined
      : `its ${hash.algorithm} is different on the server`
  if (etag !== undefined && local.etag !== undefined)
    return opaque(etag) === opaque(local.etag) ? undefined : 'its ETag is different on the server'
  if (lastModified !== undefined && local.lastModified !== undefined && lastModified !== local.lastModified)
    return `it was changed on the server: ${lastModified.slice(0, 40)}`
  return size === undefined ? 'unknown' : undefined
}

async function askedOnce({ send, url, target, promise, clock, signal }: Inquiry): Promise<ServerFacts> {
  const controller = new AbortController()
  const abort = () => controller.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    const response = await send({ 'accept-encoding': 'identity', range: 'bytes=0-0' }, controller.signal)
    const { status, headers, url: answered } = response
    if (status !== 200 && status !== 206 && status !== 416) {
      const error = await answerFailure({ status, url: answered, headers, body: response.chunks?.() ?? null }, target)
      throw withRetryAfter(error, status === 429 || status >= 500 ? retryHint(headers, clock.now()) : undefined)
    }
    const page = pageRefusal(promise, { asked: url, answered, contentType: status === 416 ? null : headers.get('content-type') })
    if (page) throw page
    return factsIn(response)
  } finally {
    signal.removeEventListener('abort', abort)
    // A server without range support would send the whole file.
    controller.abort(new Error('the rest is not needed'))
  }
}

function factsIn({ status, headers }: HttpResponse): ServerFacts {
  const isCoded = !/^(?:identity)?$/i.test(headers.get('content-encoding')?.trim() ?? '')
  const range = headers.get('content-range')?.trim() ?? ''
  const text = status === 200 ? (isCoded ? undefined : headers.get('content-length')?.trim()) : /\/(\d{1,16})$/.exec(range)?.[1]
  const [etag, lastModified] = [headers.get('etag')?.trim(), headers.get('last-modified')?.trim()]
  const hash = serverDigest(headers, status, false)
  return {
    ...(text !== undefined && /^\d{1,16}$/.test(text) && { size: Number(text) }),
    ...(etag && { etag }),
    ...(lastModified && { lastModified }),
    ...(hash && { hash }),
  }
}

/** Weak comparison (RFC 9110 §8.8.3.2), of tags of one resource at two times. */
function opaque(tag: string): string {
  return tag.replace(/^W\//, '')
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
  const isCoded = !isIdentity(headers.get('content-encoding'))
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

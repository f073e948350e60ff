/** Asks a server about a file by requesting its first byte, because many signed URLs are valid for GET only. */
import { type AuthError, abortedBy, isAuthError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { failure, isKnownFailure } from '../../http/network-error.ts'
import { sleep } from '../../net/cancellation.ts'
import type { Clock } from '../../net/clock.ts'
import { Retries, retryAfterOf, retryHint, withRetryAfter } from '../../net/retry.ts'
import type { Target } from '../../stac/target.ts'
import { answerFailure } from '../base/answer-failure.ts'
import { misfitError, type PromisedFile, pageByType } from '../base/promised-file.ts'
import { internalError } from '../base/system-error.ts'
import { VERIFY_RETRIES } from './download-context.ts'
import { type KnownHash, serverDigest } from './verification.ts'

/** The facts about a file in a response. */
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
  /** The expected content of the file; an HTML page instead is an error. */
  readonly promise: PromisedFile
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
      const error = exchangeFailure(thrown, undefined, url)
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
  local: {
    readonly digest: (algorithm: string) => Promise<string>
    readonly size: number
    readonly etag?: string
    readonly lastModified?: string
  },
): Promise<string | undefined> {
  if (size !== undefined && size !== local.size) return `it has ${local.size} bytes here and ${size} bytes on the server`
  if (hash)
    return (await local.digest(hash.algorithm)).startsWith(hash.digest) ? undefined : `its ${hash.algorithm} is different on the server`
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
      const error = await answerFailure(response, target)
      throw withRetryAfter(error, status === 429 || status >= 500 ? retryHint(headers, clock.now()) : undefined)
    }
    const contentType = status === 416 ? null : headers.get('content-type')
    const misfit = pageByType(promise, contentType)
    if (misfit) throw misfitError(misfit, promise, { asked: url, answered, contentType })
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

/** Returns the error of an exchange; `INTERNAL` for what is not of the network, such as a fault in a strategy of the caller. */
export function exchangeFailure(thrown: unknown, signal: AbortSignal | undefined, url: string): AuthError {
  if (isAuthError(thrown)) return thrown
  return signal?.aborted || isKnownFailure(thrown) ? failure(thrown, signal, url) : internalError(thrown)
}

/** Reads the response to a request for a file: checks it against the request, and its body for a minimum rate and its length. */

import { type AuthError, IntegrityError, NetworkError, TimeoutError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { failure, originOf } from '../../http/network-error.ts'
import type { Clock } from '../../net/clock.ts'
import { Retries, type RetryPolicy, retryAfterOf, retryAfterProblem } from '../../net/retry.ts'
import { unknownCoding } from '../transport/decode-body.ts'
import type { DownloadContext } from './download-context.ts'

/** The requested part: the whole file, or the bytes from an offset if the file is still the version of the validator. */
export interface Asked {
  /** 0 without a `validator` requests the whole file. */
  readonly offset: number
  /** End of the part, exclusive; absent for the rest of the file. */
  readonly end?: number
  /** For `If-Range` (RFC 9110 §13.1.5). */
  readonly validator?: string
  /** The `Last-Modified` of the version, if it is a strong validator. */
  readonly modified?: string
  /** Size of the file by an earlier response. */
  readonly size?: number
  /** The content coding of the bytes received so far. */
  readonly stored?: string
}

/** A file as its server describes it. */
export interface Delivery {
  /** Offset of the first byte of this body. */
  readonly offset: number
  /** Length of this body in bytes; absent if the server does not say. */
  readonly length?: number
  /** Size of the file in bytes; absent if the server does not say. */
  readonly size?: number
  /** Strong validator of this version: the ETag, else `Last-Modified`; absent without one. */
  readonly validator?: string
  /** The `Last-Modified` of this version, if it is a strong validator. */
  readonly modified?: string
  /** True unless the response excludes range requests. */
  readonly divisible: boolean
  /** True if the server announces range requests, or has answered one. */
  readonly offersParts: boolean
  /** True if the end of the body can be detected: by a length, chunks, or a content coding with an end marker. */
  readonly framed: boolean
  /** The unknown content codings of the body, which stay. */
  readonly coding?: string
  /** True if the body is stored in its content coding. */
  readonly asSent: boolean
  /** The content coding in which it is stored, with `asSent`. */
  readonly stored?: string
}

/** The known facts about a file besides the response. */
interface ExpectedFile {
  /** Names of the file: on the server, and locally. */
  readonly names: readonly string[]
  /** Size in bytes by the document. */
  readonly size?: number
}

const NO_VALIDATOR = 'the part in the 206 response has neither the ETag nor the Last-Modified of the first response'

/** `FILE_CHANGED` for a part that cannot be matched to the version of earlier parts: only the whole file can be requested. */
export class UnverifiedPart extends IntegrityError {
  constructor(url: string, why = NO_VALIDATOR) {
    super('FILE_CHANGED', `${bareUrl(url)} cannot be resumed: ${why}`, { url, retryable: true })
  }
}

/** Returns the request headers. Ranges apply to the coded bytes, so a range is requested without content coding (RFC 9110 §14.2). */
export function rangeHeaders({ offset, end, validator }: Pick<Asked, 'offset' | 'end' | 'validator'>): Readonly<Record<string, string>> {
  if (offset === 0 && end === undefined) return { 'accept-encoding': 'identity' }
  return {
    'accept-encoding': 'identity',
    range: `bytes=${offset}-${end === undefined ? '' : end - 1}`,
    ...(validator !== undefined && { 'if-range': validator }),
  }
}

/**
 * Returns what a successful response contains: the whole file, or exactly the requested part of the requested version (RFC 9110
 * §15.3.7.3).
 *
 * Errors: `RANGE_INVALID` for a part that was not requested, or a different one; `FILE_CHANGED` for a part of another version, as
 * {@link UnverifiedPart} if the response does not identify its version, or has another content coding.
 *
 * @param asSent the body of a whole file stays in its content coding: {@link isWantedAsSent}
 */
export function deliveryOf(
  { status, url, headers }: Pick<HttpResponse, 'status' | 'url' | 'headers'>,
  asked: Asked,
  asSent = false,
): Delivery {
  if (status !== 206) return wholeOf(headers, asSent)
  const coding = codingOf(headers)
  const range = rangeHeaders(asked).range
  if (range === undefined) throw invalid(url, 'returned a part that was not requested')
  // A response to If-Range may omit the coding (RFC 9110 §15.3.7): the entity tag decides.
  const isCodingSame = coding === asked.stored || (coding === undefined && headers.get('etag')?.trim() === asked.validator)
  if (!isCodingSame) throw new UnverifiedPart(url, 'the part in the 206 response has another content coding')
  const [, first, last, total = '*'] =
    /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16}|\*)$/i.exec(headers.get('content-range')?.trim() ?? '') ?? []
  if (first === undefined || last === undefined) throw invalidPart(url, 'returned a part without a valid Content-Range')
  requireSameVersion(headers, asked, url)
  const size = total === '*' ? asked.size : Number(total)
  const end = asked.end ?? size
  const isAsked = Number(first) === asked.offset && (end === undefined || Number(last) + 1 === end)
  if (!isAsked) throw invalidPart(url, `was asked for ${range} and returned ${first}-${last}`)
  if (asked.size !== undefined && size !== asked.size) throw invalidPart(url, `had ${asked.size} bytes before and has ${total} now`)
  const length = Number(last) + 1 - asked.offset
  const stated = lengthIn(headers)
  if (stated !== undefined && stated !== length) throw invalidPart(url, `returned ${first}-${last} with a Content-Length of ${stated}`)
  return {
    offset: asked.offset,
    length,
    divisible: true,
    offersParts: true,
    framed: true,
    asSent: true,
    ...(asked.stored !== undefined && { stored: asked.stored }),
    ...(size !== undefined && { size }),
    ...(asked.validator !== undefined && { validator: asked.validator }),
    ...(asked.modified !== undefined && { modified: asked.modified }),
  }
}

/**
 * Compares a part with the requested version. A 206 alone proves nothing: a server or a cache may ignore `If-Range`.
 *
 * Errors: `FILE_CHANGED`, as {@link UnverifiedPart} if neither field can be compared.
 */
export function requireSameVersion(
  headers: HttpResponse['headers'],
  { validator, modified }: Pick<Asked, 'validator' | 'modified'>,
  url: string,
): void {
  const tag = headers.get('etag')?.trim()
  if (tag !== undefined && isEntityTag(validator)) {
    if (tag === validator) return
    // A weak validator can only prove a different version.
    const opaque = tag.replace(/^W\//, '')
    if (isStrong(opaque) && opaque !== validator) throw fileChanged(url)
  }
  const now = headers.get('last-modified')?.trim()
  if (modified === undefined || now === undefined) throw new UnverifiedPart(url)
  if (now !== modified) throw fileChanged(url)
}

/** Returns `FILE_CHANGED`: the file on the server is a different version now. */
export function fileChanged(url: string): AuthError {
  return new IntegrityError('FILE_CHANGED', `${bareUrl(url)} changed while it was being downloaded`, { url, retryable: true })
}

/** Returns `RANGE_INVALID` with what the server did. */
export function invalid(url: string, problem: string): AuthError {
  return new NetworkError('RANGE_INVALID', `${bareUrl(url)} ${problem}`, { url })
}

/** The same for the requested range: the received bytes are kept, and the next run requests the same part. */
function invalidPart(url: string, problem: string): AuthError {
  return new NetworkError('RANGE_INVALID', `${bareUrl(url)} ${problem}`, { url, hint: 'with --no-resume the download starts from byte 0' })
}

/** Returns origin and path: queries carry signatures and keys. */
function bareUrl(url: string): string {
  return url.replace(/[?#].*$/s, '')
}

function wholeOf(headers: HttpResponse['headers'], wanted: boolean): Delivery {
  const stored = codingOf(headers)
  const coding = unknownCoding(headers.get('content-encoding'))
  const asSent = wanted || coding !== undefined
  const isUnpacked = stored !== undefined && !asSent
  const length = isUnpacked ? undefined : lengthIn(headers)
  const framed = isUnpacked || length !== undefined || /\bchunked\b/i.test(headers.get('transfer-encoding') ?? '')
  const ranges = headers.get('accept-ranges')?.trim().toLowerCase()
  return {
    offset: 0,
    divisible: !isUnpacked && ranges !== 'none',
    offersParts: stored === undefined && ranges === 'bytes',
    framed,
    asSent,
    ...(stored !== undefined && asSent && { stored }),
    ...(length !== undefined && { length, size: length }),
    ...(!isUnpacked && versionIn(headers)),
    ...(coding !== undefined && !wanted && { coding }),
  }
}

/**
 * Returns whether a body in a content coding is stored as sent, because the coding belongs to the file: its length equals the size in the
 * document, or the document has no size and the name of the file ends in that coding (`.gz` for `gzip`).
 */
export function isWantedAsSent(headers: HttpResponse['headers'], { names, size }: ExpectedFile): boolean {
  const coding = codingOf(headers)
  if (coding === undefined) return false
  const length = lengthIn(headers)
  if (size !== undefined && length !== undefined) return length === size
  const endings = ENDINGS.get(coding.replace(/^x-/, ''))
  return endings !== undefined && names.some((name) => endings.test(name))
}

/** Content codings of file names (IANA registry "HTTP Content Codings"). */
const ENDINGS: ReadonlyMap<string, RegExp> = new Map([
  ['gzip', /\.(?:gz|gzip|tgz|taz|svgz)$/i],
  ['br', /\.br$/i],
  ['zstd', /\.(?:zst|zstd|tzst)$/i],
  ['compress', /\.(?:z|taz)$/i],
])

/** Returns the content codings of a body as one text; undefined for none. */
function codingOf(headers: HttpResponse['headers']): string | undefined {
  const text = (headers.get('content-encoding') ?? '').trim().toLowerCase()
  return text === '' || text === 'identity' ? undefined : text
}

/** Returns the warning for a body that stays coded although no coding was requested. */
export function codingProblem(coding: string): string {
  return `the response has the unsupported content coding "${coding.slice(0, 40)}"`
}

/**
 * Returns the strong validator of a whole file: a strong entity tag (RFC 9110 §8.8.3), and a date that is a strong validator. The date is sent
 * only if there is no entity tag (§13.1.5).
 */
export function versionIn(headers: HttpResponse['headers']): Pick<Delivery, 'validator' | 'modified'> {
  const tag = headers.get('etag')?.trim()
  const modified = strongDate(headers)
  const validator = tag === undefined ? modified : isStrong(tag) ? tag : undefined
  return { ...(validator !== undefined && { validator, ...(modified !== undefined && { modified }) }) }
}

function isStrong(tag: string): boolean {
  return /^"[\x21\x23-\x7e\x80-\xff]*"$/.test(tag)
}

function isEntityTag(validator: string | undefined): boolean {
  return validator?.startsWith('"') ?? false
}

/** Milliseconds between `Last-Modified` and `Date` after which a second change in the same second is excluded. */
const SETTLED = 60_000

/**
 * Returns a strong `Last-Modified` (RFC 9110 §8.8.2.2): the response was made long enough after it to exclude a second change within the same
 * second, and clock differences.
 */
function strongDate(headers: HttpResponse['headers']): string | undefined {
  const modified = headers.get('last-modified')?.trim()
  const date = headers.get('date')?.trim()
  if (modified === undefined || date === undefined || !HTTP_DATE.test(modified) || !HTTP_DATE.test(date)) return undefined
  return Date.parse(date) - Date.parse(modified) >= SETTLED ? modified : undefined
}

/** The only format that senders may generate (RFC 9110 §5.6.7). */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

function lengthIn(headers: HttpResponse['headers']): number | undefined {
  const text = headers.get('content-length')?.trim()
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined
}

/** Bytes per second that must arrive on average. */
const SLOWEST = 1024

/** Inspects the first bytes of a body; returns false to see more. Throws what ends the exchange. */
type Inspect = (head: Uint8Array, isAll: boolean) => boolean

/** One exchange that can be aborted separately. */
export class Exchange {
  readonly #context: DownloadContext
  readonly #controller = new AbortController()
  readonly #abort = () => this.#controller.abort(this.#context.signal.reason)
  #timer: ReturnType<typeof setInterval> | undefined
  #came = 0
  /** Waits of our own in progress. */
  #waits = 0
  #inspect: Inspect | undefined
  #url: string

  constructor(context: DownloadContext, url: string) {
    this.#context = context
    this.#url = url
    context.signal.addEventListener('abort', this.#abort, { once: true })
    if (context.signal.aborted) this.#abort()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Registers a function that inspects the first bytes before any of them is yielded. */
  inspect(inspect: Inspect): void {
    this.#inspect = inspect
  }

  /** Yields the body. Errors: `FILE_INCOMPLETE`, `TIMEOUT_BODY`, those of the transport and of the inspection. */
  async *receive(response: HttpResponse, { length, asSent }: Pick<Delivery, 'length' | 'asSent'>): AsyncGenerator<Uint8Array, void> {
    const { stallTimeout } = this.#context.settings
    this.#url = response.url
    this.#timer = setInterval(this.#look, stallTimeout)
    this.#timer.unref()
    let bytes = 0
    try {
      for await (const chunk of inspected(chunksOf(response, asSent), this.#inspect)) {
        bytes += chunk.byteLength
        this.#came += chunk.byteLength
        if (length !== undefined && bytes > length) throw incomplete(response.url, `more than ${length} bytes were received`)
        yield chunk
        const waiting = this.#context.bandwidth?.wait(chunk.byteLength, this.signal)
        if (waiting) await this.waiting(waiting)
      }
    } catch (error) {
      throw cutShort(failure(error, this.signal, response.url), response.url)
    }
    if (length !== undefined && bytes !== length) throw incomplete(response.url, `${bytes} of ${length} bytes were received`)
  }

  /** Releases the exchange; to be called in any case. */
  end(): void {
    clearInterval(this.#timer)
    this.#context.signal.removeEventListener('abort', this.#abort)
  }

  /** Aborts the rest of the body. */
  cancel(): void {
    this.#controller.abort(new Error('the rest is not needed'))
  }

  /** Excludes time that we wait ourselves from the minimum rate. */
  async waiting(what: Promise<void>): Promise<void> {
    this.#waits++
    try {
      await what
    } finally {
      this.#waits--
      this.#came += SLOWEST * this.#context.settings.stallTimeout
    }
  }

  readonly #look = (): void => {
    const { stallTimeout } = this.#context.settings
    if (this.#waits > 0) return
    if (this.#came < leastIn(stallTimeout)) this.#controller.abort(stalled(this.#url, stallTimeout))
    this.#came = 0
  }
}

/** Bytes that must arrive within that many milliseconds. */
export function leastIn(milliseconds: number): number {
  return (SLOWEST * milliseconds) / 1000
}

/** Returns `FILE_INCOMPLETE` with what happened. */
export function incomplete(url: string, problem: string): AuthError {
  return new NetworkError('FILE_INCOMPLETE', `${bareUrl(url)}: ${problem}`, { url, retryable: true })
}

/** Maps every way in which a connection breaks off to one error. */
function cutShort(error: AuthError, url: string): AuthError {
  if (!/^(?:NETWORK_\w+|RESPONSE_TRUNCATED)$/.test(error.code)) return error
  return incomplete(url, 'the connection ended before the whole body was received')
}

function stalled(url: string, milliseconds: number): TimeoutError {
  const says = `fewer than ${SLOWEST} bytes per second were received for ${milliseconds / 1000} s`
  return new TimeoutError('TIMEOUT_BODY', `${originOf(url)}: ${says}`, { url, retryable: true })
}

function chunksOf(response: HttpResponse, asSent: boolean): AsyncIterable<Uint8Array> {
  return response.chunks?.(asSent) ?? ((response.toResponse().body ?? []) as AsyncIterable<Uint8Array>)
}

/** Yields the chunks; holds the first ones back until they were inspected. Errors: those of `inspect`. */
export async function* inspected(chunks: AsyncIterable<Uint8Array>, inspect: Inspect | undefined): AsyncGenerator<Uint8Array, void> {
  let held: Uint8Array[] | undefined = inspect && []
  for await (const chunk of chunks) {
    if (!held || !inspect) {
      yield chunk
      continue
    }
    held.push(chunk)
    if (!inspect(held.length === 1 ? chunk : Buffer.concat(held), false)) continue
    yield* held
    held = undefined
  }
  if (!held || !inspect) return
  inspect(Buffer.concat(held), true)
  yield* held
}

/** Milliseconds to wait in all, by default, for a file that its server prepares. */
export const PREPARED_WITHIN = 600_000

/** Requests for a file that the server prepares (202), as often as the time for it allows. */
const PREPARING_RETRIES: RetryPolicy = {
  retries: 999,
  backoff: { first: 2000, longest: 30_000, fixed: 0.5, random: 0.5 },
  retryAfter: { longest: 86_400_000, spread: 0.1, least: 500 },
}

/** Waits for one file that its server is still preparing (202, RFC 9110 §15.3.3). */
export class Preparation {
  readonly #limit: number
  readonly #clock: Clock
  readonly #retries: Retries
  #since: number | undefined

  /** @param limit milliseconds in all */
  constructor(limit: number, clock: Clock, random: () => number) {
    this.#limit = limit
    this.#clock = clock
    this.#retries = new Retries(PREPARING_RETRIES, random)
  }

  /** Number of waits so far. */
  get count(): number {
    return this.#retries.count
  }

  /** Returns the milliseconds until the file is requested again. Errors: `HTTP_202` when that is after the limit. */
  next(error: AuthError): number {
    const { message, url, status } = error
    this.#since ??= this.#clock.now()
    const left = this.#limit - (this.#clock.now() - this.#since)
    const hint = retryAfterOf(error)
    const delay = this.#retries.next({ hint, left })
    if (typeof delay === 'number') return delay
    const why =
      hint !== undefined && hint > this.#limit ? retryAfterProblem(hint, this.#limit) : `it was not ready within ${this.#limit / 1000} s`
    throw new NetworkError('HTTP_202', `${message}; ${why}`, {
      ...(url !== undefined && { url }),
      ...(status !== undefined && { status }),
      retryable: true,
      hint: 'run the same command later, or allow a longer time with --wait SECONDS, in code wait',
    })
  }
}

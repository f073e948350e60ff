/** The headers of a request for a file or a part of it, and what those of its response say. */

import { type AuthError, IntegrityError, NetworkError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import type { Target } from '../../stac/target.ts'
import { unknownCoding } from '../transport/decode-body.ts'
import type { PartVersion } from './destination/part-journal.ts'
import type { ManifestEntry } from './manifest.ts'
import { originAndPath } from './selected-files.ts'

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
 *
 * @param names of the file, on the server and here
 * @param size in bytes, by the document
 */
export function isWantedAsSent(headers: HttpResponse['headers'], names: readonly string[], size: number | undefined): boolean {
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
export function codingOf(headers: HttpResponse['headers']): string | undefined {
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

/** Returns the validators of a response as they are recorded, strong or not. */
export function validatorsIn(headers: HttpResponse['headers']): Pick<ManifestEntry, 'etag' | 'lastModified'> {
  const [etag, lastModified] = [headers.get('etag')?.trim(), headers.get('last-modified')?.trim()]
  return { ...(etag && { etag }), ...(lastModified && { lastModified }) }
}

/** Returns `FILE_INCOMPLETE` with what happened. */
export function incomplete(url: string, problem: string): AuthError {
  return new NetworkError('FILE_INCOMPLETE', `${bareUrl(url)}: ${problem}`, { url, retryable: true })
}

/** Returns the validators of a part that is complete: no response states them again. */
export function validatorsOf({ validator, modified }: Pick<Asked, 'validator' | 'modified'>): Pick<ManifestEntry, 'etag' | 'lastModified'> {
  return {
    ...(validator !== undefined && validator !== modified && { etag: validator }),
    ...(modified !== undefined && { lastModified: modified }),
  }
}

/**
 * Returns the version of the bytes of a response, if it can be requested again; undefined if not.
 *
 * @param suffix the extension that the server proposes; empty for none
 */
export function partVersionOf(
  { validator, modified, size, divisible, stored }: Delivery,
  target: Target,
  suffix: string,
): PartVersion | undefined {
  if (validator === undefined || !divisible) return undefined
  // A date identifies versions of one resource, and a query may select another resource.
  const isDated = modified !== undefined && !target.href.includes('?')
  if (validator === modified && !isDated) return undefined
  return {
    url: originAndPath(target).bare,
    validator,
    ...(isDated && { modified }),
    ...(size !== undefined && { size }),
    ...(stored !== undefined && { stored }),
    ...(suffix !== '' && { suffix }),
  }
}

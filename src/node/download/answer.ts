/** What an answer gives of a file, checked against what was asked for. */
import { type AuthError, IntegrityError, NetworkError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { unknownCoding } from '../transport/decode-body.ts'

/** What is asked for: all, or what begins at an offset, if the file is still the one that the validator stands for. */
export interface Asked {
  /** 0 without a `validator` asks for all. */
  readonly offset: number
  /** The byte after the last one; absent for the rest of the file. */
  readonly end?: number
  /** For `If-Range` (RFC 9110 §13.1.5). */
  readonly validator?: string
  /** The `Last-Modified` of the version, where it is strong. */
  readonly modified?: string
  /** Bytes of the whole, as an earlier answer said. */
  readonly size?: number
  /** The content coding in which the bytes are that are there. */
  readonly stored?: string
}

/** A file as its server describes it. */
export interface Delivery {
  /** Of the first byte of this body. */
  readonly offset: number
  /** Bytes of this body; absent when the server does not say. */
  readonly length?: number
  /** Bytes of the whole; absent when the server does not say. */
  readonly size?: number
  /** What tells this version from others byte for byte: the ETag, else `Last-Modified`; absent where the server gives nothing as strong. */
  readonly validator?: string
  /** The `Last-Modified` of this version, where it is strong. */
  readonly modified?: string
  /** Nothing speaks against asking for parts. */
  readonly divisible: boolean
  /** The server offers parts, or gives one. */
  readonly offersParts: boolean
  /** The end of the body shows that it is whole: a length, chunks, or a content coding with an end of its own. */
  readonly framed: boolean
  /** What the body is coded in and stays in, for it is unknown here. */
  readonly coding?: string
  /** The body is stored in its content coding. */
  readonly asSent: boolean
  /** The content coding in which it is stored, where it is `asSent`. */
  readonly stored?: string
}

/** What is known about a file beside the response. */
interface ExpectedFile {
  /** That it has on the server, and that it gets. */
  readonly names: readonly string[]
  /** Bytes, as the document promises. */
  readonly size?: number
}

/** `FILE_CHANGED` for a part that nothing ties to the version of the parts before it: only the whole file can be asked for. */
export class UnverifiedPart extends IntegrityError {
  constructor(url: string) {
    const why = 'the part in the 206 response has neither the ETag nor the Last-Modified of the first response'
    super('FILE_CHANGED', `${bareUrl(url)} cannot be resumed: ${why}`, { url, retryable: true })
  }
}

/** The header fields of a request. A part is of the file as it is, so no content coding is wanted (RFC 9110 §14.2). */
export function rangeHeaders({ offset, end, validator }: Pick<Asked, 'offset' | 'end' | 'validator'>): Readonly<Record<string, string>> {
  if (offset === 0 && end === undefined) return { 'accept-encoding': 'identity' }
  return {
    'accept-encoding': 'identity',
    range: `bytes=${offset}-${end === undefined ? '' : end - 1}`,
    ...(validator !== undefined && { 'if-range': validator }),
  }
}

/**
 * What a successful answer gives: all of the file, or exactly the part that was asked for, of the version that was asked for (RFC 9110
 * §15.3.7.3).
 *
 * Errors: `RANGE_INVALID` for a part that was not asked for, or is another one; `FILE_CHANGED` for a part of another version, as
 * {@link UnverifiedPart} where it does not say of which.
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
  // A response to If-Range may leave the coding out (RFC 9110 §15.3.7): then the entity tag tells.
  const isCodingSame = coding === asked.stored || (coding === undefined && headers.get('etag')?.trim() === asked.validator)
  if (!isCodingSame) throw invalidPart(url, 'returned a part in another content coding')
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
 * Holds a part against the version that was asked for. That a part came proves nothing: a server or a cache may not know `If-Range`.
 *
 * Errors: `FILE_CHANGED`, as {@link UnverifiedPart} where neither field can be compared.
 */
export function requireSameVersion(headers: HttpResponse['headers'], { validator, modified }: Asked, url: string): void {
  const tag = headers.get('etag')?.trim()
  if (tag !== undefined && isEntityTag(validator)) {
    if (tag === validator) return
    // A weak one proves only that it is another version.
    const opaque = tag.replace(/^W\//, '')
    if (isStrong(opaque) && opaque !== validator) throw fileChanged(url)
  }
  const now = headers.get('last-modified')?.trim()
  if (modified === undefined || now === undefined) throw new UnverifiedPart(url)
  if (now !== modified) throw fileChanged(url)
}

/** `FILE_CHANGED`: what is on the server is another file by now. */
export function fileChanged(url: string): AuthError {
  return new IntegrityError('FILE_CHANGED', `${bareUrl(url)} changed while it was being downloaded`, { url, retryable: true })
}

/** `RANGE_INVALID`, with what the server did. */
export function invalid(url: string, problem: string): AuthError {
  return new NetworkError('RANGE_INVALID', `${bareUrl(url)} ${problem}`, { url })
}

/** The same, of what was asked for: what is there stays, so the next run asks for the same part. */
function invalidPart(url: string, problem: string): AuthError {
  return new NetworkError('RANGE_INVALID', `${bareUrl(url)} ${problem}`, { url, hint: 'with --no-resume the download starts from byte 0' })
}

/** Origin and path: queries carry signatures and keys. */
export function bareUrl(url: string): string {
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
 * Whether a body in a content coding is stored as it is sent, so that its coding is the file's own: its length is the one that the document
 * promises, or the document promises none that could tell and the name of the file ends in that coding (`.gz` for `gzip`).
 */
export function isWantedAsSent(headers: HttpResponse['headers'], { names, size }: ExpectedFile): boolean {
  const coding = codingOf(headers)
  if (coding === undefined) return false
  const length = lengthIn(headers)
  if (size !== undefined && length !== undefined) return length === size
  const endings = ENDINGS[coding.replace(/^x-/, '')]
  return endings !== undefined && names.some((name) => endings.test(name))
}

/** Names of files that are in a content coding (IANA registry "HTTP Content Codings"). */
const ENDINGS: Readonly<Record<string, RegExp>> = {
  gzip: /\.(?:gz|gzip|tgz|taz|svgz)$/i,
  br: /\.br$/i,
  zstd: /\.(?:zst|zstd|tzst)$/i,
  compress: /\.(?:z|taz)$/i,
}

/** The content codings of a body, as one text; undefined for none. */
function codingOf(headers: HttpResponse['headers']): string | undefined {
  const text = (headers.get('content-encoding') ?? '').trim().toLowerCase()
  return text === '' || text === 'identity' ? undefined : text
}

/** What is odd about a body that stays coded although nobody asked for that, which mostly is of no use like that. */
export function codingProblem(coding: string): string {
  return `the response has the unsupported content coding "${coding.slice(0, 40)}"`
}

/**
 * What tells the version of a whole file from every other one: a strong entity tag (RFC 9110 §8.8.3), and a date that is a strong validator.
 * The date is asked with only where there is no entity tag at all (§13.1.5).
 */
function versionIn(headers: HttpResponse['headers']): Pick<Delivery, 'validator' | 'modified'> {
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

/** Milliseconds between `Last-Modified` and `Date` after which a file cannot have changed twice in the second of `Last-Modified`. */
const SETTLED = 60_000

/**
 * A `Last-Modified` that is strong (RFC 9110 §8.8.2.2): the response was made so long after it that neither a second change within the same
 * second nor clocks that differ are likely.
 */
function strongDate(headers: HttpResponse['headers']): string | undefined {
  const modified = headers.get('last-modified')?.trim()
  const date = headers.get('date')?.trim()
  if (modified === undefined || date === undefined || !HTTP_DATE.test(modified) || !HTTP_DATE.test(date)) return undefined
  return Date.parse(date) - Date.parse(modified) >= SETTLED ? modified : undefined
}

/** The one form that is sent (RFC 9110 §5.6.7). */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

function lengthIn(headers: HttpResponse['headers']): number | undefined {
  const text = headers.get('content-length')?.trim()
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined
}

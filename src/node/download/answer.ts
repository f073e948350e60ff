/** What an answer gives of a file, checked against what was asked for. */
import { type AuthError, IntegrityError, NetworkError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { unknownCoding } from '../decode-body.ts'

/** What is asked for: all, or what begins at an offset, if the file is still the one that the validator stands for. */
export interface Asked {
  /** 0 without a `validator` asks for all. */
  readonly offset: number
  /** The byte after the last one; absent for the rest of the file. */
  readonly end?: number
  /** For `If-Range` (RFC 9110 §13.1.5). */
  readonly validator?: string
  /** Bytes of the whole, as an earlier answer said. */
  readonly size?: number
}

/** A file as its server describes it. */
export interface Delivery {
  /** Of the first byte of this body. */
  readonly offset: number
  /** Bytes of this body; absent when the server does not say. */
  readonly length?: number
  /** Bytes of the whole; absent when the server does not say. */
  readonly size?: number
  /** What tells this version from others byte for byte; absent where the server gives nothing as strong. */
  readonly validator?: string
  /** Nothing speaks against asking for parts. */
  readonly divisible: boolean
  /** The server offers parts, or gives one. */
  readonly offersParts: boolean
  /** The end of the body shows that it is whole: a length, chunks, or a content coding with an end of its own. */
  readonly framed: boolean
  /** What the body is coded in and stays in, for it is unknown here. */
  readonly coding?: string
}

/** The header fields of a request. A part is of the file as it is, so no content coding is wanted (RFC 9110 §14.2). */
export function rangeHeaders({ offset, end, validator }: Asked): Readonly<Record<string, string>> {
  if (offset === 0 && end === undefined) return { 'accept-encoding': 'identity' }
  return {
    'accept-encoding': 'identity',
    range: `bytes=${offset}-${end === undefined ? '' : end - 1}`,
    ...(validator !== undefined && { 'if-range': validator }),
  }
}

/**
 * What a successful answer gives: all of the file, or exactly the part that was asked for.
 *
 * Errors: `RANGE_INVALID` for a part that was not asked for, or is another one; `FILE_CHANGED` for a part of another version.
 */
export function deliveryOf({ status, url, headers }: Pick<HttpResponse, 'status' | 'url' | 'headers'>, asked: Asked): Delivery {
  const coded = !/^(?:identity)?$/i.test(headers.get('content-encoding')?.trim() ?? '')
  const validator = strongValidator(headers)
  if (status !== 206) return wholeOf(headers, validator, coded)
  const range = rangeHeaders(asked).range
  if (range === undefined) throw invalid(url, 'gives a part that nobody asked for')
  if (coded) throw invalid(url, 'gives a part in a content coding')
  const [, first, last, total = '*'] =
    /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16}|\*)$/i.exec(headers.get('content-range')?.trim() ?? '') ?? []
  if (first === undefined || last === undefined) throw invalid(url, 'does not say which part it gives')
  const size = total === '*' ? asked.size : Number(total)
  const end = asked.end ?? size
  const isAsked = Number(first) === asked.offset && (end === undefined || Number(last) + 1 === end)
  if (!isAsked) throw invalid(url, `was asked for ${range} and gives ${first}-${last}`)
  if (asked.size !== undefined && size !== asked.size) throw invalid(url, `had ${asked.size} bytes before and has ${total} now`)
  const length = Number(last) + 1 - asked.offset
  const stated = lengthIn(headers)
  if (stated !== undefined && stated !== length) throw invalid(url, `gives ${first}-${last} in ${stated} bytes`)
  if (asked.validator !== undefined && validator !== undefined && validator !== asked.validator) throw fileChanged(url)
  return {
    offset: asked.offset,
    length,
    divisible: true,
    offersParts: true,
    framed: true,
    ...(size !== undefined && { size }),
    // That a part came says that the condition held.
    ...((validator ?? asked.validator) !== undefined && { validator: validator ?? asked.validator }),
  }
}

/** `FILE_CHANGED`: what is on the server is another file by now. */
export function fileChanged(url: string): AuthError {
  return new IntegrityError('FILE_CHANGED', `${bareUrl(url)} changed while it was being downloaded`, { url, retryable: true })
}

/** `RANGE_INVALID`, with what the server did. */
export function invalid(url: string, problem: string): AuthError {
  return new NetworkError('RANGE_INVALID', `${bareUrl(url)} ${problem}`, { url })
}

/** Origin and path: queries carry signatures and keys. */
export function bareUrl(url: string): string {
  return url.replace(/[?#].*$/s, '')
}

function wholeOf(headers: HttpResponse['headers'], validator: string | undefined, coded: boolean): Delivery {
  const coding = unknownCoding(headers.get('content-encoding'))
  const isUnpacked = coded && coding === undefined
  const length = isUnpacked ? undefined : lengthIn(headers)
  const framed = isUnpacked || length !== undefined || /\bchunked\b/i.test(headers.get('transfer-encoding') ?? '')
  const ranges = headers.get('accept-ranges')?.trim().toLowerCase()
  return {
    offset: 0,
    divisible: !coded && ranges !== 'none',
    offersParts: !coded && ranges === 'bytes',
    framed,
    ...(length !== undefined && { length, size: length }),
    ...(validator !== undefined && !coded && { validator }),
    ...(coding !== undefined && { coding }),
  }
}

/** What is odd about a body that stays coded although nobody asked for that, which mostly is of no use like that. */
export function codingProblem(coding: string): string {
  return `the answer is in the content coding "${coding.slice(0, 40)}", which was not asked for and cannot be taken off here`
}

/** A strong entity tag (RFC 9110 §8.8.3); dates are too coarse to tell two files of one second apart. */
function strongValidator(headers: HttpResponse['headers']): string | undefined {
  const tag = headers.get('etag')?.trim()
  return tag !== undefined && /^"[\x21\x23-\x7e\x80-\xff]*"$/.test(tag) ? tag : undefined
}

function lengthIn(headers: HttpResponse['headers']): number | undefined {
  const text = headers.get('content-length')?.trim()
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined
}

/** Answers as data. */
import { ProtocolError } from '../../errors.ts'
import type { Collected } from '../../http/body.ts'
import type { Operation } from './operation.ts'

/** Reads and writes a representation that the library does not know, such as XML. */
export interface Codec {
  parse(text: string, contentType: string): unknown
  stringify?(value: unknown): string
}

interface Decoding {
  readonly kind: NonNullable<Operation['response']>
  readonly codec: Codec | undefined
  readonly parseJson: (text: string) => unknown
  readonly url: string
  readonly scrub: (text: string) => string
  /** Nothing of the answer may be quoted. */
  readonly secret: boolean
}

const XML = /^(?:application|text)\/xml\b|\+xml\b/i

const SNIPPET = 200

/** Characters that are looked through for secrets: one that begins within the snippet is still known for one. */
const READ = 8192

/**
 * The data of a successful answer; undefined for an empty one.
 *
 * Errors: `RESPONSE_INVALID` with the content type and the first 200 characters for what is not JSON, `MEDIA_TYPE_UNSUPPORTED` for XML
 * without a codec.
 */
export function decode(answer: Collected, decoding: Decoding): unknown {
  if (decoding.kind === 'bytes') return answer.body
  if (answer.body.length === 0) return decoding.kind === 'text' ? '' : undefined
  const text = answer.text()
  if (decoding.kind === 'text') return text
  const contentType = answer.headers.get('content-type') ?? ''
  if (XML.test(contentType)) return fromXml(text, contentType, answer.status, decoding)
  try {
    return decoding.parseJson(text)
  } catch {
    throw unreadable(`is not JSON (${contentType || 'no content type'})`, text, contentType, answer.status, decoding)
  }
}

function fromXml(text: string, contentType: string, status: number, decoding: Decoding): unknown {
  const { codec, url } = decoding
  if (!codec) {
    const hint = 'set a codec for XML, or request JSON'
    const message = `${url}: the response is XML, but no codec for XML is set`
    throw Object.assign(new ProtocolError('MEDIA_TYPE_UNSUPPORTED', message, { url, status, hint }), { contentType })
  }
  try {
    return codec.parse(text, contentType)
  } catch {
    throw unreadable('cannot be read by the codec', text, contentType, status, decoding)
  }
}

function unreadable(why: string, text: string, contentType: string, status: number, { url, scrub, secret }: Decoding): ProtocolError {
  const error = new ProtocolError('RESPONSE_INVALID', `${url}: the response ${why}`, { url, status, retryable: true })
  return Object.assign(error, { contentType, snippet: secret ? '[secret]' : scrub(text.slice(0, READ)).slice(0, SNIPPET) })
}

/** A point in time as it was written, with colons, and in milliseconds since the epoch. */
export interface Instant {
  readonly iso: string
  readonly epochMs: number
}

/** True or false, 0 or 1, as text or not. */
export function asBool(value: unknown): boolean | undefined {
  if (value === true || value === 1 || value === '1' || value === 'true') return true
  return value === false || value === 0 || value === '0' || value === 'false' ? false : undefined
}

/** A decimal number as text, digit by digit as it came; numbers are written out. */
export function asDecimal(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? plainDigits(value) : undefined
  return typeof value === 'string' && /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(value) ? value : undefined
}

/** A whole number: a `number` where it is exact, else a `bigint`. */
export function asInt(value: unknown): number | bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined
  if (typeof value !== 'string' || !/^-?\d{1,40}$/.test(value)) return undefined
  const exact = Number(value)
  return Number.isSafeInteger(exact) ? exact : BigInt(value)
}

const INSTANT = /^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})$/

/** A date and time with its zone (`Z`, `+hh:mm` or `+hhmm`). */
export function asInstant(value: unknown): Instant | undefined {
  const [, time, fraction = '', zone = ''] = (typeof value === 'string' && INSTANT.exec(value)) || []
  if (time === undefined) return undefined
  const iso = `${time.replace(' ', 'T')}${fraction}${zone.replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2')}`
  const epochMs = Date.parse(iso)
  return Number.isNaN(epochMs) ? undefined : { iso, epochMs }
}

/** Milliseconds of `HH:MM:SS`; there may be more than 24 hours. */
export function asDuration(value: unknown): number | undefined {
  const [, sign, hours, minutes, seconds] = (typeof value === 'string' && /^(-?)(\d{1,9}):([0-5]\d):([0-5]\d)$/.exec(value)) || []
  if (hours === undefined) return undefined
  const whole = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -whole : whole
}

/** Without an exponent. */
function plainDigits(value: number): string {
  const text = String(value)
  if (!text.includes('e')) return text
  return Number.isInteger(value) ? BigInt(value).toString() : value.toFixed(100).replace(/0+$/, '')
}

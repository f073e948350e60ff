/** Answers as data. */
import { ProtocolError } from '../errors.ts'
import type { Collected } from '../http/collect.ts'
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
    throw unreadable(`is no JSON (${contentType || 'no content type'})`, text, contentType, answer.status, decoding)
  }
}

function fromXml(text: string, contentType: string, status: number, decoding: Decoding): unknown {
  const { codec, url } = decoding
  if (!codec) {
    const hint = 'give the client a codec for XML, or ask for JSON'
    const message = `${url}: the answer is XML, which nothing was given to read with`
    throw Object.assign(new ProtocolError('MEDIA_TYPE_UNSUPPORTED', message, { url, status, hint }), { contentType })
  }
  try {
    return codec.parse(text, contentType)
  } catch {
    throw unreadable('cannot be read by the codec', text, contentType, status, decoding)
  }
}

function unreadable(why: string, text: string, contentType: string, status: number, { url, scrub, secret }: Decoding): ProtocolError {
  const error = new ProtocolError('RESPONSE_INVALID', `${url}: the answer ${why}`, { url, status, retryable: true })
  return Object.assign(error, { contentType, snippet: secret ? '[secret]' : scrub(text.slice(0, READ)).slice(0, SNIPPET) })
}

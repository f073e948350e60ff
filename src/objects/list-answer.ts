/**
 * Answers to `ListObjectsV2` (Amazon S3 API reference), read without an XML parser: elements of known names that hold text.
 * Whatever could make two readers differ (document types, CDATA, comments) is refused.
 */
import { ProtocolError } from '../errors.ts'
import { elementText } from './element-text.ts'

/** An object as the service lists it. */
export interface ListedObject {
  /** Decoded, without leading slash. */
  readonly key: string
  /** Bytes. */
  readonly size: number
  /** As `If-Match` takes it, with its quotes. */
  readonly etag?: string
  /** ISO 8601 in UTC. */
  readonly lastModified?: string
  /** The service's own word; objects in archives cannot be fetched at once. */
  readonly storageClass?: string
}

/** One page of a list. */
export interface ListAnswer {
  readonly objects: readonly ListedObject[]
  /** What to ask for the next page with; absent on the last one. */
  readonly continuation?: string
}

/** Reads one answer; `url` is for errors. Errors: `RESPONSE_INVALID`. */
export function readListAnswer(xml: string, url: string): ListAnswer {
  const root = /^\ufeff?\s*(?:<\?xml[^<>]*\?>)?\s*<ListBucketResult[\s>]/
  if (!root.test(xml) || !xml.trimEnd().endsWith('</ListBucketResult>') || xml.includes('<!'))
    throw invalid(url, 'it is no list of objects')
  const { inner, rest } = split(xml, url)
  const isEncoded = elementText(rest, 'EncodingType') === 'url'
  const objects = inner.map((text) => objectIn(text, isEncoded, url))
  if (elementText(rest, 'IsTruncated') !== 'true') return { objects }
  const continuation = elementText(rest, 'NextContinuationToken')
  if (!continuation) throw invalid(url, 'it goes on but does not say where')
  return { objects, continuation }
}

const OPEN = '<Contents>'
const CLOSE = '</Contents>'

/** What is inside of each `Contents`, and what is outside of them all. */
function split(xml: string, url: string): { inner: readonly string[]; rest: string } {
  const inner: string[] = []
  let rest = ''
  let at = 0
  for (;;) {
    const start = xml.indexOf(OPEN, at)
    if (start < 0) return { inner, rest: rest + xml.slice(at) }
    const end = xml.indexOf(CLOSE, start)
    if (end < 0) throw invalid(url, 'it ends within an object')
    rest += xml.slice(at, start)
    inner.push(xml.slice(start + OPEN.length, end))
    at = end + CLOSE.length
  }
}

function objectIn(text: string, isEncoded: boolean, url: string): ListedObject {
  const name = elementText(text, 'Key')
  const key = name === undefined || !isEncoded ? name : decoded(name)
  const digits = elementText(text, 'Size') ?? ''
  const size = Number(digits)
  if (key === undefined || !/^\d+$/.test(digits) || !Number.isSafeInteger(size)) throw invalid(url, 'an object has no key or no size')
  const [etag, time, storageClass] = ['ETag', 'LastModified', 'StorageClass'].map((name) => elementText(text, name))
  const lastModified = time !== undefined && /^\d{4}-\d\d-\d\dT[\d:.]{8,16}Z$/.test(time) ? time : undefined
  return { key, size, ...(etag && { etag }), ...(lastModified && { lastModified }), ...(storageClass && { storageClass }) }
}

/** A name as `encoding-type=url` writes it; services differ on spaces, which are `+` or `%20`, and agree on `%2B`. */
function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function invalid(url: string, why: string): ProtocolError {
  return new ProtocolError('RESPONSE_INVALID', `the answer of ${new URL(url).host} cannot be read: ${why}`, { url })
}

/**
 * Lists the objects in a folder of an object store.
 *
 * Responses of `ListObjectsV2` (Amazon S3 API reference) are read without an XML parser, as elements with known names and text. Constructs
 * that parsers may read differently (document types, CDATA, comments) are refused.
 */

import type { Auth } from '../auth/auth.ts'
import { givenTarget } from '../auth/resource.ts'
import { type AuthError, CredentialError, NetworkError, ProtocolError, SelectionError, UnsupportedError } from '../errors.ts'
import { percentEncoded, readBody, utf8 } from '../http/message.ts'
import { elementText } from '../http/xml-text.ts'
import { listQuery, type ObjectAddress, objectAddressOf, serviceOf } from '../stac/object-address.ts'
import { type ObjectLocation, storagesOf } from '../stac/storage.ts'
import type { Target } from '../stac/target.ts'
import { canParseUrl } from '../text/can-parse-url.ts'

/** An object in a folder. */
export interface StoredObject extends ListedObject {
  /** Key relative to the folder; empty for an object that represents the folder itself. */
  readonly path: string
  /** URL for `auth.fetchFor(target)`; absent for a key that no URL can represent (`.` or `..` between slashes). */
  readonly url?: string
}

/** Options of `listObjects`. */
export interface ListOptions {
  /** Maximum number of objects; default: all. */
  readonly limit?: number
  /** Objects per request, 1 to 1000; default: chosen by the service. */
  readonly pageSize?: number
  /** Starts after this key: the last key of an interrupted list. */
  readonly startAfter?: string
  /** Aborts the list (`ABORTED`). */
  readonly signal?: AbortSignal
}

/** Maximum size of a response in bytes: more than 1000 keys of 1024 bytes, percent-encoded. */
const MAX_ANSWER = 8 * 1024 * 1024

/** Maximum number of consecutive pages without an object; some services return empty pages for deleted objects. */
const MAX_EMPTY = 100

/**
 * Yields the objects below a target that is a folder, in the order of the service (`ListObjectsV2` of Amazon S3). The folder ends with a
 * slash: `s3://eo/a` does not list objects in `s3://eo/ab/`. Requests are sent with the references and credentials of the target. A URL
 * instead of a target counts as typed by the user.
 *
 * Errors: errors of `auth.fetch`; `SCHEME_UNSUPPORTED` for a URL outside an object store; `HTTP_<status>` with the error code of the
 * service; `RESPONSE_INVALID`, `RESPONSE_TOO_LARGE` for a malformed response.
 *
 * @example
 * const open = auth.fetchFor(store)
 * for await (const { url, size } of listObjects(auth, store)) if (url) await open(url)
 */
export async function* listObjects(
  auth: Pick<Auth, 'authorize' | 'fetch' | 'fetchFor'>,
  from: Target | string | undefined,
  options: ListOptions = {},
): AsyncGenerator<StoredObject> {
  const { limit = Number.POSITIVE_INFINITY, pageSize, startAfter, signal } = options
  checkOptions(options)
  const folder = await folderOf(auth, from, signal)
  const fetch = typeof from === 'string' ? auth.fetch : auth.fetchFor(from)
  let left = limit
  let empty = 0
  let continuation: string | undefined
  while (left > 0 && empty <= MAX_EMPTY) {
    const page = Math.min(left, pageSize ?? Number.POSITIVE_INFINITY, 1000)
    const part = { prefix: folder.prefix, continuation, startAfter, ...(page < 1000 && { pageSize: page }) }
    const url = folder.root + listQuery(part)
    const response = await fetch(url, signal ? { signal } : {})
    const answered = response.url || url
    const text = utf8(await readBody((response.body ?? []) as unknown as AsyncIterable<Uint8Array>, MAX_ANSWER, answered))
    if (!response.ok) throw listRefusal(response.status, text, answered)
    const answer = readListAnswer(text, answered)
    for (const object of answer.objects.slice(0, left)) yield placed(object, folder, answered)
    left -= answer.objects.length
    empty = answer.objects.length === 0 ? empty + 1 : 0
    if (answer.continuation === undefined) return
    if (answer.continuation === continuation) throw endless(answered)
    continuation = answer.continuation
  }
  if (empty > MAX_EMPTY) throw endless(folder.root)
}

function checkOptions({ limit = 0, pageSize = 1 }: ListOptions): void {
  if (!Number.isInteger(limit) || limit < 0) throw new TypeError('limit must be a whole number')
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 1000) throw new TypeError('pageSize must be a whole number from 1 to 1000')
}

/** Throws `RESPONSE_INVALID` for an object outside the requested folder. */
function placed(object: ListedObject, { root, prefix }: Folder, url: string): StoredObject {
  const { key } = object
  if (!key.startsWith(prefix)) {
    throw new ProtocolError(
      'RESPONSE_INVALID',
      `the list of ${new URL(url).host} is invalid: it contains an object outside the requested folder`,
      { url },
    )
  }
  const segments = key.split('/')
  const path = key.slice(prefix.length)
  if (segments.some((segment) => segment === '.' || segment === '..')) return { ...object, path }
  return { ...object, path, url: root + segments.map(percentEncoded).join('/') }
}

function endless(url: string): ProtocolError {
  return new ProtocolError(
    'RESPONSE_INVALID',
    `the list of ${new URL(url).host} is invalid: it announces more objects, but consecutive pages contain none`,
    { url },
  )
}

/** An object as listed by the service. */
interface ListedObject {
  /** Decoded key without a leading slash. */
  readonly key: string
  /** Size in bytes. */
  readonly size: number
  /** Entity tag with quotes, as in `If-Match`. */
  readonly etag?: string
  /** ISO 8601 in UTC. */
  readonly lastModified?: string
  /** Storage class of the service; archived objects cannot be fetched immediately. */
  readonly storageClass?: string
}

/** One page of a list. */
interface ListAnswer {
  readonly objects: readonly ListedObject[]
  /** Token of the next page; absent on the last one. */
  readonly continuation?: string
}

/** Parses a response; `url` is for errors. Errors: `RESPONSE_INVALID`. */
function readListAnswer(xml: string, url: string): ListAnswer {
  const root = /^\s*(?:<\?xml[^<>]*\?>\s*)?<ListBucketResult[\s>]/
  if (!root.test(xml) || !xml.trimEnd().endsWith('</ListBucketResult>') || xml.includes('<!'))
    throw invalid(url, 'it is not a ListBucketResult document')
  const { inner, rest } = split(xml, url)
  const isEncoded = elementText(rest, 'EncodingType') === 'url'
  const objects = inner.map((text) => objectIn(text, isEncoded, url))
  if (elementText(rest, 'IsTruncated') !== 'true') return { objects }
  const continuation = elementText(rest, 'NextContinuationToken')
  if (!continuation) throw invalid(url, 'it is truncated but has no continuation token')
  return { objects, continuation }
}

const OPEN = '<Contents>'

const CLOSE = '</Contents>'

/** Splits the text into the contents of each `Contents` element and the rest. */
function split(xml: string, url: string): { inner: readonly string[]; rest: string } {
  const inner: string[] = []
  let rest = ''
  let at = 0
  for (;;) {
    const start = xml.indexOf(OPEN, at)
    if (start < 0) return { inner, rest: rest + xml.slice(at) }
    const end = xml.indexOf(CLOSE, start)
    if (end < 0) throw invalid(url, 'it ends inside an object')
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

/** Decodes a name in `encoding-type=url`. Services write spaces as `+` or `%20`; all of them write `+` as `%2B`. */
function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function invalid(url: string, why: string): ProtocolError {
  return new ProtocolError('RESPONSE_INVALID', `the list of ${new URL(url).host} is malformed: ${why}`, { url })
}

/** A folder of a bucket. */
interface Folder {
  /** URL of the bucket with a trailing slash. */
  readonly root: string
  /** Decoded prefix that ends with a slash; empty for the whole bucket. */
  readonly prefix: string
}

/**
 * Returns the folder of a target or URL. Sends nothing.
 *
 * Errors: errors of `auth.authorize`, `SCHEME_UNSUPPORTED` for a URL outside an object store, `URL_INVALID`.
 */
async function folderOf(auth: Pick<Auth, 'authorize'>, from: Target | string | undefined, signal?: AbortSignal): Promise<Folder> {
  if (typeof from === 'string') return folderAt(from, canParseUrl(from) ? objectAddressOf(from) : undefined)
  const target = givenTarget(from)
  const { url, location, scheme, credential } = await auth.authorize(target, signal ? { signal } : {})
  const isNative = /^s3:/i.test(target.href)
  if (location) return { root: isNative ? `s3://${location.bucket}/` : rootOf(location), prefix: folder(location.key) }
  if (scheme !== undefined && scheme !== 's3') throw noStore(url, `its scheme is ${scheme}, not s3`)
  if (scheme === undefined && credential !== undefined) throw noStore(url, `its credential "${credential}" is not for s3`)
  return folderAt(
    url,
    objectAddressOf(
      url,
      storagesOf(target).map((storage) => serviceOf(storage)),
    ),
  )
}

function folderAt(url: string, address: ObjectAddress | undefined): Folder {
  if (!address?.bucket) throw noStore(url, 'its host is not a known object store')
  const root = address.endpoint === '' ? `s3://${address.bucket}/` : rootOf(address)
  try {
    return { root, prefix: folder(decodeURIComponent(address.path)) }
  } catch {
    throw new SelectionError('URL_INVALID', 'the folder cannot be listed: its URL has a percent-encoded sequence that is not UTF-8', {
      url,
    })
  }
}

function rootOf({ endpoint, bucket, virtualHost }: Pick<ObjectLocation, 'endpoint' | 'bucket' | 'virtualHost'>): string {
  return virtualHost ? `${endpoint.replace('://', `://${bucket}.`)}/` : `${endpoint}/${bucket}/`
}

function folder(key: string): string {
  return key === '' || key.endsWith('/') ? key : `${key}/`
}

function noStore(url: string, why: string): UnsupportedError {
  return new UnsupportedError('SCHEME_UNSUPPORTED', `the folder cannot be listed: ${why}`, {
    url,
    hint: 'use an asset with an s3 scheme, or a URL like s3://bucket/folder/',
  })
}

/** Returns `AUTH_REJECTED` for a list that is not public, else `HTTP_<status>`, with the error code of the service if it has one. */
function listRefusal(status: number, body: string, url: string): AuthError {
  const { host } = new URL(url)
  const code = errorCode(body)
  const what = `${status}${code && ` ${code}`}`
  if (status !== 401 && status !== 403) {
    const retryable = status === 429 || status >= 500
    return new NetworkError(`HTTP_${status}`, `the folder cannot be listed: ${host} answered ${what}`, { url, status, retryable })
  }
  return new CredentialError('AUTH_REJECTED', `the folder cannot be listed: ${host} refuses requests without keys (${what})`, {
    url,
    status,
    hint: `add an s3 credential for this bucket of ${host} to the credential file, beside those of other services`,
  })
}

/** Returns the `Code` of an error response (Amazon S3 API reference, "Error responses") when it is a single word; else an empty string. */
function errorCode(body: string): string {
  return /^\w{1,64}$/.exec(elementText(body, 'Code') ?? '')?.[0] ?? ''
}

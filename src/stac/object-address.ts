/**
 * Parses URLs of objects in object stores. These functions are pure; whether a URL is used is decided elsewhere.
 */
import { canParseUrl } from '../text/can-parse-url.ts'
import type { Storage } from './storage.ts'

/** An object store: its endpoint, its style of bucket URLs and its region. */
export interface Service {
  /** Scheme, host, port and base path. */
  readonly endpoint?: string
  /** The bucket is the first label of the host instead of the first segment of the path. */
  readonly virtualHost?: boolean
  readonly region?: string
}

/** An object's URL taken apart. */
export interface ObjectAddress {
  /** Endpoint of the service, without trailing slash; empty for `s3://`. */
  readonly endpoint: string
  readonly virtualHost: boolean
  readonly bucket: string
  /** The path, percent-encoded as written, without leading slash. */
  readonly path: string
  /** The query with its question mark, or empty. */
  readonly search: string
}

const S3_HOST = /^(?:(.+)\.)?(s3[.-].+)$/

/** Parses a URL that is `s3://`, on one of those services, or on a host named `s3`, such as Amazon's. */
export function objectAddressOf(url: string, services: readonly Service[] = []): ObjectAddress | undefined {
  const parsed = new URL(url)
  const { protocol, host, pathname, search } = parsed
  const path = pathname.slice(1)
  if (protocol === 's3:') return { endpoint: '', virtualHost: false, bucket: host, path, search }
  for (const service of services) {
    const address = service.endpoint && addressOn(service.endpoint, service.virtualHost, parsed)
    if (address) return address
  }
  const [, bucket, name] = S3_HOST.exec(host) ?? []
  if (name === undefined) return undefined
  const endpoint = `${protocol}//${name}`
  return bucket === undefined ? inPath(endpoint, path, search) : { endpoint, virtualHost: true, bucket, path, search }
}

/** Returns the bucket and the decoded key, if the URL has them. */
export function bucketAndKey(url: string) {
  const { bucket, path = '' } = objectAddressOf(url) ?? {}
  try {
    return bucket ? { bucket, key: decodeURIComponent(path) } : undefined
  } catch {
    return undefined
  }
}

/** Treats any other host as a service with the bucket in the path. */
export function pathStyle(url: string): ObjectAddress {
  const { origin, pathname, search } = new URL(url)
  return inPath(origin, pathname.slice(1), search)
}

/** The values that v2 defines for Amazon, for documents that only name it: by `AWS` in v1, by a type without `platform` in v2. */
const AMAZON = /^(?:aws|aws-s3)$/i

const AMAZON_PLATFORM = 'https://{bucket}.s3.{region}.amazonaws.com'

/** Returns the service that a storage scheme describes: by a template with `{bucket}`, or by a plain URL (bucket in the path). */
export function serviceOf(
  { type = '', platform = AMAZON.test(type) ? AMAZON_PLATFORM : '', region }: Storage,
  service: Service = {},
): Service {
  const text = platform.replace('{region}', validRegion(service.region, region)).replace(/\/\{bucket\}\/?$/, '')
  const endpoint = text.replace('://{bucket}.', '://')
  const usable = /^https?:\/\/[^{}?#@]+$/.test(endpoint) && canParseUrl(endpoint)
  return usable ? { endpoint: new URL(endpoint).href, virtualHost: text !== endpoint, region } : {}
}

/** Returns the first valid name of a region, else `us-east-1`; those from a document or a server may be any text. */
export function validRegion(...regions: readonly (string | undefined)[]): string {
  return regions.find((region) => /^[\w-]{1,40}$/.test(region ?? '')) ?? 'us-east-1'
}

/** Returns the parsed URL if it is on that service, else undefined. */
function addressOn(
  endpoint: string,
  virtualHost: boolean | undefined,
  { protocol, host, pathname, search }: URL,
): ObjectAddress | undefined {
  const service = new URL(endpoint)
  const base = bare(service.pathname)
  if (protocol !== service.protocol || !pathname.startsWith(`${base}/`)) return undefined
  const path = pathname.slice(base.length + 1)
  if (host === service.host) return inPath(bare(endpoint), path, search)
  if (!virtualHost || !host.endsWith(`.${service.host}`)) return undefined
  return { endpoint: bare(endpoint), virtualHost, bucket: host.slice(0, -service.host.length - 1), path, search }
}

function inPath(endpoint: string, path: string, search: string): ObjectAddress {
  const [bucket = '', ...rest] = path.split('/')
  return { endpoint, virtualHost: false, bucket, path: rest.join('/'), search }
}

/** Removes trailing slashes. */
export function bare(endpoint: string): string {
  return endpoint.replace(/(?<!\/)\/+$/, '')
}

/** The part of a folder's listing to request. */
interface ListPart {
  /** The folder, decoded, ending with a slash; empty for the whole bucket. */
  readonly prefix: string
  /** Objects per response, 1 to 1000; default: that of the service. */
  readonly pageSize?: number
  /** Keys up to this one are left out. */
  readonly startAfter?: string
  /** The continuation token of the previous response. */
  readonly continuation?: string
}

/** Parameters that select a part of the listing; any other parameter may request something else from the bucket. */
const PARAMETERS = new Set(['list-type', 'prefix', 'encoding-type', 'max-keys', 'start-after', 'continuation-token'])

/** Returns the query of a listing. It requests percent-encoded names, because XML cannot contain all characters of keys. */
export function listQuery({ prefix, pageSize, startAfter, continuation }: ListPart): string {
  const parameters = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', prefix })
  if (pageSize !== undefined) parameters.set('max-keys', String(pageSize))
  if (startAfter !== undefined) parameters.set('start-after', startAfter)
  if (continuation !== undefined) parameters.set('continuation-token', continuation)
  return `?${parameters}`
}

/**
 * Returns the path of the folder that a URL lists, percent-encoded; undefined for a URL that lists no folder, or may request more.
 * A listing shows only that folder, so a pattern that allows the folder allows it.
 */
export function listedFolder({ path, search }: Pick<ObjectAddress, 'path' | 'search'>): string | undefined {
  if (path !== '' || !search.includes('list-type=2')) return undefined
  const parameters = [...new URLSearchParams(search)]
  const names = new Set(parameters.map(([name]) => name))
  if (names.size !== parameters.length || parameters.some(([name]) => !PARAMETERS.has(name))) return undefined
  const { 'list-type': type, prefix = '' } = Object.fromEntries(parameters)
  const segments = prefix.split('/')
  const isFolder = segments.pop() === '' && segments.length > 0 && segments.every((segment) => !/^\.{0,2}$/.test(segment))
  return type === '2' && isFolder ? `${segments.map(encodeURIComponent).join('/')}/` : undefined
}

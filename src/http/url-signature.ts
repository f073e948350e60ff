/**
 * Recognizes URLs that carry a signature of their own in the query. Services refuse such a request when it has credentials as well
 * ("only one auth mechanism allowed"), and the signature alone says who may read.
 */
import { endOfSpan, momentOf } from './headers.ts'

/** The signature in a URL. */
export interface UrlSignature {
  /** Who defined it; others, such as MinIO and Ceph for S3, accept the same parameters. */
  readonly kind: 'S3' | 'CloudFront' | 'Google Cloud Storage' | 'Azure Storage'
  /** Epoch milliseconds from which the service refuses it; undefined when the URL does not say it. */
  readonly expiresAt?: number
}

/** The values of parameters by name: as written, and in lower case for services that ignore case. */
interface Query {
  readonly exact: URLSearchParams
  readonly lower: URLSearchParams
}

/**
 * Returns the signature in the query of a URL, recognized by all parameters that its service requires; undefined when one is missing
 * or empty. Sources: AWS, "Authenticating requests: using query parameters" and "Signing and authenticating REST requests";
 * CloudFront, "Use signed URLs"; Google Cloud Storage, "Signed URLs" (V4 and V2); Azure Storage, "Create a service SAS",
 * "Create an account SAS".
 *
 * @param url absolute; an `s3:` URL has no host that a signature could be for
 */
export function urlSignature(url: string): UrlSignature | undefined {
  const query = queryOf(url)
  if (!query) return undefined
  for (const { kind, isComplete, ends } of FORMS) {
    if (!isComplete(query)) continue
    const known = ends(query).filter((end) => end !== undefined)
    return known.length > 0 ? { kind, expiresAt: Math.min(...known) } : { kind }
  }
  return undefined
}

/** Returns the end of the signature in a URL when it is over, in epoch milliseconds; undefined when it is valid or not known. */
export function endedAt({ expiresAt }: UrlSignature, now: number): number | undefined {
  return expiresAt !== undefined && expiresAt <= now ? expiresAt : undefined
}

/** The signatures, each with the parameters that are always in it. */
const FORMS: readonly {
  readonly kind: UrlSignature['kind']
  readonly isComplete: (query: Query) => boolean
  readonly ends: (query: Query) => readonly (number | undefined)[]
}[] = [
  {
    // Signature Version 4 and 4A. Ceph reads the names in any case.
    kind: 'S3',
    isComplete: ({ lower }) => hasAll(lower, version4('amz')),
    ends: ({ lower }) => [endOfSpan(lower.get('x-amz-date'), lower.get('x-amz-expires'))],
  },
  {
    kind: 'Google Cloud Storage',
    isComplete: ({ lower }) => hasAll(lower, version4('goog')),
    ends: ({ lower }) => [endOfSpan(lower.get('x-goog-date'), lower.get('x-goog-expires'))],
  },
  {
    // Signature Version 2.
    kind: 'S3',
    isComplete: ({ exact }) => hasAll(exact, ['AWSAccessKeyId', 'Expires', 'Signature']),
    ends: ({ exact }) => [epochSeconds(exact.get('Expires'))],
  },
  {
    kind: 'Google Cloud Storage',
    isComplete: ({ exact }) => hasAll(exact, ['GoogleAccessId', 'Expires', 'Signature']),
    ends: ({ exact }) => [epochSeconds(exact.get('Expires'))],
  },
  {
    // A canned policy is the expiry alone.
    kind: 'CloudFront',
    isComplete: ({ exact }) => hasAll(exact, ['Key-Pair-Id', 'Signature']) && hasOne(exact, ['Expires', 'Policy']),
    ends: ({ exact }) => [epochSeconds(exact.get('Expires')), cloudFrontPolicy(exact)?.end],
  },
  {
    // `si` names a policy that is stored with the container; versions before 2012 have no `sv`, queues have no `sr`.
    kind: 'Azure Storage',
    isComplete: ({ lower }) => hasAll(lower, ['sig']) && hasOne(lower, ['se', 'si']) && hasOne(lower, ['sv', 'sr']),
    ends: ({ lower }) => [momentOf(lower.get('se')), momentOf(lower.get('ske'))],
  },
]

function version4(vendor: 'amz' | 'goog'): readonly string[] {
  return ['algorithm', 'credential', 'date', 'expires', 'signedheaders', 'signature'].map((name) => `x-${vendor}-${name}`)
}

/** A custom policy of CloudFront. */
export interface CloudFrontPolicy {
  /** The URL with wildcards that it applies to. */
  readonly resource: string | undefined
  /** Epoch milliseconds. */
  readonly end: number | undefined
}

/**
 * Returns the custom policy in the query of a signed URL: one statement in base64 with `-`, `_` and `~` for `+`, `=` and `/`
 * (CloudFront, "Create a signed URL using a custom policy"). Undefined when it is missing or malformed.
 */
export function cloudFrontPolicy(query: URLSearchParams): CloudFrontPolicy | undefined {
  const text = query.get('Policy')
  if (text === null) return undefined
  const statements = member(parsed(text), 'Statement')
  if (!Array.isArray(statements) || statements.length !== 1) return undefined
  const resource = member(statements[0], 'Resource')
  const before = member(member(statements[0], 'Condition'), 'DateLessThan')
  return { resource: typeof resource === 'string' ? resource : undefined, end: momentOf(member(before, 'AWS:EpochTime')) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(atob(text.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/')))
  } catch {
    return undefined
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}

function queryOf(url: string): Query | undefined {
  const [before = ''] = url.split('#', 1)
  const start = before.indexOf('?')
  if (start < 0 || !/^https?:/i.test(url)) return undefined
  const exact = new URLSearchParams(before.slice(start + 1))
  return { exact, lower: new URLSearchParams([...exact].map(([name, value]) => [name.toLowerCase(), value])) }
}

function hasAll(query: URLSearchParams, names: readonly string[]): boolean {
  return names.every((name) => query.get(name))
}

function hasOne(query: URLSearchParams, names: readonly string[]): boolean {
  return names.some((name) => query.get(name))
}

function epochSeconds(text: string | null): number | undefined {
  return /^\d{1,12}$/.test(text ?? '') ? Number(text) * 1000 : undefined
}

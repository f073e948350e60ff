import type { Credential, Secret } from '../../auth/credential.ts'
import { matchesAny, type UrlPattern } from '../../auth/url-pattern.ts'
import { UnsupportedError } from '../../errors.ts'
import { percentEncoded } from '../../http/message.ts'
import type { S3KeySource, S3Keys } from '../../platform/platform.ts'
import {
  bare,
  listedFolder,
  type ObjectAddress,
  objectAddressOf,
  pathStyle,
  type Service,
  serviceOf,
  validRegion,
} from '../../stac/object-address.ts'
import { type ObjectLocation, type Storage, storagesOf } from '../../stac/storage.ts'
import type { Target } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'

/**
 * Resolves the endpoint of an S3 object: the URL for `s3://bucket/key`, and its region. Pure. A document only
 * proposes an endpoint; `trusts` of the caller decides whether it is used.
 */

/** The URL of a request, and the region that it is signed for. */
export interface Place extends ObjectAddress {
  readonly url: string
  readonly region: string
}

/** The sources of the endpoint. */
export interface Whereabouts {
  /** From the user's credential. */
  readonly credential: Service
  /** From the storage extension, in order of preference. */
  readonly storages: readonly Storage[]
  /** From the user's environment. */
  readonly environment: Service
  /** True when the user's allowed URLs include that endpoint. */
  trusts(place: Place): boolean
  /** Returns the region that the service named for that bucket earlier. */
  learned(address: ObjectAddress): string | undefined
}

/** The default endpoint. */
const AMAZON = 'https://s3.amazonaws.com'

const AMAZON_HOST = /^(https:\/\/s3(?:-fips)?(?:\.dualstack)?)(?:[.-]([a-z]{2}(?:-[a-z]+)+-\d))?(\.amazonaws\.com(?:\.cn)?)$/
/** Buckets that can be one label of a host name: certificates for `*.s3…` include no more. Amazon allows none that begins with `xn--`. */
const LABEL = /^(?!xn--)[a-z\d][a-z\d-]*$/

/** Returns the region in a host name of Amazon, empty when it has none; undefined for all other hosts. */
export function amazonRegion({ endpoint }: ObjectAddress): string | undefined {
  const [found, , region = ''] = AMAZON_HOST.exec(endpoint) ?? []
  return found && region
}

/** Returns the cache key of a bucket on a service; all hosts of Amazon share one. */
export function placeKey(address: ObjectAddress): string {
  return `${amazonRegion(address) === undefined ? address.endpoint : 'aws'} ${address.bucket}`
}

/**
 * Returns the location of an object. An https URL stays as it is, unless Amazon named another region for it; `s3://` uses the
 * credential's endpoint, else the first trusted storage (else the first, for the caller to refuse), else the
 * environment's endpoint, else Amazon.
 */
export function placeOf(url: string, known: Whereabouts): Place {
  const { credential, storages, environment, trusts } = known
  const services = storages.map((storage) => ({ ...serviceOf(storage, credential), region: storage.region }))
  const address = objectAddressOf(url, [credential, environment, ...services]) ?? pathStyle(url)
  if (address.endpoint) return settled(address, regionAt(address.endpoint, services), known, url)
  const at = ({ endpoint = '', virtualHost = false, region = regionAt(endpoint, services) }: Service) =>
    settled(
      Object.assign({}, address, { endpoint: bare(endpoint), virtualHost: virtualHost && isLabel(address.bucket, endpoint) }),
      region,
      known,
    )
  if (credential.endpoint) return at({ endpoint: credential.endpoint, virtualHost: credential.virtualHost })
  const proposed = services.filter(({ endpoint }) => endpoint).map(at)
  if (proposed[0]) return proposed.find(trusts) ?? proposed[0]
  return at(environment.endpoint ? { endpoint: environment.endpoint } : { endpoint: AMAZON, virtualHost: true })
}

/** True for URLs of one service; all hosts of Amazon are one. */
export function sameService(one: string, other: string): boolean {
  return bare(one) === bare(other) || (AMAZON_HOST.test(bare(one)) && AMAZON_HOST.test(bare(other)))
}

/** Returns the region that the document states for a service: from a storage there, or from one without an endpoint. */
function regionAt(endpoint: string, services: readonly Service[]): string | undefined {
  return services.find((service) => service.endpoint === undefined || sameService(service.endpoint, endpoint))?.region
}

/** False for hosts that are IP addresses, which have no names below them. */
function isLabel(bucket: string, endpoint: string): boolean {
  return LABEL.test(bucket) && canParseUrl(below(endpoint, bucket))
}

function below(endpoint: string, bucket: string): string {
  return endpoint.replace('://', `://${bucket}.`)
}

/** Chooses the region: learnt, host, credential, storage, environment, default. On Amazon the host follows it. */
function settled(
  address: ObjectAddress,
  stated: string | undefined,
  { credential, environment, learned }: Whereabouts,
  url?: string,
): Place {
  const named = learned(address)
  const host = amazonRegion(address)
  const region = validRegion(named, host, credential.region, stated, environment.region)
  if (url !== undefined && (named === undefined || host === undefined)) return Object.assign({}, address, { region, url })
  const endpoint = address.endpoint.replace(
    AMAZON_HOST,
    (_, service, _region, domain) => `${service}.${region}${domain}${china(region, domain)}`,
  )
  const { virtualHost, bucket, path, search } = address
  const base = virtualHost ? below(endpoint, bucket) : `${endpoint}/${bucket}`
  return { endpoint, virtualHost, bucket, path, search, region, url: `${base}/${path}${search}` }
}

/** Returns the location for callers. Errors: `URL_INVALID` for a key that is not UTF-8. */
export function locationOf({ bucket, path, endpoint, region, virtualHost, url }: Place, requesterPays = false): ObjectLocation {
  try {
    return { bucket, key: decodeURIComponent(path), endpoint, region, virtualHost, requesterPays }
  } catch {
    throw new UnsupportedError('URL_INVALID', 'the key of this URL is malformed: a percent sequence is not UTF-8', { url })
  }
}

function china(region: string, domain: string): string {
  return region.startsWith('cn-') && !domain.endsWith('.cn') ? '.cn' : ''
}

/** Where an `s3` credential may be used: its `sendTo`, and what an allowed bucket means in https URLs. */

/** A credential of type `s3` after reading. */
export interface S3Credential extends Credential {
  readonly accessKeyId?: Secret
  readonly secretAccessKey?: Secret
  readonly sessionToken?: Secret
  /** The source of the keys when the credential has none. */
  readonly keys?: S3KeySource
  readonly profile?: string
  /** A service that returns keys, called with the credential named in `with`. */
  readonly credentialsUrl?: string
  readonly method?: string
  readonly body?: ReadonlyMap<string, unknown>
  readonly bodyType?: 'json' | 'form'
  /** Places of the keys in the answer of that service, by name. */
  readonly fields?: ReadonlyMap<string, string>
  /** Where a pair of keys is deleted at a logout; contains `{accessKeyId}`. */
  readonly releaseUrl?: string
  readonly releaseMethod?: string
  /** A security token service that gives keys for the token of the login named in `with`. */
  readonly stsEndpoint?: string
  readonly roleArn?: string
  readonly roleSessionName?: string
  readonly durationSeconds?: number
  readonly webIdentityToken?: 'id_token' | 'access_token'
  readonly with?: string
  /** True: the keys may come from the metadata service of the machine. */
  readonly instanceMetadata?: boolean
  readonly region?: string
  readonly endpoint?: string
  readonly virtualHost?: boolean
  /** True: the user agrees to pay for transfers. */
  readonly requesterPays?: boolean
}

/** Stands for the access key id in `releaseUrl`; parsers of URLs encode braces in paths. */
export const ID_PLACE = /(?:\{|%7B)accessKeyId(?:\}|%7D)/i

/** Platforms with another API: `AZURE` in v1, `ms-azure` in v2. */
const FOREIGN = /azure/i

/** True when the credential may be used for a target at that URL. A bucket's https URLs count in the credential's region only. */
export function covers(credential: S3Credential, url: string, target?: Target): boolean {
  if (coversKey(credential.sendTo, new URL(url))) return true
  if (url.startsWith('s3:')) return reachesPlace(credential, placeFor(credential, url, target))
  const address = objectAddressOf(url)
  const region = address && amazonRegion(address)
  return reaches(credential, url) && (!credential.region || !region || credential.region === region)
}

/** True when a signature may be sent to that URL: it is allowed, or is a URL of an allowed bucket. */
export function reaches(credential: S3Credential, url: string): boolean {
  const address = objectAddressOf(url, [credential, { endpoint: credential.keys?.endpoint }])
  return isAllowed(credential, address) || coversKey(credential.sendTo, new URL(address ? subjectOf(url, address) : url))
}

/** Like `reaches`, for a location that is parsed already. */
export function reachesPlace(credential: S3Credential, place: Place): boolean {
  if (isAllowed(credential, place) || coversKey(credential.sendTo, new URL(place.url))) return true
  return place.search !== '' && reaches(credential, place.url)
}

/** Returns the location of an object for that credential. */
export function placeFor(
  credential: S3Credential,
  url: string,
  target?: Target,
  keys?: S3Keys,
  learned: (address: ObjectAddress) => string | undefined = () => undefined,
): Place {
  const environment = { endpoint: credential.keys?.endpoint, region: credential.keys?.region ?? keys?.region }
  return placeOf(url, {
    credential,
    environment,
    storages: storagesFor(target),
    learned,
    trusts: (place) => reachesPlace(credential, place),
  })
}

/**
 * True when the document names the credential's own service as one that has the target. Several services may have buckets of one name,
 * so this decides between credentials that allow the same bucket. Without an endpoint the service is Amazon.
 */
export function suits(credential: S3Credential, target: Target): boolean {
  const { endpoint = credential.keys?.endpoint ?? AMAZON } = credential
  return storagesFor(target).some((storage) => sameService(serviceOf(storage, credential).endpoint ?? '', endpoint))
}

/** Returns the S3 storages of a target; one with the name of an auth scheme of the target comes first. */
export function storagesFor(target: Target | undefined): readonly Storage[] {
  if (!target) return []
  const named = ({ key }: Storage) => key !== undefined && target.refs.includes(key)
  const storages = storagesOf(target).filter(({ type = '' }) => !FOREIGN.test(type))
  return storages.length < 2 ? storages : [...storages.filter(named), ...storages.filter((storage) => !named(storage))]
}

/** True for a URL of an allowed bucket on the service that the bucket belongs to. */
function isAllowed(credential: S3Credential, address: ObjectAddress | undefined): boolean {
  if (address === undefined || !isOwn(credential, address)) return false
  return coversKey(credential.sendTo, new URL(`s3://${address.bucket}/${listedFolder(address) ?? address.path}`))
}

/** Returns the URL that patterns are compared with: for a folder listing the folder itself. */
function subjectOf(url: string, address: ObjectAddress): string {
  const folder = listedFolder(address)
  const [start = ''] = url.split('?', 1)
  return folder !== undefined && address.bucket !== '' && start.endsWith('/') ? start + folder : url
}

/** True when the address is on the bucket's service: the user's endpoint, else Amazon in the user's partition. */
function isOwn({ endpoint = '', keys, region = keys?.region ?? '' }: S3Credential, address: ObjectAddress): boolean {
  if (!/^[\w.-]+$/.test(address.bucket)) return false
  const service = endpoint || keys?.endpoint
  if (service) return address.endpoint === service.replace(/\/+$/, '')
  return amazonRegion(address) !== undefined && address.endpoint.endsWith('.cn') === region.startsWith('cn-')
}

/**
 * True when a pattern matches that URL, both decoded as an object store does: `year=2026` and `year%3D2026` are one key,
 * and a signature is made for the second. Encoded slashes, backslashes and dots stay encoded.
 */
function coversKey(sendTo: readonly UrlPattern[], url: URL): boolean {
  if (matchesAny(sendTo, url)) return true
  const odd = sendTo.filter(({ path }) => ODD.test(path))
  if (odd.length === 0) return false
  const same = new URL(url)
  same.pathname = canonical(url.pathname)
  return matchesAny(
    odd.map((pattern) => ({ ...pattern, path: canonical(pattern.path) })),
    same,
  )
}

const ODD = /[^\w\-.~/]/

function canonical(path: string): string {
  return path.replace(/[^\w\-.~/%]+/g, percentEncoded).replace(/%[\da-f]{2}/gi, (octet) => {
    const char = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
    return /[\w\-~]/.test(char) ? char : octet.toUpperCase()
  })
}

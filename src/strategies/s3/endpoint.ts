/**
 * Resolves the endpoint of an S3 object: the URL for `s3://bucket/key`, and its region. Pure. A document only
 * proposes an endpoint; `trusts` of the caller decides whether it is used.
 */

import { UnsupportedError } from '../../errors.ts'
import { bare, type ObjectAddress, objectAddressOf, pathStyle, type Service, serviceOf, validRegion } from '../../stac/object-address.ts'
import type { ObjectLocation, Storage } from '../../stac/storage.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'

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
export const AMAZON = 'https://s3.amazonaws.com'

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

/**
 * Where an S3 object lies: the address that a request for `s3://bucket/key` goes to, and its region. Pure. What a document
 * says is only proposed here; whether it is used is decided by the `trusts` of the caller.
 */
import { UnsupportedError } from '../../errors.ts'
import { bare, type ObjectAddress, objectAddressOf, pathStyle, type Service, serviceOf, validRegion } from '../../stac/object-address.ts'
import type { ObjectLocation, Storage } from '../../stac/storage.ts'

/** Where a request goes, and the region that it is signed for. */
export interface Place extends ObjectAddress {
  readonly url: string
  readonly region: string
}

/** What may decide on the place. */
export interface Whereabouts {
  /** What the user's credential says. */
  readonly credential: Service
  /** What the storage extension says, in the order of preference. */
  readonly storages: readonly Storage[]
  /** What the user's environment says. */
  readonly environment: Service
  /** True when the user's grants cover that place. */
  trusts(place: Place): boolean
  /** The region that the service named for that bucket earlier. */
  learned(address: ObjectAddress): string | undefined
}

/** Where buckets are of which nobody says anything else. */
export const AMAZON = 'https://s3.amazonaws.com'

const AMAZON_HOST = /^(https:\/\/s3(?:-fips)?(?:\.dualstack)?)(?:[.-]([a-z]{2}(?:-[a-z]+)+-\d))?(\.amazonaws\.com(?:\.cn)?)$/
/** Buckets that can be one label of a host name: certificates for `*.s3…` cover no more. Amazon allows none that begins with `xn--`. */
const LABEL = /^(?!xn--)[a-z\d][a-z\d-]*$/

/** The region that a host of Amazon's has in its name, empty when it has none; undefined on all other hosts. */
export function amazonRegion({ endpoint }: ObjectAddress): string | undefined {
  const [found, , region = ''] = AMAZON_HOST.exec(endpoint) ?? []
  return found && region
}

/** Names a bucket on a service, for what is remembered about it: one name for all hosts of Amazon. */
export function placeKey(address: ObjectAddress): string {
  return `${amazonRegion(address) === undefined ? address.endpoint : 'aws'} ${address.bucket}`
}

/**
 * The place of an object. An https address stays as it is, unless Amazon named another region for it; `s3://` goes to the
 * credential's endpoint, else to the first storage that is trusted (else to the first, for the caller to refuse), else to the
 * environment's endpoint, else to Amazon.
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

/** True for addresses of one service; all hosts of Amazon are one. */
export function sameService(one: string, other: string): boolean {
  return bare(one) === bare(other) || (AMAZON_HOST.test(bare(one)) && AMAZON_HOST.test(bare(other)))
}

/** The region that the document states for a service: by a storage there, or by one that does not say where it is. */
function regionAt(endpoint: string, services: readonly Service[]): string | undefined {
  return services.find((service) => service.endpoint === undefined || sameService(service.endpoint, endpoint))?.region
}

/** Below a number there are no host names. */
function isLabel(bucket: string, endpoint: string): boolean {
  return LABEL.test(bucket) && URL.canParse(below(endpoint, bucket))
}

function below(endpoint: string, bucket: string): string {
  return endpoint.replace('://', `://${bucket}.`)
}

/** Decides on the region: learned, host, credential, storage, environment, default. On Amazon's hosts the host follows it. */
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

/** What callers are told about a place. Errors: `URL_INVALID` for a key that is no UTF-8. */
export function locationOf({ bucket, path, endpoint, region, virtualHost, url }: Place, requesterPays = false): ObjectLocation {
  try {
    return { bucket, key: decodeURIComponent(path), endpoint, region, virtualHost, requesterPays }
  } catch {
    throw new UnsupportedError('URL_INVALID', 'this address has no key that can be read: a percent sequence is no UTF-8', { url })
  }
}

function china(region: string, domain: string): string {
  return region.startsWith('cn-') && !domain.endsWith('.cn') ? '.cn' : ''
}

/** Where an `s3` entry may be used: its `sendTo`, and what a granted bucket means in https addresses. */
import type { Credential } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import { matchesAny, type UrlPattern } from '../../auth/url-pattern.ts'
import { percentEncoded } from '../../http/message.ts'
import type { S3KeySource, S3Keys } from '../../platform/platform.ts'
import { listedFolder, type ObjectAddress, objectAddressOf, serviceOf } from '../../stac/object-address.ts'
import { type Storage, storagesOf } from '../../stac/storage.ts'
import type { Target } from '../../stac/target.ts'
import { AMAZON, amazonRegion, type Place, placeOf, sameService } from './endpoint.ts'

/** An entry of type `s3` after reading. */
export interface S3Credential extends Credential {
  readonly accessKeyId?: Secret
  readonly secretAccessKey?: Secret
  readonly sessionToken?: Secret
  /** Where the keys come from when the entry has none. */
  readonly keys?: S3KeySource
  readonly profile?: string
  /** A service that gives temporary keys, asked as the entry named in `with`. */
  readonly credentialsUrl?: string
  readonly with?: string
  /** The keys may come from the metadata service of the machine. */
  readonly instanceMetadata?: boolean
  readonly region?: string
  readonly endpoint?: string
  readonly virtualHost?: boolean
  /** The user agrees to pay for transfers. */
  readonly requesterPays?: boolean
}

/** Platforms with an interface of their own: `AZURE` in v1, `ms-azure` in v2. */
const FOREIGN = /azure/i

/** True when the entry may be used for a target at that address. A bucket's https addresses count in the entry's region only. */
export function covers(credential: S3Credential, url: string, target?: Target): boolean {
  if (coversKey(credential.sendTo, new URL(url))) return true
  if (url.startsWith('s3:')) return reachesPlace(credential, placeFor(credential, url, target))
  const address = objectAddressOf(url)
  const region = address && amazonRegion(address)
  return reaches(credential, url) && (!credential.region || !region || credential.region === region)
}

/** True when a signature may go to that address: it is granted, or it is an address of a granted bucket. */
export function reaches(credential: S3Credential, url: string): boolean {
  const address = objectAddressOf(url, [credential, { endpoint: credential.keys?.endpoint }])
  return isGranted(credential, address) || coversKey(credential.sendTo, new URL(address ? subjectOf(url, address) : url))
}

/** The same for a place, which is taken apart already. */
export function reachesPlace(credential: S3Credential, place: Place): boolean {
  if (isGranted(credential, place) || coversKey(credential.sendTo, new URL(place.url))) return true
  return place.search !== '' && reaches(credential, place.url)
}

/** The place of an object for that entry. */
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
 * True when the document names the entry's own service as one that has the target. Buckets of one name lie on several services,
 * so it decides between entries that are granted the same bucket. Without an endpoint the service is Amazon.
 */
export function suits(credential: S3Credential, target: Target): boolean {
  const { endpoint = credential.keys?.endpoint ?? AMAZON } = credential
  return storagesFor(target).some((storage) => sameService(serviceOf(storage, credential).endpoint ?? '', endpoint))
}

/** The storages of a target that speak S3; one that has the name of an auth scheme of the target goes first. */
export function storagesFor(target: Target | undefined): readonly Storage[] {
  if (!target) return []
  const named = ({ key }: Storage) => key !== undefined && target.refs.includes(key)
  const storages = storagesOf(target).filter(({ type = '' }) => !FOREIGN.test(type))
  return storages.length < 2 ? storages : [...storages.filter(named), ...storages.filter((storage) => !named(storage))]
}

/** True for an address of a granted bucket on the service that the bucket belongs to. */
function isGranted(credential: S3Credential, address: ObjectAddress | undefined): boolean {
  if (address === undefined || !isOwn(credential, address)) return false
  return coversKey(credential.sendTo, new URL(`s3://${address.bucket}/${listedFolder(address) ?? address.path}`))
}

/** What a grant is held against: for the list of a folder the folder itself, which stands where the query begins. */
function subjectOf(url: string, address: ObjectAddress): string {
  const folder = listedFolder(address)
  const [start = ''] = url.split('?', 1)
  return folder !== undefined && address.bucket !== '' && start.endsWith('/') ? start + folder : url
}

/** A bucket's name belongs to one service: the user's endpoint, else Amazon in the user's part of the world. */
function isOwn({ endpoint = '', keys, region = keys?.region ?? '' }: S3Credential, address: ObjectAddress): boolean {
  if (!/^[\w.-]+$/.test(address.bucket)) return false
  const service = endpoint || keys?.endpoint
  if (service) return address.endpoint === service.replace(/\/+$/, '')
  return amazonRegion(address) !== undefined && address.endpoint.endsWith('.cn') === region.startsWith('cn-')
}

/**
 * True when a pattern covers that address, both read as an object store reads them: `year=2026` and `year%3D2026` are one key,
 * and a signature is made for the second. Encoded slashes, backslashes and dots stay as they are and keep their meaning for grants.
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

/** Where an `s3` entry may be used: its `sendTo`, and what a granted bucket means in https addresses. */
import type { Credential } from '../../auth/credential.ts'
import { coveredBy } from '../../auth/grant.ts'
import type { Secret } from '../../auth/secret.ts'
import type { S3KeySource, S3Keys } from '../../platform/platform.ts'
import { type ObjectAddress, objectAddressOf } from '../../stac/object-address.ts'
import { type Storage, storagesOf } from '../../stac/storage.ts'
import type { Target } from '../../stac/target.ts'
import { amazonRegion, type Place, placeOf } from './endpoint.ts'

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

/** True when the entry may be used for a target at that address. A bucket's https addresses count in the entry's region only. */
export function covers(entry: S3Credential, url: string, target?: Target): boolean {
  if (coveredBy(entry.sendTo, new URL(url))) return true
  if (url.startsWith('s3:')) return reachesPlace(entry, placeFor(entry, url, target))
  const address = objectAddressOf(url)
  const region = address && amazonRegion(address)
  return reaches(entry, url) && (!entry.region || !region || entry.region === region)
}

/** True when a signature may go to that address: it is granted, or it is an address of a granted bucket. */
export function reaches(entry: S3Credential, url: string): boolean {
  return coveredBy(entry.sendTo, new URL(url)) || isGranted(entry, objectAddressOf(url, [entry, { endpoint: entry.keys?.endpoint }]))
}

/** The same for a place, which is taken apart already. */
export function reachesPlace(entry: S3Credential, place: Place): boolean {
  return isGranted(entry, place) || coveredBy(entry.sendTo, new URL(place.url))
}

/** The place of an object for that entry. */
export function placeFor(
  entry: S3Credential,
  url: string,
  target?: Target,
  keys?: S3Keys,
  learned: (address: ObjectAddress) => string | undefined = () => undefined,
): Place {
  const environment = { endpoint: entry.keys?.endpoint, region: entry.keys?.region ?? keys?.region }
  return placeOf(url, { entry, environment, storages: storagesFor(target), learned, trusts: (place) => reachesPlace(entry, place) })
}

/** The storages of a target; one that has the name of an auth scheme of the target goes first. */
export function storagesFor(target: Target | undefined): readonly Storage[] {
  if (!target) return []
  const named = ({ key }: Storage) => key !== undefined && target.refs.includes(key)
  const storages = storagesOf(target)
  return storages.length < 2 ? storages : [...storages.filter(named), ...storages.filter((storage) => !named(storage))]
}

/** True for an address of a granted bucket on the service that the bucket belongs to. */
function isGranted(entry: S3Credential, address: ObjectAddress | undefined): boolean {
  return address !== undefined && isOwn(entry, address) && coveredBy(entry.sendTo, new URL(`s3://${address.bucket}/${address.path}`))
}

/** A bucket's name belongs to one service: the user's endpoint, else Amazon in the user's part of the world. */
function isOwn({ endpoint = '', keys, region = keys?.region ?? '' }: S3Credential, address: ObjectAddress): boolean {
  if (!/^[\w.-]+$/.test(address.bucket)) return false
  const service = endpoint || keys?.endpoint
  if (service) return address.endpoint === service.replace(/\/+$/, '')
  return amazonRegion(address) !== undefined && address.endpoint.endsWith('.cn') === region.startsWith('cn-')
}

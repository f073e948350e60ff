/** Recognises STAC documents, also those with a wrong `type`. */

import { nearMiss } from '../text/suggest.ts'
import { declarationsOf, isObject, kindOf, own, type StacDocument, wrappedMember } from './document.ts'

export type DocumentType = 'Feature' | 'Collection' | 'Catalog' | 'FeatureCollection'

/**
 * True for what claims to be a STAC document or a list of some: it declares or uses the authentication extension, has a
 * `stac_version`, or its `type` and members are those of STAC. GeoJSON and configuration files claim nothing.
 */
export function claimsStac(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(claimsStac)
  if (!isObject(value)) return false
  if (typeof own(value, 'stac_version') === 'string' || usesExtension(value)) return true
  switch (kindOf(value)) {
    case 'collection':
    case 'catalog':
      return Array.isArray(own(value, 'links'))
    case 'item':
      return isObject(own(value, 'assets')) || Array.isArray(own(value, 'stac_extensions'))
    default:
      return innerDocuments(value).some(claimsStac)
  }
}

/** True for an object that declares the authentication extension or has a member `auth:…` where a STAC document may have one. */
export function usesExtension(object: StacDocument): boolean {
  if (declarationsOf(object).length > 0) return true
  // A JSON Schema names the fields that it describes.
  if (Object.hasOwn(object, '$schema')) return false
  const assets = [own(object, 'assets'), own(object, 'item_assets')].flatMap(membersOf)
  const alternates = assets.flatMap((asset) => membersOf(own(asset, 'alternate')))
  const links = own(object, 'links')
  const holders = [object, own(object, 'properties'), own(object, 'summaries'), ...assets, ...alternates]
  return [...holders, ...(Array.isArray(links) ? links : [])].some(hasAuthMember)
}

function membersOf(value: unknown): readonly unknown[] {
  return isObject(value) ? Object.values(value) : []
}

function hasAuthMember(value: unknown): boolean {
  return isObject(value) && Object.keys(value).some((name) => name.startsWith('auth:'))
}

/**
 * The type that an object most likely is meant to have: the one that its `type` nearly says, else the one that its members belong to.
 * Undefined for an object whose `type` is right, and for one that neither uses the extension nor holds documents that do.
 */
export function likelyType(object: StacDocument): DocumentType | undefined {
  if (kindOf(object) !== 'unknown') return undefined
  const inner = innerDocuments(object)
  if (!usesExtension(object) && !inner.some((one) => isObject(one) && usesExtension(one))) return undefined
  const type = own(object, 'type')
  const near = typeof type === 'string' ? nearMiss(type, TYPES, ALIASES) : undefined
  return (near as DocumentType | undefined) ?? typeOfMembers(object)
}

const TYPES: readonly DocumentType[] = ['Feature', 'Collection', 'Catalog', 'FeatureCollection']

const ALIASES: Readonly<Record<string, DocumentType>> = {
  Item: 'Feature',
  item: 'Feature',
  'STAC Item': 'Feature',
  Catalogue: 'Catalog',
  catalogue: 'Catalog',
  ItemCollection: 'FeatureCollection',
}

function typeOfMembers(object: StacDocument): DocumentType {
  const has = (...names: readonly string[]) => names.some((name) => Object.hasOwn(object, name))
  if (has('features')) return 'FeatureCollection'
  if (has('geometry', 'properties')) return 'Feature'
  if (has('extent', 'license', 'summaries', 'item_assets')) return 'Collection'
  return has('assets') ? 'Feature' : 'Catalog'
}

function innerDocuments(object: StacDocument): readonly unknown[] {
  const inner = own(object, wrappedMember(object))
  return Array.isArray(inner) ? inner : []
}

/** Kinds of documents, and where each keeps its schemes. */
import { isObject, type JsonObject, own } from './json.ts'

/** A parsed JSON document; nothing about its members is known yet. */
export type StacDocument = JsonObject

export type DocumentKind = 'item' | 'collection' | 'catalog' | 'wrapper' | 'unknown'

/**
 * The kind by `type`, never by file name: Feature, Collection, Catalog; `wrapper` is a FeatureCollection or an object
 * with a `collections` array.
 */
export function kindOf(document: unknown): DocumentKind {
  switch (own(document, 'type')) {
    case 'Feature':
      return 'item'
    case 'Collection':
      return 'collection'
    case 'Catalog':
      return 'catalog'
    case 'FeatureCollection':
      return 'wrapper'
    default:
      return Array.isArray(own(document, 'collections')) ? 'wrapper' : 'unknown'
  }
}

/** Member of a wrapper that holds its documents. */
export function wrappedMember(document: StacDocument): 'features' | 'collections' {
  return Array.isArray(own(document, 'features')) ? 'features' : 'collections'
}

/** A value where schemes may stand, with its pointer; `schemes` is whatever is there, checked by nobody. */
export interface SchemePlace {
  readonly schemes: unknown
  readonly pointer: string
}

/**
 * The places of `auth:schemes` in a document, nearest first: an Item's `properties`, then (for published data that has
 * them there) its root; every other kind has them at its root.
 */
export function schemePlaces(document: StacDocument): readonly SchemePlace[] {
  const root = { schemes: own(document, 'auth:schemes'), pointer: '/auth:schemes' }
  const properties = own(document, 'properties')
  const inProperties = isObject(properties) ? { schemes: own(properties, 'auth:schemes'), pointer: '/properties/auth:schemes' } : undefined
  return [inProperties, root].filter((place) => place?.schemes !== undefined) as SchemePlace[]
}

/**
 * Kinds of documents, also of those with a wrong `type`, the places of their schemes, and safe access to untrusted JSON: own properties
 * only, never those of a prototype.
 */
import { nearMiss } from '../text/suggest.ts'

/** A parsed JSON document; nothing about its members is known yet. */
export type StacDocument = JsonObject

/** The kinds of STAC documents; `wrapper` is a list of documents. */
export type DocumentKind = 'item' | 'collection' | 'catalog' | 'wrapper' | 'unknown'

/**
 * Returns the kind by `type`, never by file name: Feature, Collection, Catalog; `wrapper` is a FeatureCollection or an object
 * with a `collections` array.
 *
 * @example const isItem = kindOf(document) === 'item'
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

/** Member of a wrapper that contains its documents. */
export function wrappedMember(document: StacDocument): 'features' | 'collections' {
  return Array.isArray(own(document, 'features')) ? 'features' : 'collections'
}

/** A value in a place for schemes, with its pointer; `schemes` is the unchecked value. */
interface SchemePlace {
  readonly schemes: unknown
  readonly pointer: string
}

/**
 * Returns the places of `auth:schemes` in a document, nearest first: an Item's `properties`, then (for published data that has
 * them there) its root; every other kind has them at its root.
 */
export function schemePlaces(document: StacDocument): readonly SchemePlace[] {
  const root = { schemes: own(document, 'auth:schemes'), pointer: '/auth:schemes' }
  const properties = own(document, 'properties')
  const inProperties = isObject(properties) ? { schemes: own(properties, 'auth:schemes'), pointer: '/properties/auth:schemes' } : undefined
  return [inProperties, root].filter((place) => place?.schemes !== undefined) as SchemePlace[]
}

const SITE = 'https://stac-extensions.github.io/'

const NAME = 'authentication/'

export const EXTENSION = `${SITE}${NAME}`

/** Supported versions, oldest first. */
export const VERSIONS = ['1.0.0', '1.1.0', '1.2.0'] as const

export type ExtensionVersion = (typeof VERSIONS)[number]

export const NEWEST: ExtensionVersion = '1.2.0'

/** An element of `stac_extensions` that names this extension. */
export interface Declaration {
  readonly index: number
  /** Undefined when the version is unsupported. */
  readonly version: ExtensionVersion | undefined
  /** As written. */
  readonly url: string
}

/** Returns every declaration of the extension in the document, in order. */
export function declarationsOf(document: unknown): readonly Declaration[] {
  const list = own(document, 'stac_extensions')
  if (!Array.isArray(list)) return []
  const found: Declaration[] = []
  for (let index = 0; index < list.length; index++) {
    const url = list[index]
    if (typeof url === 'string' && namesExtension(url)) found.push({ index, version: knownVersion(url), url })
  }
  return found
}

/** Returns the highest declared version; an unsupported one, or none, counts as the newest. */
export function versionOfDocument(document: unknown, wrapper?: unknown): ExtensionVersion {
  const declared = declarationsOf(document)
  return versionOf(declared.length ? declared : declarationsOf(wrapper))
}

/** Returns the highest version among declarations; an unsupported one, or none, counts as the newest. */
export function versionOf(declared: readonly Declaration[]): ExtensionVersion {
  let highest = -1
  for (const { version } of declared) highest = Math.max(highest, VERSIONS.indexOf(version ?? NEWEST))
  return VERSIONS[highest] ?? NEWEST
}

/** Also for other URLs of the schema, such as one that ends with `#`. */
function knownVersion(url: string): ExtensionVersion | undefined {
  return VERSIONS.find((version) => url.includes(`/v${version}/`))
}

/** True for the URL of the extension, and for other URLs of the same schema. */
function namesExtension(url: string): boolean {
  // Tests the name first: all extensions are on the same site.
  if (url.startsWith(NAME, SITE.length) && url.startsWith(SITE)) return true
  return !url.startsWith('https://stac') && OTHER_ADDRESS.test(url)
}

const OTHER_ADDRESS =
  /^https?:\/\/(?:(?:www\.)?stac-extensions\.github\.io|raw\.githubusercontent\.com\/stac-extensions|(?:www\.)?github\.com\/stac-extensions)\/authentication\//i

/** A parsed JSON object of which nothing is known yet. */
export type JsonObject = { readonly [member: string]: unknown }

/** True for a JSON object; arrays and null are not objects here. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the object's own member of that name, else undefined, also for `toString` and `__proto__`. */
export function own(object: unknown, name: string): unknown {
  if (!isObject(object)) return undefined
  const value = object[name]
  // Most members that are asked for are absent.
  return value === undefined || Object.hasOwn(object, name) ? value : undefined
}

/** Returns the own member when it is a string. */
export function ownString(object: unknown, name: string): string | undefined {
  const value = own(object, name)
  return typeof value === 'string' ? value : undefined
}

/** Returns the own member when it is a JSON object. */
export function ownObject(object: unknown, name: string): JsonObject | undefined {
  const value = own(object, name)
  return isObject(value) ? value : undefined
}

/** Appends names to an RFC 6901 pointer, escaping `~` and `/`. */
export function pointer(base: string, ...names: readonly (string | number)[]): string {
  let path = base
  for (const name of names) path += `/${escapeName(`${name}`)}`
  return path
}

function escapeName(name: string): string {
  return name.includes('/') || name.includes('~') ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name
}

const MiB = 2 ** 20

/** Maximum sizes of a document: bytes of an Item and of any other kind, nesting, schemes, links. */
export const DOCUMENT_LIMITS = { item: 5 * MiB, other: 50 * MiB, depth: 64, schemes: 1000, links: 100_000 } as const

/** A `type` that STAC defines. */
export type DocumentType = 'Feature' | 'Collection' | 'Catalog' | 'FeatureCollection'

/**
 * True for an object that claims to be a STAC document, or a list of them: it declares or uses the authentication extension, has a
 * `stac_version`, or has the `type` and members of STAC. GeoJSON and configuration files do not. Lists in lists do not count, so that the
 * depth of a file does not matter.
 */
export function claimsStac(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((one) => isObject(one) && claimsStac(one))
  if (!isObject(value)) return false
  return claimsItself(value) || innerDocuments(value).some((one) => isObject(one) && claimsItself(one))
}

function claimsItself(object: StacDocument): boolean {
  if (typeof own(object, 'stac_version') === 'string' || usesExtension(object)) return true
  switch (kindOf(object)) {
    case 'collection':
    case 'catalog':
      return Array.isArray(own(object, 'links'))
    case 'item':
      return isObject(own(object, 'assets')) || Array.isArray(own(object, 'stac_extensions'))
    default:
      return false
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
 * Returns the type that an object probably should have: the one that its `type` resembles, else the one that has its members.
 * Undefined for an object whose `type` is correct, and for one that neither uses the extension nor contains documents that do.
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

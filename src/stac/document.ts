/** Kinds of documents, where each has its schemes, and reading JSON that strangers wrote: own properties only, never a prototype's. */

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
interface SchemePlace {
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

const SITE = 'https://stac-extensions.github.io/'

const NAME = 'authentication/'

export const EXTENSION = `${SITE}${NAME}`

/** Versions that are understood, oldest first. */
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

/** Every declaration of the extension in the document, in order. */
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
  const own = declarationsOf(document)
  return versionOf(own.length ? own : declarationsOf(wrapper))
}

/** Returns the highest version among declarations; an unsupported one, or none, counts as the newest. */
export function versionOf(declared: readonly Declaration[]): ExtensionVersion {
  let highest = -1
  for (const { version } of declared) highest = Math.max(highest, VERSIONS.indexOf(version ?? NEWEST))
  return VERSIONS[highest] ?? NEWEST
}

function knownVersion(url: string): ExtensionVersion | undefined {
  if (!url.startsWith(EXTENSION)) return VERSIONS.find((version) => url.includes(`/v${version}/`))
  return VERSIONS.find((version) => url === `${EXTENSION}v${version}/schema.json`)
}

/** True for the URL of the extension, and for one that leads to the same schema without being the extension's name. */
function namesExtension(url: string): boolean {
  // The name first: all extensions have the same site.
  if (url.startsWith(NAME, SITE.length) && url.startsWith(SITE)) return true
  return !url.startsWith('https://stac') && OTHER_ADDRESS.test(url)
}

const OTHER_ADDRESS =
  /^https?:\/\/(?:(?:www\.)?stac-extensions\.github\.io|raw\.githubusercontent\.com\/stac-extensions|(?:www\.)?github\.com\/stac-extensions)\/authentication\//i

export type JsonObject = { readonly [member: string]: unknown }

/** True for a JSON object; arrays and null are not objects here. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object's own member of that name, else undefined: `toString` and `__proto__` are never found by accident. */
export function own(object: unknown, name: string): unknown {
  return isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined
}

/** The own member when it is a string. */
export function ownString(object: unknown, name: string): string | undefined {
  const value = own(object, name)
  return typeof value === 'string' ? value : undefined
}

/** The own member when it is a JSON object. */
export function ownObject(object: unknown, name: string): JsonObject | undefined {
  const value = own(object, name)
  return isObject(value) ? value : undefined
}

/** Appends names to an RFC 6901 pointer, escaping `~` and `/`. */
export function pointer(base: string, ...names: readonly (string | number)[]): string {
  let path = base
  for (const name of names) path += `/${typeof name === 'number' ? name : escapeName(name)}`
  return path
}

function escapeName(name: string): string {
  return /[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name
}

const MiB = 2 ** 20

/** Sizes beyond which a document is not looked at: bytes of an Item and of anything else, nesting, schemes, links. */
export const DOCUMENT_LIMITS = { item: 5 * MiB, other: 50 * MiB, depth: 64, schemes: 1000, links: 100_000 } as const

/** Reading members of documents that strangers wrote. */
import { kindOf, type StacDocument } from 'stac-auth'

/**
 * Characters of a name. Browsers look for places to break a line in words of scripts without spaces, which takes time with the square
 * of their length: 40 s for 50 kB of Thai in Chromium.
 */
export const NAME_LENGTH = 200
/** Characters of a description. */
export const DESCRIPTION_LENGTH = 4000

/** A member of its own that is a text, as {@link plain} gives it. */
export function textIn(object: unknown, name: string, length = NAME_LENGTH): string | undefined {
  const value = memberOf(object, name)
  const text = typeof value === 'string' ? plain(value, length) : ''
  return text === '' ? undefined : text
}

/** The beginning of the text, without what turns the words around it: a name among words of the page leaves those as they are. */
export function plain(text: string, length = NAME_LENGTH): string {
  // The other half of a character is cut off as well.
  const start = text.length > length ? `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…` : text
  return start.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()
}

/** A member of its own. */
export function memberOf(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null && Object.hasOwn(object, name) ? (object as StacDocument)[name] : undefined
}

/** Elements of a list, nothing for what is none. */
export function listIn(object: unknown, name: string): readonly unknown[] {
  const value = memberOf(object, name)
  return Array.isArray(value) ? value : []
}

/** The documents in a list of an API that have a kind, in their order. */
export function documentsIn(document: StacDocument): readonly StacDocument[] {
  if (kindOf(document) !== 'wrapper') return []
  const inner = [...listIn(document, 'features'), ...listIn(document, 'collections')]
  return inner.filter((one): one is StacDocument => kindOf(one) !== 'unknown')
}

/** West, south, east and north. */
export type Box = readonly [number, number, number, number]

/** The numbers of a bounding box in two dimensions; undefined for what is none. */
export function boxIn(document: StacDocument): Box | undefined {
  const extent = listIn(memberOf(memberOf(document, 'extent'), 'spatial'), 'bbox')[0]
  const box = Array.isArray(document.bbox) ? document.bbox : extent
  if (!Array.isArray(box) || !box.every((number) => Number.isFinite(number))) return undefined
  if (box.length === 4) return box as unknown as Box
  return box.length === 6 ? [box[0], box[1], box[3], box[4]] : undefined
}

/** The name for people: title, else id, else what kind of thing it is. */
export function titleOf(document: StacDocument): string {
  return textIn(document, 'title') ?? textIn(memberOf(document, 'properties'), 'title') ?? textIn(document, 'id') ?? listTitle(document)
}

function listTitle(document: StacDocument): string {
  return Array.isArray(document.features) ? 'Items' : Array.isArray(document.collections) ? 'Collections' : 'Untitled'
}

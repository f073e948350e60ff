/** Reading members of documents that strangers wrote. */
import type { StacDocument } from 'stac-auth'

/** A member of its own that is a text, as {@link plain} gives it. */
export function textIn(object: unknown, name: string): string | undefined {
  const value = memberOf(object, name)
  const text = typeof value === 'string' ? plain(value) : ''
  return text === '' ? undefined : text
}

/** Without what turns the words around it: a name among words of the page leaves those as they are. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()
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

/** The numbers of a bounding box in two dimensions; undefined for what is none. */
export function boxIn(document: StacDocument): readonly [number, number, number, number] | undefined {
  const extent = listIn(memberOf(memberOf(document, 'extent'), 'spatial'), 'bbox')[0]
  const box = Array.isArray(document.bbox) ? document.bbox : extent
  if (!Array.isArray(box) || !box.every((number) => Number.isFinite(number))) return undefined
  if (box.length === 4) return box as [number, number, number, number]
  return box.length === 6 ? [box[0], box[1], box[3], box[4]] : undefined
}

/** The name for people: title, else id, else what kind of thing it is. */
export function titleOf(document: StacDocument): string {
  return textIn(document, 'title') ?? textIn(memberOf(document, 'properties'), 'title') ?? textIn(document, 'id') ?? 'Untitled'
}

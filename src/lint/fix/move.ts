/** Moves of schemes inside a document. */
import { own } from '../../stac/json.ts'
import type { Edit, JsonText } from '../../stac/json-text.ts'

/** Pointers of the object in which a document has its `auth:schemes`, and of that map. */
export interface MapPlace {
  readonly holder: string
  readonly map: string
}

/** Where a document has, or would have, its schemes. */
export function mapPlaceOf(document: unknown, at: string): MapPlace {
  const holder = own(document, 'type') === 'Feature' ? `${at}/properties` : at
  return { holder, map: `${holder}/auth:schemes` }
}

/** Takes a member out and adds it to another object under a name. */
export function moveInto(text: JsonText, from: string, to: string, name: string, value: unknown): readonly Edit[] | undefined {
  const removed = text.remove(from)
  const added = text.insert(to, name, value)
  return removed && added && [...removed, ...added]
}

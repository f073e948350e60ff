/** Which texts of STAC documents are written for people. */
import { own, pointer } from '../../../stac/json.ts'

/** A text in a document. */
export interface CatalogText {
  /** Of the text, from the root of what was read. */
  readonly pointer: string
  readonly text: string
  /** True for CommonMark. */
  readonly markdown: boolean
}

/** A catalog, collection or item in what was read: itself, a feature of an ItemCollection, or a member of a list of an API. */
export interface CatalogDocument {
  /** Pointer from the root of what was read; empty for the root. */
  readonly at: string
  readonly document: unknown
  /** Where its common metadata stands: an item has them in `properties`. */
  readonly holder: string
}

/** Names lead on; `*` stands for every member or element. */
type Steps = readonly string[]

/** Common metadata of STAC 1.1; names of people, licenses, identifiers and summaries are no texts of this kind. */
const METADATA: readonly Steps[] = [
  ['title'],
  ['description'],
  ['keywords', '*'],
  ['providers', '*', 'description'],
  ['auth:schemes', '*', 'description'],
  ['storage:schemes', '*', 'title'],
  ['storage:schemes', '*', 'description'],
  ['bands', '*', 'description'],
]

const ASSET: readonly Steps[] = [
  ['title'],
  ['description'],
  ['bands', '*', 'description'],
  ['eo:bands', '*', 'description'],
  ['raster:bands', '*', 'description'],
  ['alternate', '*', 'title'],
  ['alternate', '*', 'description'],
]

const PARTS: readonly Steps[] = [
  ['links', '*', 'title'],
  ...['assets', 'item_assets'].flatMap((map) => ASSET.map((steps) => [map, '*', ...steps])),
]

/** The documents in a parsed JSON text, from outside to inside; empty when there are none. */
export function catalogDocuments(root: unknown): readonly CatalogDocument[] {
  const type = own(root, 'type')
  if (type === 'Feature') return [{ at: '', document: root, holder: '/properties' }]
  if (type === 'Catalog' || type === 'Collection') return [{ at: '', document: root, holder: '' }]
  return ['features', 'collections'].flatMap((name) => {
    const list = own(root, name)
    return Array.isArray(list) ? list.flatMap((document, index) => inList(document, pointer('', name, index))) : []
  })
}

/** The texts of a document that hold more than blanks. */
export function catalogTexts({ at, document, holder }: CatalogDocument): readonly CatalogText[] {
  const metadata = holder === at ? document : own(document, 'properties')
  return [...METADATA.flatMap((steps) => textsAt(metadata, steps, holder)), ...PARTS.flatMap((steps) => textsAt(document, steps, at))]
}

function inList(document: unknown, at: string): readonly CatalogDocument[] {
  return catalogDocuments(document)
    .filter((found) => found.at === '')
    .map(({ holder }) => ({ at, document, holder: at + holder }))
}

function textsAt(value: unknown, steps: Steps, at: string): readonly CatalogText[] {
  const [name, ...rest] = steps
  if (name === undefined) return typeof value === 'string' && value.trim() !== '' ? [{ pointer: at, text: value, markdown: false }] : []
  if (name === '*') {
    const inner: readonly (readonly [string | number, unknown])[] = Array.isArray(value) ? [...value.entries()] : members(value)
    return inner.flatMap(([key, member]) => textsAt(member, rest, pointer(at, key)))
  }
  const texts = textsAt(own(value, name), rest, pointer(at, name))
  return name === 'description' ? texts.map((text) => ({ ...text, markdown: true })) : texts
}

function members(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

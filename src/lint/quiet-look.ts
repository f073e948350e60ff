/** A look at a document whose schemes are known to be clean: is the rest of it plainly clean too? */
import { kindOf } from '../stac/document.ts'
import { isObject, type JsonObject, own } from '../stac/json.ts'
import { DEPTH_LIMIT } from './survey.ts'

/** The schemes of a document that was clean, as they stand in its text. */
export interface KnownSchemes {
  readonly text: string
  readonly declaration: string
  readonly schemes: ReadonlyMap<string, { readonly type: unknown; readonly bit: number }>
  /** Field-like names inside the schemes. */
  readonly fields: number
  /** Braces and brackets that open inside the schemes. */
  readonly openers: number
}

/** Every name that may be a field of the extension, right or misspelt: a clean text has as many as the look has seen. */
const NAMES = /"[aA][uU][tT][hH][:_\-. rRsS]/g

/** One look at one document whose schemes are known. */
export class Look {
  readonly #known: KnownSchemes
  readonly #document: JsonObject
  #used = 0
  #names = 1
  /** Objects and lists whose depth is known, because the look passes them. */
  #passed = 2
  #storage = false
  /** Origin of a link that is no stranger. */
  #home = '\n'

  constructor(known: KnownSchemes, document: JsonObject) {
    this.#known = known
    this.#document = document
  }

  /** True when nothing that a rule could report is in sight. */
  isClean(text: string): boolean {
    const kind = kindOf(this.#document)
    if (kind !== 'item' && kind !== 'collection' && kind !== 'catalog') return false
    const properties = own(this.#document, 'properties')
    if (!isObject(own(kind === 'item' ? properties : this.#document, 'auth:schemes'))) return false
    this.#storage = saysStorage(properties)
    return (
      this.#assets(own(this.#document, 'assets')) &&
      this.#assets(kind === 'collection' ? own(this.#document, 'item_assets') : undefined) &&
      this.#links(own(this.#document, 'links')) &&
      this.#used === 2 ** this.#known.schemes.size - 1 &&
      countFields(text) === this.#names + this.#known.fields &&
      (this.#canOnlyBeShallow(text) || isShallow(this.#document, 1))
    )
  }

  /** What the look has not passed could only be too deep if all of it stood inside of each other. */
  #canOnlyBeShallow(text: string): boolean {
    const passed = this.#passed + this.#known.openers + positions(own(this.#document, 'geometry'))
    return countOpeners(text) - passed < DEPTH_LIMIT - DEEPEST_PASSED
  }

  #assets(assets: unknown): boolean {
    if (assets === undefined) return true
    if (!isObject(assets)) return false
    this.#passed++
    for (const key in assets) {
      const asset = assets[key]
      if (!isObject(asset) || !this.#target(asset, this.#storage)) return false
      if (asset.alternate !== undefined && !this.#alternates(asset, asset.alternate)) return false
    }
    return true
  }

  #alternates(asset: JsonObject, alternates: unknown): boolean {
    if (!isObject(alternates)) return false
    this.#passed++
    const silent = asset['auth:refs'] === undefined
    const storage = this.#storage || saysStorage(asset)
    for (const key in alternates) {
      const alternate = alternates[key]
      if (!isObject(alternate) || !this.#target(alternate, storage)) return false
      if (!silent && alternate['auth:refs'] === undefined) return false
    }
    return true
  }

  #links(links: unknown): boolean {
    if (links === undefined) return true
    if (!Array.isArray(links)) return false
    this.#passed++
    for (const link of links) {
      if (!isObject(link) || !this.#target(link, this.#storage)) return false
      if (link['auth:refs'] !== undefined && (RELATIONS.has(link.rel) || this.#isForeign(link.href))) return false
    }
    return true
  }

  /** Most links stay on one host: it is judged once. */
  #isForeign(href: unknown): boolean {
    if (typeof href !== 'string' || href.startsWith(this.#home)) return false
    if (FOREIGN.test(href)) return true
    const path = href.indexOf('/', href.indexOf('://') + 3)
    if (path > 0) this.#home = href.slice(0, path + 1)
    return false
  }

  #target(target: JsonObject, storage: boolean): boolean {
    const { href, roles } = target
    const refs = target['auth:refs']
    this.#passed += Array.isArray(roles) ? 2 : 1
    if (href !== undefined && (typeof href !== 'string' || href.includes('?') || href.includes('@'))) return false
    if (refs === undefined) return true
    this.#names++
    this.#passed++
    return Array.isArray(refs) && refs.length > 0 && this.#refs(refs, href, storage || saysStorage(target))
  }

  #refs(refs: readonly unknown[], href: string | undefined, storage: boolean): boolean {
    const secure = href === undefined || href.startsWith('https://')
    for (let index = 0; index < refs.length; index++) {
      const ref = refs[index]
      if (typeof ref !== 'string' || refs.indexOf(ref) !== index) return false
      const scheme = this.#known.schemes.get(ref)
      if (!scheme || (scheme.type === 's3' ? !storage : !secure)) return false
      this.#used |= scheme.bit
    }
    return secure || (href?.startsWith('s3://') ?? false)
  }
}

/** Part of every address that rules about foreign hosts look for. */
const FOREIGN = /creativecommons|spdx|opensource|doi\.org|w3\.org|stac-extensions|stacspec|github/i
const RELATIONS = new Set<unknown>(['license', 'cite-as', 'about', 'via', 'describedby', 'author'])

function saysStorage(object: unknown): boolean {
  return isObject(object) && object['storage:refs'] !== undefined
}

/** Number of names that may be fields of the extension. */
export function countFields(text: string): number {
  return text.match(NAMES)?.length ?? 0
}

/** Number of braces and brackets that open, those in strings too. */
export function countOpeners(text: string): number {
  let found = 0
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) found++
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) found++
  return found
}

/** Levels that the look passes at most. */
const DEEPEST_PASSED = 8

/** Levels of lists around the positions of a geometry. */
const LEVELS = new Map<unknown, number>([
  ['LineString', 1],
  ['Polygon', 2],
  ['MultiPolygon', 3],
])

/** Number of lists in the coordinates of a geometry, down to the positions; what is in those counts as not passed. */
function positions(geometry: unknown): number {
  const coordinates = own(geometry, 'coordinates')
  return Array.isArray(coordinates) ? 1 + lists(coordinates, LEVELS.get(own(geometry, 'type')) ?? 0) : 0
}

function lists(list: readonly unknown[], levels: number): number {
  let found = 0
  if (levels > 0) for (const inner of list) if (Array.isArray(inner)) found += 1 + (levels > 1 ? lists(inner, levels - 1) : 0)
  return found
}

function isShallow(value: object, depth: number): boolean {
  if (depth > DEPTH_LIMIT) return false
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const element = value[index]
      if (typeof element === 'object' && element !== null && !isShallow(element, depth + 1)) return false
    }
    return true
  }
  for (const name in value) {
    const member = (value as JsonObject)[name]
    if (typeof member === 'object' && member !== null && !isShallow(member, depth + 1)) return false
  }
  return true
}

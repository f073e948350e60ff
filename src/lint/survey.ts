/**
 * Facts that are collected before rules check a document: the documents in a value, and one walk over everything in a document. Web pages
 * load this module initially, and the rules when they are needed.
 */

import {
  type Declaration,
  type DocumentKind,
  type DocumentType,
  isObject,
  type JsonObject,
  kindOf,
  likelyType,
  own,
  pointer,
  type StacDocument,
  wrappedMember,
} from '../stac/document.ts'

/** Maximum depth of nesting. */
export const DEPTH_LIMIT = 64

/** A document, or a wrapper without its documents. */
export interface Part {
  readonly value: unknown
  readonly at: string
  readonly depth: number
  /** Member of a wrapper that contains its documents. */
  readonly inside?: 'features' | 'collections'
  readonly wrapper?: StacDocument
  /** The correct `type`, if the present one is wrong and the extension is used. */
  readonly likely?: DocumentType
}

/** Returns the parts of a document, in their order; for an array the parts of its elements, or the array itself if it is empty. */
export function partsOf(document: unknown): readonly Part[] {
  return Array.isArray(document) && document.length > 0
    ? document.flatMap((value, index) => partsIn(value, `/${index}`, 2))
    : partsIn(document, '', 1)
}

function partsIn(value: unknown, at: string, depth: number, outer?: StacDocument): Part[] {
  const likely = isObject(value) ? likelyType(value) : undefined
  const around: Part = { value, at, depth, ...(outer && { wrapper: outer }), ...(likely && { likely }) }
  // Deeper documents are not read, and recursion must not overflow the stack.
  if (!isObject(value) || !(kindOf(value) === 'wrapper' || likely === 'FeatureCollection') || depth > DEPTH_LIMIT) return [around]
  const wrapped = wrappedMember(value)
  const documents = own(value, wrapped)
  if (!Array.isArray(documents)) return [{ ...around, inside: wrapped }]
  return [
    { ...around, inside: wrapped },
    ...documents.flatMap((inner, index) => partsIn(inner, `${at}/${wrapped}/${index}`, depth + 2, value)),
  ]
}

/** What a walk over a document finds. */
export interface Survey {
  /** Members of objects, and strings that are values: they give the number of quotes in the text. */
  readonly members: number
  readonly strings: number
  /** True when a name could be that of a field of the extension, also misspelt. */
  readonly hasFields: boolean
  /** Fields of the extension in places where they are not defined, in document order. */
  readonly misplaced: readonly MisplacedField[]
  /** Pointer of the first value below the depth limit; the walk ends there. */
  readonly tooDeep: string | undefined
}

/** A field of the extension in a place where it is not defined. */
export interface MisplacedField {
  readonly field: string
  readonly pointer: string
  readonly holder: Holder
  /** Name of the object around it, for messages. */
  readonly place: string
}

/** An asset, alternate asset, item asset definition or link that is an object, with its name, or its index as text. */
export type OnTarget = (kind: TargetKind, name: string, object: JsonObject) => void

export type TargetKind = 'asset' | 'item_asset' | 'link' | 'alternate'

/** The kind of the object that contains a member. Names in `free` are not fields; what is in `skip` is counted only. */
type Holder =
  | TargetKind
  | 'document'
  | 'properties'
  | 'summaries'
  | 'assets'
  | 'item_assets'
  | 'links'
  | 'alternates'
  | 'schemes'
  | 'schemesList'
  | 'scheme'
  | 'flows'
  | 'nested'
  | 'free'
  | 'skip'

/** Walks over the value of a part; `onTarget` is called with each target, an asset before its alternates. */
export function survey(
  value: unknown,
  { at, depth, inside }: Omit<Part, 'value'>,
  kind: DocumentKind = kindOf(value),
  onTarget: OnTarget = () => {},
): Survey {
  const walk = new Walk(at, depth, inside, kind, onTarget)
  if (typeof value === 'string') walk.strings++
  else if (typeof value === 'object' && value !== null) walk.value(value, depth, 'document')
  return walk
}

class Walk implements Survey {
  members = 0
  strings = 0
  hasFields = false
  tooDeep: string | undefined
  readonly misplaced: MisplacedField[] = []
  readonly #at: string
  readonly #base: number
  readonly #left: string | undefined
  readonly #kind: DocumentKind
  readonly #onTarget: OnTarget
  /** The names that lead to the present value; those behind its depth are of earlier values. */
  readonly #path: (string | number)[] = []

  constructor(at: string, base: number, left: string | undefined, kind: DocumentKind, onTarget: OnTarget) {
    this.#at = at
    this.#base = base
    this.#left = left
    this.#kind = kind
    this.#onTarget = onTarget
  }

  value(value: object, depth: number, holder: Holder): void {
    if (depth > DEPTH_LIMIT) this.tooDeep = this.#pointer(depth)
    else if (Array.isArray(value)) this.#elements(value, depth, elementsOf(holder))
    // A summary that is an object is a JSON Schema.
    else this.#members(value as JsonObject, depth, holder === 'schemesList' ? 'skip' : holder)
  }

  #elements(list: readonly unknown[], depth: number, holder: Holder): void {
    for (let index = 0; index < list.length; index++) {
      const element = list[index]
      if (typeof element === 'number') continue
      if (typeof element === 'string') this.strings++
      else if (typeof element === 'object' && element !== null) {
        // Coordinates: most of what is in many documents.
        if (depth < DEPTH_LIMIT && Array.isArray(element) && areNumbers(element)) continue
        this.#path[depth - this.#base] = index
        this.value(element, depth + 1, holder)
        if (this.tooDeep !== undefined) return
      }
    }
  }

  #members(object: JsonObject, depth: number, holder: Holder): void {
    const level = depth - this.#base
    if (isTarget(holder)) this.#onTarget(holder, String(this.#path[level - 1]), object)
    let members = 0
    let strings = 0
    for (const name in object) {
      members++
      let inner = holder
      if (mayBeField(name) && this.#isMisplaced(name, depth, holder)) inner = 'skip'
      else if (name === this.#left && depth === this.#base) continue
      const value = object[name]
      if (typeof value === 'string') strings++
      else if (typeof value === 'object' && value !== null) {
        this.#path[level] = name
        this.value(value, depth + 1, holderIn(name, inner, this.#kind))
        if (this.tooDeep !== undefined) return
      }
    }
    this.members += members
    this.strings += strings
  }

  /** Records a misplaced field. */
  #isMisplaced(field: string, depth: number, holder: Holder): boolean {
    if (!looksLikeField(field)) return false
    this.hasFields = true
    if (!isMisplaced(field, holder, this.#kind)) return false
    const around = this.#path.slice(0, depth - this.#base)
    const place = holder === 'document' ? 'the root of the document' : String(around.findLast((name) => typeof name === 'string'))
    this.misplaced.push({ field, pointer: pointer(this.#at, ...around, field), holder, place })
    return true
  }

  #pointer(depth: number): string {
    return pointer(this.#at, ...this.#path.slice(0, depth - this.#base))
  }
}

function areNumbers(list: readonly unknown[]): boolean {
  for (let index = 0; index < list.length; index++) if (typeof list[index] !== 'number') return false
  return true
}

function elementsOf(holder: Holder): Holder {
  if (holder === 'nested' || holder === 'skip') return holder
  return holder === 'links' ? 'link' : holder === 'schemesList' ? 'schemes' : 'nested'
}

function isTarget(holder: Holder): holder is TargetKind {
  return holder === 'link' || holder === 'asset' || holder === 'alternate' || holder === 'item_asset'
}

/** The patterns of fields match only names that start with a, then u, t or a; nearly all other names fail one of these two tests. */
function mayBeField(name: string): boolean {
  if ((name.charCodeAt(0) | 32) !== 97) return false
  const second = name.charCodeAt(1) | 32
  return second === 117 || second === 116 || second === 97
}

/** True for names like `auth:refs`, `auth_schemes`, `AuthRefs` or `atuh:refs`, not for `author`, `authorizationUrl` or `auto:refs`. */
export function looksLikeField(name: string): boolean {
  return name.startsWith('auth:') || /^auth[:_\-. rs]/i.test(name) || MISSPELT_PREFIX.test(name)
}

/** Misspellings of `auth` that are not prefixes of others, followed by one of the two fields. */
const MISSPELT_PREFIX = /^(?:ath|auh|aut|auht|atuh|auths|aauth|auuth|autth|authh|au[a-z]h|aut[a-np-z])[:_\-. ](?:ref|scheme)s?$/i

function isMisplaced(field: string, holder: Holder, kind: DocumentKind): boolean {
  switch (holder) {
    case 'document':
      return !(field === 'auth:schemes' && kind !== 'item')
    case 'properties':
    case 'summaries':
      return field !== 'auth:schemes'
    case 'asset':
    case 'item_asset':
    case 'alternate':
    case 'link':
      return field !== 'auth:refs' && field !== 'auth:schemes'
    case 'scheme':
      return field === 'auth:schemes'
    case 'alternates':
    case 'flows':
    case 'nested':
      return field === 'auth:refs' || field === 'auth:schemes'
    default:
      return false
  }
}

/** Returns the holder that the value of a member is. */
function holderIn(field: string, holder: Holder, kind: DocumentKind): Holder {
  switch (holder) {
    // First, because most objects are nested.
    case 'nested':
      return insideOther(field)
    case 'skip':
      return 'skip'
    case 'document':
      return insideDocument(field, kind)
    case 'properties':
      return field === 'auth:schemes' ? 'schemes' : 'nested'
    case 'summaries':
      return field === 'auth:schemes' ? 'schemesList' : 'nested'
    case 'assets':
      return 'asset'
    case 'item_assets':
      return 'item_asset'
    case 'alternates':
      return 'alternate'
    case 'asset':
    case 'item_asset':
      return field === 'alternate' ? 'alternates' : field === 'auth:schemes' ? 'skip' : 'nested'
    // An alternate asset and a link have no alternates: clients do not read them.
    case 'alternate':
    case 'link':
      return field === 'auth:schemes' ? 'skip' : 'nested'
    case 'schemes':
      return 'scheme'
    case 'scheme':
      return field === 'flows' ? 'flows' : 'nested'
    default:
      return insideOther(field)
  }
}

function insideOther(field: string): Holder {
  return field === 'parameters' || field === 'scopes' ? 'free' : field === 'schema' ? 'skip' : 'nested'
}

function insideDocument(field: string, kind: DocumentKind): Holder {
  switch (field) {
    case 'properties':
      return kind === 'item' ? 'properties' : 'nested'
    case 'summaries':
      return kind === 'collection' ? 'summaries' : 'nested'
    case 'assets':
      return kind === 'wrapper' ? 'nested' : 'assets'
    case 'item_assets':
      return kind === 'collection' ? 'item_assets' : 'nested'
    case 'links':
      return 'links'
    case 'auth:schemes':
      return 'schemes'
    case 'features':
    case 'collections':
      return kind === 'wrapper' ? 'skip' : 'nested'
    default:
      return 'nested'
  }
}

/** True for a document that neither uses nor declares the extension: no rule applies to it. */
export function isSilent({ hasFields }: Survey, declarations: readonly Declaration[]): boolean {
  return !hasFields && declarations.length === 0
}

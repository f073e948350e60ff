/**
 * Facts that are collected before rules check a document: the documents in a value, the counts of a whole value, and misplaced fields of
 * the extension. Web pages load this module initially, and the rules when they are needed.
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
import type { LintDocument } from './model.ts'

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

/** Returns the parts of a document, in their order; for an array the parts of its elements. */
export function partsOf(document: unknown): readonly Part[] {
  return Array.isArray(document) ? document.flatMap((value, index) => partsIn(value, `/${index}`, 2)) : partsIn(document, '', 1)
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

/** The counts of a walk over a value. */
export interface Survey {
  /** Members of objects, and strings that are values: they give the number of quotes in the text. */
  members: number
  strings: number
  /** Members whose names could be fields of the extension, also misspelt. */
  fields: number
  /** Pointer of the first value below the depth limit; the walk ends there. */
  tooDeep: string | undefined
}

/** Counts the content of a value at `depth`. `skip` names a member of the root whose value is left out. */
export function survey(value: unknown, depth: number, skip?: string): Survey {
  const result = emptySurvey()
  countIn(value, depth, result, skip)
  return result
}

/** Returns a survey with zero counts. */
export function emptySurvey(): Survey {
  return { members: 0, strings: 0, fields: 0, tooDeep: undefined }
}

/** True for names like `auth:refs`, `auth_schemes`, `AuthRefs` or `atuh:refs`, not for `author`, `authorizationUrl` or `auto:refs`. */
export function looksLikeField(name: string): boolean {
  return /^auth[:_\-. rs]/i.test(name) || MISSPELT_PREFIX.test(name)
}

/** Misspellings of `auth` that are not prefixes of others, followed by one of the two fields. */
const MISSPELT_PREFIX = /^(?:ath|auh|aut|auht|atuh|auths|aauth|auuth|autth|authh|au[a-z]h|aut[a-np-z])[:_\-. ](?:ref|scheme)s?$/i

/** Counts the name of a member; true when it could be a field of the extension. */
export function countName(name: string, result: Survey): boolean {
  result.members++
  // The patterns match only names that start with a, then u, t or a; nearly all other names fail one of these two tests.
  if ((name.charCodeAt(0) | 32) !== 97) return false
  const second = name.charCodeAt(1) | 32
  if ((second !== 117 && second !== 116 && second !== 97) || !looksLikeField(name)) return false
  result.fields++
  return true
}

/** Adds a value at `depth`. The pointer to a value that is too deep starts at this value. */
export function countIn(value: unknown, depth: number, result: Survey, skip?: string): void {
  if (typeof value === 'string') {
    result.strings++
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth > DEPTH_LIMIT) {
    result.tooDeep = ''
    return
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const element = value[index]
      if (typeof element === 'number') continue
      countIn(element, depth + 1, result)
      if (result.tooDeep !== undefined) {
        result.tooDeep = `/${index}${result.tooDeep}`
        return
      }
    }
    return
  }
  walkObject(value as Record<string, unknown>, depth, result, skip)
}

function walkObject(object: Record<string, unknown>, depth: number, result: Survey, skip: string | undefined): void {
  for (const name in object) {
    countName(name, result)
    if (name === skip) continue
    const value = object[name]
    if (typeof value === 'string') result.strings++
    else if (typeof value === 'object' && value !== null) {
      countIn(value, depth + 1, result)
      if (result.tooDeep !== undefined) {
        result.tooDeep = pointer('', name) + result.tooDeep
        return
      }
    }
  }
}

/** A field of the extension in a place where it is not defined. */
export interface MisplacedField {
  readonly field: string
  readonly pointer: string
  readonly holder: Holder
  /** Name of the object around it, for messages. */
  readonly place: string
}

/** The kind of the object that contains a member. */
export type Holder = 'document' | 'properties' | 'target' | 'summaries' | 'alternates' | 'scheme' | 'flows' | 'nested' | 'free'

/** Returns the number of field-like members that are in their place, without those of targets. */
export function expectedFields({ map, object, schemes, kind }: LintDocument): number {
  let expected = map ? 1 : 0
  if (kind === 'collection' && isObject(object.summaries) && Object.hasOwn(object.summaries, 'auth:schemes')) expected++
  for (const scheme of schemes) if (Object.hasOwn(scheme.value, 'auth:refs')) expected++
  return expected
}

/** Returns all misplaced fields of a document, in document order. */
export function findMisplacedFields(document: LintDocument): readonly MisplacedField[] {
  const found: MisplacedField[] = []
  const { kind, at } = document
  visit(document.object, at, 'document', { kind, found })
  return found
}

interface Walk {
  readonly kind: DocumentKind
  readonly found: MisplacedField[]
}

type Inside = Holder | 'asset' | 'assets' | 'links' | 'schemes' | 'schemesList' | 'skip'

function visit(object: JsonObject, at: string, holder: Inside, walk: Walk): void {
  for (const field of Object.keys(object)) {
    const here = pointer(at, field)
    if (looksLikeField(field) && isMisplaced(field, holder, walk.kind)) {
      walk.found.push({ field, pointer: here, holder: holder as Holder, place: placeName(at, holder) })
      continue
    }
    descend(object[field], here, inside(field, holder, walk.kind), walk)
  }
}

function descend(value: unknown, at: string, holder: Inside, walk: Walk): void {
  if (typeof value !== 'object' || value === null || holder === 'skip') return
  if (isObject(value)) {
    if (holder !== 'schemesList') visit(value, at, holder, walk)
    return
  }
  const element = holder === 'links' ? 'target' : holder === 'schemesList' ? 'schemes' : 'nested'
  for (const [index, item] of (value as readonly unknown[]).entries()) descend(item, `${at}/${index}`, element, walk)
}

function isMisplaced(field: string, holder: Inside, kind: DocumentKind): boolean {
  switch (holder) {
    case 'document':
      return !(field === 'auth:schemes' && kind !== 'item')
    case 'properties':
    case 'summaries':
      return field !== 'auth:schemes'
    case 'asset':
    case 'target':
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

/** Returns the kind of a member's value; the rest of the document is `nested`. */
function inside(field: string, holder: Inside, kind: DocumentKind): Inside {
  switch (holder) {
    case 'document':
      return insideDocument(field, kind)
    case 'properties':
      return field === 'auth:schemes' ? 'schemes' : 'nested'
    case 'summaries':
      return field === 'auth:schemes' ? 'schemesList' : 'nested'
    case 'assets':
      return 'asset'
    case 'alternates':
      return 'target'
    case 'asset':
    case 'target':
      // An alternate asset and a link have no alternates: clients do not read them.
      return field === 'alternate' && holder === 'asset' ? 'alternates' : field === 'auth:schemes' ? 'skip' : 'nested'
    case 'schemes':
      return 'scheme'
    case 'scheme':
      return field === 'flows' ? 'flows' : 'nested'
    default:
      return field === 'parameters' || field === 'scopes' ? 'free' : field === 'schema' ? 'skip' : 'nested'
  }
}

function insideDocument(field: string, kind: DocumentKind): Inside {
  switch (field) {
    case 'properties':
      return kind === 'item' ? 'properties' : 'nested'
    case 'summaries':
      return kind === 'collection' ? 'summaries' : 'nested'
    case 'assets':
      return kind === 'wrapper' ? 'nested' : 'assets'
    case 'item_assets':
      return kind === 'collection' ? 'assets' : 'nested'
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

function placeName(at: string, holder: Inside): string {
  if (holder === 'document') return 'the root of the document'
  const names = at.split('/').slice(1)
  return names.findLast((name) => !/^\d+$/.test(name)) ?? ''
}

/** True for a document that neither uses nor declares the extension: no rule applies to it. */
export function isSilent({ fields }: Pick<Survey, 'fields'>, declarations: readonly Declaration[]): boolean {
  return fields === 0 && declarations.length === 0
}

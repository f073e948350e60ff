/** Members that look like fields of the extension and stand where it does not define them. */
import type { DocumentKind } from '../stac/document.ts'
import { isObject, type JsonObject, pointer } from '../stac/json.ts'
import type { LintDocument } from './model.ts'
import { looksLikeField } from './survey.ts'

/** One such member. */
export interface MisplacedField {
  readonly field: string
  readonly pointer: string
  readonly holder: Holder
  /** Name of the object around it, for messages. */
  readonly place: string
}

/** What the object around a member is. */
export type Holder = 'document' | 'properties' | 'target' | 'summaries' | 'alternates' | 'scheme' | 'flows' | 'nested' | 'free'

/** Number of field-like members that are in their place, but for those of targets. */
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

type Inside = Holder | 'assets' | 'links' | 'schemes' | 'schemesList' | 'skip'

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

/** What a member's value is; the rest of the document is `nested`. */
function inside(field: string, holder: Inside, kind: DocumentKind): Inside {
  switch (holder) {
    case 'document':
      return insideDocument(field, kind)
    case 'properties':
      return field === 'auth:schemes' ? 'schemes' : 'nested'
    case 'summaries':
      return field === 'auth:schemes' ? 'schemesList' : 'nested'
    case 'assets':
    case 'alternates':
      return 'target'
    case 'target':
      return field === 'alternate' ? 'alternates' : field === 'auth:schemes' ? 'skip' : 'nested'
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
    case 'item_assets':
      return 'assets'
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

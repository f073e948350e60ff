/** The document of a target, and how a name in `auth:refs` is resolved from there (without requests). */
import { kindOf, type StacDocument, schemePlaces } from './document.ts'
import { isObject, type JsonObject, own, pointer } from './json.ts'

/** The document and position of a target. */
export interface Scope {
  /** The document that carries the target. */
  readonly document: StacDocument
  /** Where the document was read from; the base of relative URLs. */
  readonly url?: string
  /** Pointer of the document inside what was read; empty unless it stands in a wrapper. */
  readonly at: string
  /** Documents whose schemes may be used, nearest first: the wrapper, then those from the caller. */
  readonly parents: readonly Parent[]
}

export interface Parent {
  readonly document: StacDocument
  readonly url?: string
}

/** A scheme as found; `value` is unchecked. */
export interface FoundScheme {
  readonly value: unknown
  /** Pointer in the document that holds it. */
  readonly pointer: string
  /** 0 is the target's own document, 1 its first parent and so on. */
  readonly distance: number
  /** The map that holds it: a scheme's own `auth:refs` are looked up there. */
  readonly siblings: JsonObject
  /** Where the holding document was read from. */
  readonly url?: string
}

/** A map of schemes, or the value in its place. */
export interface SchemeMap {
  readonly schemes: unknown
  readonly pointer: string
  readonly distance: number
  readonly url?: string
}

/** All maps of schemes that a target of this scope can see, nearest first. `near` is the target itself. */
export function schemeMaps(scope: Scope, near?: { object: JsonObject; pointer: string; describesItems: boolean }): readonly SchemeMap[] {
  const maps: SchemeMap[] = []
  const onTarget = near && own(near.object, 'auth:schemes')
  if (near && onTarget !== undefined) {
    maps.push({ schemes: onTarget, pointer: pointer(near.pointer, 'auth:schemes'), distance: 0, url: scope.url })
  }
  for (const place of schemePlaces(scope.document)) {
    maps.push({ schemes: place.schemes, pointer: scope.at + place.pointer, distance: 0, url: scope.url })
  }
  if (near?.describesItems) for (const map of summarised(scope)) maps.push(map)
  scope.parents.forEach((parent, index) => {
    for (const place of schemePlaces(parent.document)) {
      maps.push({ ...place, distance: index + 1, url: parent.url })
    }
  })
  return maps
}

/** Returns the first own scheme of that name, nearest map first. */
export function findScheme(maps: readonly SchemeMap[], name: string): FoundScheme | undefined {
  for (const { schemes, pointer: at, distance, url } of maps) {
    if (isObject(schemes) && Object.hasOwn(schemes, name)) {
      return { value: schemes[name], pointer: pointer(at, name), distance, siblings: schemes, url }
    }
  }
  return undefined
}

/** Summaries describe a Collection's Items, so they serve `item_assets` only. */
function summarised({ document, at, url }: Scope): SchemeMap[] {
  if (kindOf(document) !== 'collection') return []
  const summary = own(own(document, 'summaries'), 'auth:schemes')
  if (!Array.isArray(summary)) return []
  return Array.from(summary, (schemes, index) => ({ schemes, pointer: pointer(`${at}/summaries/auth:schemes`, index), distance: 0, url }))
}

/**
 * True for two URLs with the same scheme, host and port, also where the platform only gives an opaque origin, as for `s3:`;
 * a URL that is none is like no other.
 *
 * @param base URL of the document that both stand in, for relative ones
 */
export function sameOrigin(one: string, other: string, base?: string): boolean {
  if (!URL.canParse(one, base) || !URL.canParse(other, base)) return false
  const [first, second] = [new URL(one, base), new URL(other, base)]
  return first.protocol === second.protocol && first.host === second.host
}

/** Where a name in `auth:refs` is defined, seen from a target. */
import { type StacDocument, schemePlaces } from '../stac/document.ts'
import { isObject, type JsonObject, own } from '../stac/json.ts'
import type { LintDocument, TargetNode } from './model.ts'

/** A definition, and whether it stands in the target's own document. */
export interface Definition {
  readonly value: unknown
  readonly where: 'document' | 'wrapper' | 'parent'
}

/** The nearest definition of the name, or undefined: on the target, in its document, the wrapper, then the parents. */
export function definitionOf(target: TargetNode, name: string): Definition | undefined {
  if (seesOwnSchemes(target)) return find(target, name)
  const { definitions } = target.document
  if (!definitions.has(name)) definitions.set(name, find(target, name))
  return definitions.get(name)
}

/** True for a target that may see other schemes than the rest of its document; there are few. */
export function seesOwnSchemes(target: TargetNode): boolean {
  return target.hasSchemes || isItemAsset(target)
}

function find(target: TargetNode, name: string): Definition | undefined {
  const { document } = target
  for (const map of ownMaps(target)) if (Object.hasOwn(map, name)) return { value: map[name], where: 'document' }
  const inWrapper = document.wrapper && memberOf(document.wrapper, name)
  if (inWrapper) return { value: inWrapper.value, where: 'wrapper' }
  for (const parent of document.parents) {
    const inParent = memberOf(parent, name)
    if (inParent) return { value: inParent.value, where: 'parent' }
  }
  return undefined
}

/** Names that a target could refer to. */
export function namesFor(target: TargetNode): readonly string[] {
  const { wrapper, parents } = target.document
  const outer = [wrapper, ...parents].flatMap((document) => (document ? maps(document) : []))
  return [...ownMaps(target), ...outer].flatMap((map) => Object.keys(map))
}

/** True when schemes are found around the document: in its wrapper or in the parents that the caller gave. */
export function hasOuterSchemes({ wrapper, parents }: LintDocument): boolean {
  return [wrapper, ...parents].some((document) => document !== undefined && schemePlaces(document).length > 0)
}

/** Names that a document refers to and does not define, each once. */
export function outerRefs({ refLists, targets, schemes, maps: ownMaps }: LintDocument): ReadonlySet<string> {
  const names = new Set<string>()
  for (const list of refLists) {
    for (const [index, name] of list.names.entries())
      if (typeof name === 'string' && list.definitions[index]?.where !== 'document') names.add(name)
  }
  for (const target of targets) {
    const lone = target.list ? undefined : own(target.object, 'auth:refs')
    if (typeof lone === 'string' && definitionOf(target, lone)?.where !== 'document') names.add(lone)
  }
  for (const { value } of schemes) {
    const refs = own(value, 'auth:refs')
    for (const name of Array.isArray(refs) ? refs : [refs])
      if (typeof name === 'string' && !ownMaps.some((map) => Object.hasOwn(map.value, name))) names.add(name)
  }
  return names
}

function ownMaps(target: TargetNode): readonly JsonObject[] {
  const { document, object } = target
  const found: JsonObject[] = []
  const near = own(object, 'auth:schemes')
  if (isObject(near)) found.push(near)
  if (isObject(document.map?.value)) found.push(document.map.value)
  // An Item's root is the wrong place, but it is plain what was meant: the place is reported, the refs are not.
  const root = document.kind === 'item' ? own(document.object, 'auth:schemes') : undefined
  if (isObject(root)) found.push(root)
  if (isItemAsset(target)) found.push(...document.maps.filter(({ summary }) => summary).map(({ value }) => value))
  return found
}

/** These see the schemes in `summaries` too. */
function isItemAsset({ kind, asset }: TargetNode): boolean {
  return kind === 'item_asset' || asset?.kind === 'item_asset'
}

function maps(document: StacDocument): readonly JsonObject[] {
  return schemePlaces(document)
    .map((place) => place.schemes)
    .filter(isObject)
}

function memberOf(document: StacDocument, name: string): { readonly value: unknown } | undefined {
  const map = maps(document).find((candidate) => Object.hasOwn(candidate, name))
  return map && { value: map[name] }
}

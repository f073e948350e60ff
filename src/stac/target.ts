/**
 * Assets, alternate assets, item asset definitions and links: the targets that `auth:refs` protects, and how a name in it is resolved from
 * the document of a target, without requests.
 */

import { SelectionError } from '../errors.ts'
import { azureUrl } from '../text/azure-url.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { nearMiss } from '../text/suggest.ts'
import {
  isObject,
  type JsonObject,
  kindOf,
  own,
  ownObject,
  ownString,
  pointer,
  type StacDocument,
  schemePlaces,
  wrappedMember,
} from './document.ts'

/** The kinds of targets. */
export type TargetKind = 'asset' | 'alternate' | 'item_asset' | 'link'

/** An asset, an alternate asset, an item asset definition or a link, with its place in the document. */
export interface Target {
  /** The kind of the target. */
  readonly kind: TargetKind
  /** The `href` as written, see {@link hrefIn}; empty when the object has none. */
  readonly href: string
  /** Names of schemes, any one of which gives access; empty without `auth:refs` or for `[]`. */
  readonly refs: readonly string[]
  /** An element of `auth:refs` that is not a name; absent if there is none. With one, the target is not public. */
  readonly malformedRefs?: readonly MalformedRef[]
  /** Pointer of the object, from the root of the parsed text. */
  readonly pointer: string
  /** The document, and the place of the target in it. */
  readonly scope: Scope
  /** The object itself. */
  readonly object: JsonObject
  /** The object that has the `auth:refs`, and its pointer: the main asset for an alternate that inherits them. */
  readonly refsOf: { readonly object: JsonObject; readonly pointer: string }
}

/** The document and position of a target. */
export interface Scope {
  /** The document that carries the target. */
  readonly document: StacDocument
  /** URL of the document; the base of relative URLs. */
  readonly url?: string
  /** Pointer of the document in the text that was read; empty unless it is inside a wrapper. */
  readonly at: string
  /** Documents whose schemes may be used, nearest first: the wrapper, then those from the caller. */
  readonly parents: readonly Parent[]
}

export interface Parent {
  readonly document: StacDocument
  readonly url?: string
}

/** A value in `auth:refs`, or in its place, that names no scheme. */
export interface MalformedRef {
  /** Pointer of the value. */
  readonly pointer: string
  /** The value, as written. */
  readonly value: unknown
}

/** The origin of a document and related documents, from the caller. */
export interface TargetOptions {
  /** Retrieval URL of the document, the base of relative URLs (default: its link `self`). */
  readonly url?: string
  /** Documents whose schemes may be used, nearest first: Collection, Catalog, root. They are never fetched. */
  readonly parents?: readonly object[]
}

/**
 * Returns the asset of that key.
 *
 * Errors: `TARGET_NOT_FOUND` with the keys that the document has.
 *
 * @example const response = await auth.fetch(assetOf(item, 'B04', { url: 'https://catalog.example/items/1' }))
 */
export function assetOf(document: object, key: string, options?: TargetOptions): Target {
  const found = findAsset(document, key, options)
  if (found) return found
  const isRaw = !isObject(document) || 'then' in document || 'json' in document
  const hint = isRaw && 'await and parse it first'
  return refuse('asset', key, own(document, 'assets'), pointer('/assets', key), hint)
}

/**
 * Returns the alternate of that name of the asset of that key.
 *
 * Errors: `TARGET_NOT_FOUND` with the existing keys or names.
 *
 * @example const request = await auth.authorize(alternateOf(item, 'B04', 's3'))
 */
export function alternateOf(document: object, key: string, name: string, options?: TargetOptions): Target {
  const found = findAlternate(document, key, name, options)
  if (found) return found
  const { object } = assetOf(document, key)
  return refuse(`alternate of "${key}"`, name, own(object, 'alternate'), pointer('/assets', key, 'alternate', name))
}

/** Returns the asset of that key, or undefined. */
export function findAsset(document: object, key: string, options?: TargetOptions): Target | undefined {
  const asset = own(own(document, 'assets'), key)
  return isObject(asset) ? targetAt('asset', asset, pointer('/assets', key), scopeOf(document, options)) : undefined
}

/** Returns the alternate of that name of the asset of that key, or undefined. */
export function findAlternate(document: object, key: string, name: string, options?: TargetOptions): Target | undefined {
  const asset = own(own(document, 'assets'), key)
  const alternate = own(own(asset, 'alternate'), name)
  if (!isObject(asset) || !isObject(alternate)) return undefined
  return alternateTarget('alternate', asset, alternate, pointer('/assets', key), name, scopeOf(document, options))
}

/** Maximum number of names in a message. */
const MAX_NAMES = 10

function refuse(what: string, name: string, present: unknown, at: string, otherwise?: string | false): never {
  const names = isObject(present) ? Object.keys(present) : []
  const meant = nearMiss(`${name}`, names)
  const list = names.slice(0, MAX_NAMES).join(', ') + (names.length > MAX_NAMES ? `, … (${names.length} in all)` : '')
  const hint = meant ? `did you mean "${meant}"?` : otherwise
  throw new SelectionError('TARGET_NOT_FOUND', `the document has no ${what} "${name}"; it has ${list || 'none'}`, {
    pointer: at,
    ...(hint && { hint }),
  })
}

/**
 * Returns the link of that relation (the first, or the `index`-th of them, from 0), or undefined.
 *
 * @example const response = await auth.fetch(linkOf(collection, 'items'))
 */
export function linkOf(document: object, rel: string, options?: TargetOptions & { readonly index?: number }): Target | undefined {
  const links = own(document, 'links')
  if (!Array.isArray(links)) return undefined
  let left = options?.index ?? 0
  for (let index = 0; index < links.length; index++) {
    const link = links[index]
    if (ownString(link, 'rel') === rel && left-- === 0) {
      return targetAt('link', link as JsonObject, pointer('/links', index), scopeOf(document, options))
    }
  }
  return undefined
}

/**
 * Returns every target of a document, or of every document in a wrapper: assets and their alternates, item assets, links.
 *
 * @example for (const target of targetsOf(item)) console.log(target.pointer, target.refs)
 */
export function* targetsOf(document: object, options?: TargetOptions): Generator<Target> {
  const scope = scopeOf(document, options)
  yield* targetsIn(scope)
  if (kindOf(document) !== 'wrapper') return
  const member = wrappedMember(document as StacDocument)
  const inner = own(document, member)
  if (!Array.isArray(inner)) return
  for (let index = 0; index < inner.length; index++) {
    if (!isObject(inner[index])) continue
    yield* targetsIn({
      document: inner[index],
      url: options?.url ?? selfOf(inner[index]) ?? scope.url,
      at: pointer('', member, index),
      parents: [scope, ...scope.parents],
    })
  }
}

/** Returns the pointer of a name in the target's `auth:refs`. */
export function refPointer(target: Target, ref: string): string {
  const { object, pointer: at } = target.refsOf
  const refs = own(object, 'auth:refs')
  return Array.isArray(refs) ? pointer(at, 'auth:refs', refs.indexOf(ref)) : pointer(at, 'auth:refs')
}

/** Returns the key of the asset of a target, also of its alternates; undefined for a link. */
export function assetKeyOf({ pointer: at, scope }: Target): string | undefined {
  const [, member, key] = at.slice(scope.at.length).split('/')
  return member === 'assets' || member === 'item_assets' ? key?.replaceAll('~1', '/').replaceAll('~0', '~') : undefined
}

/** A parent that is not in a list counts as the only one. */
function scopeOf(document: object, options: TargetOptions | undefined): Scope {
  const { url = selfOf(document), parents } = options ?? {}
  const known = [parents ?? []].flat().map((parent) => ({ document: parent as StacDocument, url: undefined }))
  return { document: document as StacDocument, url, at: '', parents: known }
}

/**
 * Returns the http(s) URL that a document states as its own; a `file:` URL, for example, would lead to URLs that no href may have. It does
 * not decide what a credential may be sent to: `sendTo` does.
 */
function selfOf(document: object): string | undefined {
  const links = own(document, 'links')
  const self = Array.isArray(links) && links.find((link) => ownString(link, 'rel') === 'self')
  const href = ownString(self, 'href')
  return /^https?:/i.test(href ?? '') ? href : undefined
}

function* targetsIn(scope: Scope): Generator<Target> {
  yield* assetsIn(scope, 'assets', 'asset')
  yield* assetsIn(scope, 'item_assets', 'item_asset')
  const links = own(scope.document, 'links')
  if (!Array.isArray(links)) return
  for (let index = 0; index < links.length; index++) {
    if (isObject(links[index])) yield targetAt('link', links[index], pointer(scope.at, 'links', index), scope)
  }
}

function* assetsIn(scope: Scope, member: 'assets' | 'item_assets', kind: 'asset' | 'item_asset'): Generator<Target> {
  const assets = ownObject(scope.document, member)
  for (const key of Object.keys(assets ?? {})) {
    const asset = own(assets, key)
    if (!isObject(asset)) continue
    const at = pointer(scope.at, member, key)
    yield targetAt(kind, asset, at, scope)
    const alternates = ownObject(asset, 'alternate')
    for (const name of Object.keys(alternates ?? {})) {
      const alternate = own(alternates, name)
      if (isObject(alternate)) yield alternateTarget(kind === 'asset' ? 'alternate' : kind, asset, alternate, at, name, scope)
    }
  }
}

/**
 * True for a target whose document requires authentication, even in a malformed way: only `false` allows
 * a request without credentials.
 */
export function isProtected({ refs, malformedRefs }: Pick<Target, 'refs' | 'malformedRefs'>): boolean {
  return refs.length > 0 || malformedRefs !== undefined
}

/**
 * Returns the `href` of an asset or link as written; that of Azure Storage as the https URL of its account, which is in the URL, or in
 * `table:storage_options` or `xarray:storage_options` of the asset.
 */
export function hrefIn(object: JsonObject): string | undefined {
  const href = ownString(object, 'href')
  if (href === undefined || !/^(?:abfss?|az):/i.test(href)) return href
  const stated = ['table:storage_options', 'xarray:storage_options'].map((name) => own(own(object, name), 'account_name'))
  const [account, ...others] = new Set(stated.filter((name) => name !== undefined))
  return azureUrl(href, others.length === 0 ? account : undefined)
}

function targetAt(kind: TargetKind, object: JsonObject, at: string, scope: Scope): Target {
  return { kind, href: hrefIn(object) ?? '', pointer: at, scope, object, refsOf: { object, pointer: at }, ...readRefs(object, at) }
}

/** Returns an alternate. Without `auth:refs` it inherits those of its asset, but only on the same origin (for `s3:` the same bucket). */
function alternateTarget(kind: TargetKind, asset: JsonObject, alternate: JsonObject, assetAt: string, name: string, scope: Scope): Target {
  const target = targetAt(kind, alternate, pointer(assetAt, 'alternate', name), scope)
  if (Object.hasOwn(alternate, 'auth:refs') || kind !== 'alternate') return target
  const href = hrefIn(asset)
  if (!href || !sameOrigin(href, target.href, scope.url)) return target
  return { ...target, ...readRefs(asset, assetAt), refsOf: { object: asset, pointer: assetAt } }
}

const NOTHING_SAID: Pick<Target, 'refs'> = { refs: [] }

/** Maximum number of alternatives that are checked. */
const MAX_REFS = 100

/**
 * Returns the `auth:refs` of an object: its names without repetitions, at most 100, and an element that is not a name. A single string
 * counts as a list of one. An absent member and an empty list mean that nothing is needed; `null`, `true`, `{}` and `""` do not.
 */
export function readRefs(object: unknown, at: string): Pick<Target, 'refs' | 'malformedRefs'> {
  const value = own(object, 'auth:refs')
  if (value === undefined) return NOTHING_SAID
  if (typeof value === 'string' && value !== '') return { refs: [value] }
  if (!Array.isArray(value)) return { refs: [], malformedRefs: [{ pointer: pointer(at, 'auth:refs'), value }] }
  if (value.every((ref) => typeof ref === 'string')) return { refs: value.length < 2 ? value : [...new Set(value)].slice(0, MAX_REFS) }
  const malformedRefs: MalformedRef[] = []
  for (let index = 0; index < value.length && malformedRefs.length < MAX_REFS; index++) {
    if (typeof value[index] !== 'string') malformedRefs.push({ pointer: pointer(at, 'auth:refs', index), value: value[index] })
  }
  return { refs: [...new Set(value.filter((ref) => typeof ref === 'string'))].slice(0, MAX_REFS), malformedRefs }
}

/** A scheme as found; `value` is unchecked. */
export interface FoundScheme {
  readonly value: unknown
  /** Pointer in the document that contains it. */
  readonly pointer: string
  /** 0 is the target's own document, 1 its first parent and so on. */
  readonly distance: number
  /** The map that contains it: a scheme's own `auth:refs` are looked up there. */
  readonly siblings: JsonObject
  /** URL of the document that contains it. */
  readonly url?: string
}

/** A map of schemes, or the value in its place. */
export interface SchemeMap {
  readonly schemes: unknown
  readonly pointer: string
  readonly distance: number
  readonly url?: string
}

/** Returns all maps of schemes that a target of this scope can refer to, nearest first. `near` is the target itself. */
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

/** Returns the schemes in summaries: they describe a Collection's Items, so they apply to `item_assets` only. */
function summarised({ document, at, url }: Scope): SchemeMap[] {
  if (kindOf(document) !== 'collection') return []
  const summary = own(own(document, 'summaries'), 'auth:schemes')
  if (!Array.isArray(summary)) return []
  return Array.from(summary, (schemes, index) => ({ schemes, pointer: pointer(`${at}/summaries/auth:schemes`, index), distance: 0, url }))
}

/**
 * True for two URLs with the same scheme, host and port, also for schemes with an opaque origin, such as `s3:`; false for an invalid
 * URL.
 *
 * @param base URL of the document that contains both, for relative ones
 */
export function sameOrigin(one: string, other: string, base?: string): boolean {
  if (!canParseUrl(one, base) || !canParseUrl(other, base)) return false
  const [first, second] = [new URL(one, base), new URL(other, base)]
  return first.protocol === second.protocol && first.host === second.host
}

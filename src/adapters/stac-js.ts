/** Targets from objects of stac-js. */
import { isObject, type JsonObject } from '../stac/document.ts'
import { findAlternate, findAsset, linkOf, type Target, type TargetOptions } from '../stac/target.ts'

/** The parts of a stac-js Asset or Link that are used here. */
export interface StacReference {
  /** True for an Asset. `isAsset` and `isLink` are methods in stac-js 0.1, and properties since. */
  readonly isAsset?: boolean | (() => boolean)
  /** True for a Link. */
  readonly isLink?: boolean | (() => boolean)
  /** The relation of a Link. */
  readonly rel?: unknown
  /** Returns the key of an Asset. */
  getKey?(): string | null
  /** The Item, Collection or Catalog that contains it; for an alternate its asset. */
  getContext(): StacEntity | StacReference | null
}

/** The parts of a stac-js Item, Collection or Catalog that are used here. */
export interface StacEntity {
  /** Its Links. */
  readonly links?: unknown
  /** Returns its URL. */
  getAbsoluteUrl(): string | null
  /** Returns the document. */
  toJSON(): object
}

/**
 * Returns the target of a stac-js Asset, alternate Asset or Link; `undefined` for one without a document. URLs are resolved against the URL
 * of their document. Schemes of parent documents (`parents`) apply.
 *
 * @example const response = await auth.fetch(targetOf(item.getAsset('data')))
 */
export function targetOf(
  reference: StacReference | null | undefined,
  { parents }: Pick<TargetOptions, 'parents'> = {},
): Target | undefined {
  const context = reference?.getContext()
  if (!reference || !context) return undefined
  if (!isEntity(context)) return alternateTarget(reference, context, parents)
  const [document, options] = documentOf(context, parents)
  if (isLink(reference)) return linkTarget(reference, context, document, options)
  return findAsset(document, reference.getKey?.() ?? '', options)
}

function alternateTarget(reference: StacReference, asset: StacReference, parents: TargetOptions['parents']): Target | undefined {
  const context = asset.getContext()
  if (!context || !isEntity(context)) return undefined
  const [document, options] = documentOf(context, parents)
  return findAlternate(document, asset.getKey?.() ?? '', reference.getKey?.() ?? '', options)
}

/** Finds a link by its relation and its position among the links of that relation, because links have no key. */
function linkTarget(link: StacReference, { links }: StacEntity, document: object, options: TargetOptions): Target | undefined {
  if (!Array.isArray(links) || typeof link.rel !== 'string') return undefined
  const index = links.filter((other: JsonObject) => other?.rel === link.rel).findIndex((other: unknown) => other === link)
  return index < 0 ? undefined : linkOf(document, link.rel, { ...options, index })
}

function documentOf(entity: StacEntity, parents: TargetOptions['parents']): [document: object, options: TargetOptions] {
  const url = entity.getAbsoluteUrl() ?? undefined
  return [entity.toJSON(), { ...(url !== undefined && { url }), ...(parents && { parents }) }]
}

/**
 * Returns true for an Asset or Link of stac-js.
 *
 * @example if (isReference(asset)) await auth.fetch(targetOf(asset))
 */
export function isReference(value: unknown): value is StacReference {
  return isObject(value) && typeof value.getContext === 'function'
}

function isLink(reference: StacReference): boolean {
  return Boolean(typeof reference.isLink === 'function' ? reference.isLink() : reference.isLink)
}

function isEntity(context: StacEntity | StacReference): context is StacEntity {
  return !('getContext' in context)
}

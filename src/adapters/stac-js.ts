/** Objects of stac-js as targets. */
import type { JsonObject } from '../stac/json.ts'
import { findAlternate, findAsset, linkOf, type Target, type TargetOptions } from '../stac/target.ts'

/** An Asset or Link of stac-js, as far as it matters here. */
export interface StacReference {
  readonly isAsset?: boolean
  readonly isLink?: boolean
  readonly rel?: unknown
  getKey?(): string | null
  /** The Item, Collection or Catalog that it stands in; for an alternate its asset. */
  getContext(): StacEntity | StacReference | null
}

/** Sends axios requests through the engine. */
export interface StacEntity {
  readonly links?: unknown
  getAbsoluteUrl(): string | null
  toJSON(): object
}

/**
 * The target of an Asset, alternate Asset or Link of stac-js; undefined for one that stands in no document. URLs are read as the
 * document states them, relative to where it came from. Documents around it (`parents`) may lend their schemes.
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
  if (reference.isLink) return linkTarget(reference, context, document, options)
  return findAsset(document, reference.getKey?.() ?? '', options)
}

function alternateTarget(reference: StacReference, asset: StacReference, parents: TargetOptions['parents']): Target | undefined {
  const context = asset.getContext()
  if (!context || !isEntity(context)) return undefined
  const [document, options] = documentOf(context, parents)
  return findAlternate(document, asset.getKey?.() ?? '', reference.getKey?.() ?? '', options)
}

/** Links have no key: it is the same one among those of its relation. */
function linkTarget(link: StacReference, { links }: StacEntity, document: object, options: TargetOptions): Target | undefined {
  if (!Array.isArray(links) || typeof link.rel !== 'string') return undefined
  const index = links.filter((other: JsonObject) => other?.rel === link.rel).findIndex((other: unknown) => other === link)
  return index < 0 ? undefined : linkOf(document, link.rel, { ...options, index })
}

function documentOf(entity: StacEntity, parents: TargetOptions['parents']): [document: object, options: TargetOptions] {
  const url = entity.getAbsoluteUrl() ?? undefined
  return [entity.toJSON(), { ...(url !== undefined && { url }), ...(parents && { parents }) }]
}

function isEntity(context: StacEntity | StacReference): context is StacEntity {
  return !('getContext' in context)
}

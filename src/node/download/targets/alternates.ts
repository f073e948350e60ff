/** An asset and its alternates: in which order they are requested, and which of them can be. */
import type { Auth } from '../../../auth/auth.ts'
import { own } from '../../../stac/document.ts'
import { findAlternate, type Target } from '../../../stac/target.ts'

/** The target that a request would go to. */
export interface UsableTarget {
  readonly target: Target
  /** Ids of the credentials of which one would be sent; empty for none. */
  readonly credentials: readonly string[]
}

/** Returns the alternates of the given names and then the asset; without names, the asset and then all of its alternates. */
export function inRequestOrder(asset: Target, alternates: readonly Target[], names: readonly string[] | undefined): readonly Target[] {
  if (!names) return [asset, ...alternates]
  return [...names.flatMap((name) => alternates.filter(({ pointer }) => lastName(pointer) === name)), asset]
}

/** Returns an asset of a single document with its alternates, in the order of {@link inRequestOrder}; any other target alone. */
export function alternativesOf(target: Target, names?: readonly string[]): readonly Target[] {
  if (target.kind !== 'asset') return [target]
  const { document, url, parents } = target.scope
  const options = { parents: parents.map((parent) => parent.document), ...(url !== undefined && { url }) }
  const alternates = Object.keys(own(target.object, 'alternate') ?? {}).flatMap(
    (name) => findAlternate(document, lastName(target.pointer), name, options) ?? [],
  )
  return inRequestOrder(target, alternates, names)
}

/** Returns the first target that needs no credential or has one: `download` requests it first. Sends nothing; undefined if there is none. */
export async function firstUsable(targets: readonly Target[], auth: Pick<Auth, 'explain'>): Promise<UsableTarget | undefined> {
  for (const target of targets) {
    const { refs, code, byAddress } = await auth.explain(target)
    const usable = refs.filter((ref) => ref.code === undefined)
    if (usable.length > 0) return { target, credentials: usable.flatMap(({ credential }) => credential ?? []) }
    if (code !== undefined || refs.length > 0 || byAddress?.code !== undefined) continue
    return { target, credentials: byAddress?.used && byAddress.credential !== undefined ? [byAddress.credential] : [] }
  }
  return undefined
}

/** Returns the last name of a JSON pointer. */
export function lastName(pointer: string): string {
  return pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
}

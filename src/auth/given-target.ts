import { SelectionError } from '../errors.ts'
import type { Target } from '../stac/target.ts'

/** The target that a caller gave. Errors: `TARGET_NOT_FOUND` for what `linkOf` did not find, and for an asset without its document. */
export function givenTarget(target: Target | undefined): Target {
  if (isTarget(target)) return target
  throw isPlainTarget(target)
    ? new SelectionError('TARGET_NOT_FOUND', 'a plain asset or link does not say which document defines its schemes', {
        hint: "use assetOf(item, 'key') or linkOf(item, 'rel')",
      })
    : new SelectionError('TARGET_NOT_FOUND', 'the document has no such asset or link', { hint: 'see targetsOf(document)' })
}

/** True for a target, as `assetOf` and its relatives make it. */
export function isTarget(value: unknown): value is Target {
  return typeof value === 'object' && value !== null && 'refs' in value && 'scope' in value
}

/** True for an asset or a link as it stands in a document. A URL has no `href` of its own. */
export function isPlainTarget(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'href')
}

/** The target of an address below another one (a Zarr chunk, a map tile): the same refs, judged by its own address. */
export function below(target: Target, url: string): Target {
  return { ...target, href: url, kind: 'asset' }
}

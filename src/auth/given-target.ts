import { SelectionError } from '../errors.ts'
import type { Target } from '../stac/target.ts'

/** The target that a caller gave. Errors: `TARGET_NOT_FOUND` for what `linkOf` did not find, and for an asset without its document. */
export function givenTarget(target: Target | undefined): Target {
  if (isTarget(target)) return target
  const [message, hint] = isPlainTarget(target)
    ? ['a plain asset does not say which document it is of', "use assetOf(item, 'key') or linkOf(item, 'rel')"]
    : ['the document has no such asset or link', 'see targetsOf(document)']
  throw new SelectionError('TARGET_NOT_FOUND', message, { hint })
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

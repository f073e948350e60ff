import { SelectionError } from '../errors.ts'
import type { Target } from '../stac/target.ts'

/** The target that a caller gave. Errors: `TARGET_NOT_FOUND` for what `assetOf` did not find. */
export function givenTarget(target: Target | undefined): Target {
  if (isTarget(target)) return target
  throw new SelectionError('TARGET_NOT_FOUND', 'the document has no such asset or link', {
    hint: 'see targetsOf(document)',
  })
}

/** True for a target, as `assetOf` and its relatives make it. */
export function isTarget(value: unknown): value is Target {
  return typeof value === 'object' && value !== null && 'refs' in value && 'scope' in value
}

/** The target of an address below another one (a Zarr chunk, a map tile): the same refs, judged by its own address. */
export function below(target: Target, url: string): Target {
  return { ...target, href: url, kind: 'asset' }
}

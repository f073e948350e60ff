import type { LazyStrategy, Strategy } from '../auth/strategy.ts'
import type { Target } from '../stac/target.ts'
import type { FormModel } from './form-model.ts'

export interface DescribeOptions {
  /** As for `createAuth`. */
  readonly strategies?: readonly (Strategy | LazyStrategy)[]
  /** Origins that the user typed: they may be loopback or private. */
  readonly typed?: readonly string[]
}

/**
 * One form for each scheme that the targets ask for, in the order of their references; schemes that nobody knows are left out. No
 * network. A form says where everything would go, and whether a page can do it at all. Errors: `TARGET_NOT_FOUND` for what `assetOf` did not
 * find.
 */
export async function describeNeeds(
  targets: Target | Iterable<Target> | undefined,
  options: DescribeOptions = {},
): Promise<readonly FormModel[]> {
  const { formModels } = await import('./form-models.ts')
  return formModels(targets, options)
}

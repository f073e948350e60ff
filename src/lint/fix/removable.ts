/** Which schemes that nothing refers to may be taken out: one that something else refers to, or may refer to, stays. */
import type { Problem } from '../problem.ts'
import { childrenOf } from '../rules/unused-scheme.ts'
import { FINDING_LIMIT } from '../runner.ts'

/** Says of a scheme whether other documents may use it. */
export type UsedElsewhere = (scheme: string, document: unknown) => boolean

/** Without knowledge of other documents: whatever stands below a document may use all its schemes. */
export const mayBeUsed: UsedElsewhere = (_scheme, document) => childrenOf(document).length > 0

/**
 * True for a finding `unused-scheme` that can be mended without a loss: the scheme has no error, which may be why nothing refers to
 * it, the document has no `auth:refs` that cannot be read, and all its findings are known.
 */
export function isRemovable({ pointer }: Problem, problems: readonly Problem[]): boolean {
  const errors = problems.filter(({ code, severity }) => severity === 'error' && code !== 'unused-scheme')
  const isBroken = errors.some((error) => error.pointer === pointer || error.pointer.startsWith(`${pointer}/`))
  return !isBroken && !errors.some(({ code }) => code === 'refs-shape') && problems.length < FINDING_LIMIT
}

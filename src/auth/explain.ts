import { type AuthError, isAuthError } from '../errors.ts'
import type { Target } from '../stac/target.ts'
import type { Explanation, RefExplanation } from './auth.ts'
import { Refusal } from './judge.ts'
import type { Selection, Selector } from './select.ts'
import type { Warning } from './strategy.ts'

/** Why a target is or is not reachable, reference by reference; `hindrance` knows what an entry still lacks. */
export async function explain(
  target: Target,
  selector: Selector,
  addressOf: (target: Target) => URL,
  hindrance: (selection: Selection) => Promise<AuthError | undefined>,
): Promise<Explanation> {
  const { pointer, href } = target
  let url: URL
  try {
    url = addressOf(target)
  } catch (error) {
    if (!isAuthError(error)) throw error
    const refs = target.refs.map((ref) => ({ ref, ...reason(error) }))
    return { ...reason(error), pointer, href, refs, warnings: [] }
  }
  const warnings: Warning[] = []
  const refs = await Promise.all(
    target.refs.map(async (ref): Promise<RefExplanation> => {
      const outcome = selector.consider(target, ref, url)
      if (outcome instanceof Refusal) return { ref, ...schemeType(target, ref, selector), ...reason(await outcome.error()) }
      warnings.push(...outcome.warnings)
      const lacking = isLogin(outcome) ? await hindrance(outcome) : undefined
      if (lacking) return { ref, scheme: outcome.type, ...reason(lacking) }
      return { ref, scheme: outcome.type, ...(outcome.choice && { credential: outcome.choice.credential.id }) }
    }),
  )
  return { pointer, href, refs, warnings }
}

/** Entries whose secret is all they need are not asked about. */
function isLogin({ choice }: Selection): boolean {
  return choice !== undefined && (choice.strategy.hindrance ?? choice.credential.with ?? choice.credential.subject) !== undefined
}

function schemeType(target: Target, ref: string, selector: Selector): { scheme?: string } {
  const type = selector.typeOf(target, ref)
  return type === undefined ? {} : { scheme: type }
}

/** Without the entry's id: a reference that names one would be used. */
function reason({ code, message, hint, pointer }: AuthError) {
  return { code, message, ...(hint && { hint }), ...(pointer && { pointer }) }
}

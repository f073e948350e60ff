import { cyclesIn } from '../cycles.ts'
import type { Rule } from '../rule.ts'

/** No scheme waits for itself. */
export const schemeRefCycle: Rule = {
  meta: {
    id: 'scheme-ref-cycle',
    section: 'flows',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { cycle: 'schemes refer to each other: {path}' },
  },
  document({ schemes }, report) {
    for (const { path, pointer } of cyclesIn(schemes)) report(pointer, 'cycle', { path: path.join(' → ') })
  },
}

/** Why the rule exists, for its page. */
export const docs = 'A scheme whose input comes, by whatever way, from itself can never start.'

import { own } from '../../stac/json.ts'
import { nearMiss } from '../../stac/near.ts'
import type { Rule } from '../rule.ts'

/** A scheme refers to schemes beside it. */
export const schemeRefDangling: Rule = {
  meta: {
    id: 'scheme-ref-dangling',
    section: 'flows',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { undefined: 'scheme "{ref}" is not defined' },
    fix: 'suggestion',
  },
  scheme({ value, pointer, map: { value: siblings } }, report) {
    const refs = own(value, 'auth:refs')
    if (!Array.isArray(refs)) return
    for (const [index, ref] of refs.entries()) {
      if (typeof ref !== 'string' || Object.hasOwn(siblings, ref)) continue
      report(`${pointer}/auth:refs/${index}`, 'undefined', { ref, near: nearMiss(ref, Object.keys(siblings)) })
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'The refs of a scheme name other entries of the same map, whose token it needs.'

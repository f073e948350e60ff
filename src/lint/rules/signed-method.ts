import { ownString } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** A signing API is called with GET or POST. */
export const signedMethod: Rule = {
  meta: {
    id: 'signed-method',
    section: 'flows',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { method: 'method must be GET or POST' },
  },
  flow({ value, pointer, scheme }, report) {
    const method = scheme.type === 'signedUrl' ? ownString(value, 'method') : undefined
    if (method !== undefined && !/^(?:get|post)$/i.test(method)) report(`${pointer}/method`, 'method')
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Clients call a signing API with these two methods only.'

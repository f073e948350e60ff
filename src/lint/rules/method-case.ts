import { ownString } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** Methods are written in upper case. */
export const methodCase: Rule = {
  meta: {
    id: 'method-case',
    section: 'flows',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { case: 'write "{upper}"' },
    fix: 'safe',
  },
  flow({ value, pointer, scheme }, report) {
    const method = scheme.type === 'signedUrl' ? ownString(value, 'method') : undefined
    const upper = method?.toUpperCase()
    if (upper !== method && (upper === 'GET' || upper === 'POST')) report(`${pointer}/method`, 'case', { upper })
  },
}

/** Why the rule exists, for its page. */
export const docs = 'HTTP methods are case-sensitive; not every client repairs them.'

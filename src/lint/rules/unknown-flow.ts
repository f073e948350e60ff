import type { Rule } from '../rule.ts'
import { FLOW_NAMES } from '../vocabulary.ts'
import { nearFlow } from './flow-name.ts'

/** Other flows are allowed, and need clients that know them. */
export const unknownFlow: Rule = {
  meta: {
    id: 'unknown-flow',
    section: 'flows',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { unknown: 'clients need a handler for flow "{flow}"' },
  },
  flow(flow, report) {
    const { name, scheme, pointer } = flow
    if (scheme.type !== 'oauth2' || name === '' || (FLOW_NAMES as readonly string[]).includes(name) || nearFlow(flow)) return
    report(pointer, 'unknown', { flow: name })
  },
}

/** Why the rule exists, for its page. */
export const docs = 'The extension defines five flows of OAuth 2.0. Most clients skip any other.'

import { nearMiss } from '../../stac/near.ts'
import type { FlowNode } from '../model.ts'
import type { Rule } from '../rule.ts'
import { FLOW_NAMES } from '../vocabulary.ts'

/** A flow that is almost one of the defined flows is a mistake, not a flow of one's own. */
export const flowName: Rule = {
  meta: {
    id: 'flow-name',
    section: 'flows',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { near: '"{flow}" is not a defined flow' },
    fix: 'suggestion',
  },
  flow(flow, report) {
    const near = nearFlow(flow)
    if (near !== undefined || (flow.name === '' && flow.scheme.type === 'oauth2')) report(flow.pointer, 'near', { flow: flow.name, near })
  },
}

/** The defined flow that a flow's name misses narrowly. */
export function nearFlow({ name, scheme }: FlowNode): string | undefined {
  return scheme.type === 'oauth2' ? nearMiss(name, FLOW_NAMES, ALIASES) : undefined
}

const ALIASES = { accessCode: 'authorizationCode', application: 'clientCredentials' }

/** Why the rule exists, for its page. */
export const docs =
  'Other vocabularies spell the same flows differently (authorization_code, accessCode). Clients of this extension do not know those names.'

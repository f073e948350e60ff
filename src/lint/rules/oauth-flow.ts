import { nearMiss } from '../../text/suggest.ts'
import type { FlowNode } from '../model.ts'
import { FLOW_NAMES } from '../model.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** A flow name that resembles a defined flow is a mistake, not a custom flow. */
const flowName: RuleCase = {
  meta: {
    code: 'flow-name',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { near: '"{flow}" is not a flow of OAuth 2.0 that the extension defines' },
    fix: 'suggestion',
  },
  flow(flow, report) {
    const near = nearestFlow(flow)
    if (near !== undefined || (flow.name === '' && flow.scheme.type === 'oauth2')) report(flow.pointer, 'near', { flow: flow.name, near })
  },
}

/** Returns the defined flow that a misspelt name probably means. */
function nearestFlow({ name, scheme }: FlowNode): string | undefined {
  return scheme.type === 'oauth2' ? nearMiss(name, FLOW_NAMES, ALIASES) : undefined
}

const ALIASES = { accessCode: 'authorizationCode', application: 'clientCredentials' }

/** Custom flows are allowed, but only clients that know them can use them. */
const unknownFlow: RuleCase = {
  meta: {
    code: 'unknown-flow',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { unknown: 'the extension does not define the flow "{flow}", so most clients cannot use it: offer a defined flow, too' },
  },
  flow(flow, report) {
    const { name, scheme, pointer } = flow
    if (scheme.type !== 'oauth2' || name === '' || (FLOW_NAMES as readonly string[]).includes(name) || nearestFlow(flow)) return
    report(pointer, 'unknown', { flow: name })
  },
}

/** New catalogs do not offer flows that current practice advises against. */
const deprecatedFlow: RuleCase = {
  meta: {
    code: 'deprecated-flow',
    severity: { recommended: 'info', strict: 'warn', schema: 'off' },
    messages: { deprecated: 'RFC 9700 advises against the flow "{flow}": offer authorizationCode instead' },
  },
  flow({ name, scheme, pointer }, report) {
    if (scheme.type === 'oauth2' && (name === 'implicit' || name === 'password')) report(pointer, 'deprecated', { flow: name })
  },
}

export const oauthFlow: Rule = {
  meta: { id: 'oauth-flow', section: 'flows' },
  cases: [flowName, unknownFlow, deprecatedFlow],
}

export const docs: RuleDocs = {
  'flow-name': {
    part: 'oauth2-flow-object',
    why: 'Other specifications spell the same flows differently, such as authorization_code or accessCode. Clients of this extension do not know those names and skip the flow.',
    repair: ['Rename the flow as the message suggests.', 'Check that it has the URLs that this flow requires.'],
  },
  'unknown-flow': {
    part: 'oauth2-flow-object',
    why: 'The extension defines five flows of OAuth 2.0; most clients skip any other.',
    repair: [
      'Add one of the defined flows if the service offers it.',
      'Keep the other flow for clients that know it, and explain it in description.',
    ],
  },
  'deprecated-flow': {
    part: 'oauth2-flow-object',
    why: 'The implicit flow puts tokens into URLs, and the password flow gives the password of the user to every client (RFC 9700, sections 2.1.2 and 2.4). Many clients have removed them.',
    repair: [
      'Enable the authorization code flow with PKCE at the provider.',
      'Describe it as authorizationCode, and remove the old flow when no client needs it.',
    ],
  },
}

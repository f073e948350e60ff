import { nearMiss } from '../../text/suggest.ts'
import type { FlowNode } from '../model.ts'
import { FLOW_NAMES } from '../model.ts'
import { rule } from '../rule.ts'

export const oauthFlow = rule('oauth-flow', 'flows', {
  'flow-name': {
    levels: ['error', 'error', 'off'],
    messages: { near: '"{flow}" is not a flow of OAuth 2.0 that the extension defines' },
    fix: 'suggestion',
    flow(flow, report) {
      const near = nearestFlow(flow)
      if (near !== undefined || (flow.name === '' && flow.scheme.type === 'oauth2')) report(flow.pointer, 'near', { flow: flow.name, near })
    },
  },
  'unknown-flow': {
    levels: ['warn', 'warn', 'off'],
    messages: { unknown: 'the extension does not define the flow "{flow}", so most clients cannot use it: offer a defined flow, too' },
    flow(flow, report) {
      const { name, scheme, pointer } = flow
      if (scheme.type !== 'oauth2' || name === '' || isDefined(name) || nearestFlow(flow)) return
      report(pointer, 'unknown', { flow: name })
    },
  },
  'deprecated-flow': {
    levels: ['info', 'warn', 'off'],
    messages: { deprecated: 'RFC 9700 advises against the flow "{flow}": offer authorizationCode instead' },
    flow({ name, scheme, pointer }, report) {
      if (scheme.type === 'oauth2' && (name === 'implicit' || name === 'password')) report(pointer, 'deprecated', { flow: name })
    },
  },
})

function isDefined(name: string): boolean {
  return (FLOW_NAMES as readonly string[]).includes(name)
}

/** Returns the defined flow that a misspelt name probably means. */
function nearestFlow({ name, scheme }: FlowNode): string | undefined {
  return scheme.type === 'oauth2' && !isDefined(name) ? nearMiss(name, FLOW_NAMES, ALIASES) : undefined
}

const ALIASES = { accessCode: 'authorizationCode', application: 'clientCredentials' }

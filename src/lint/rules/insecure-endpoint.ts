import { discoveryUrl, flowEndpoints, isInsecure } from '../address.ts'
import type { Rule } from '../rule.ts'

/** Secrets travel over https. */
export const insecureEndpoint: Rule = {
  meta: {
    id: 'insecure-endpoint',
    section: 'flows',
    severity: { recommended: 'warn', strict: 'error', schema: 'off' },
    messages: { insecure: '{field} must use https' },
    fix: 'suggestion',
  },
  scheme(scheme, report) {
    const url = discoveryUrl(scheme)
    if (url !== undefined && isInsecure(url)) report(`${scheme.pointer}/openIdConnectUrl`, 'insecure', { field: 'openIdConnectUrl' })
  },
  flow(flow, report) {
    for (const { field, address } of flowEndpoints(flow)) if (isInsecure(address)) report(`${flow.pointer}/${field}`, 'insecure', { field })
  },
}

/** Why the rule exists, for its page. */
export const docs =
  'Client secrets, codes and tokens sent over plain http are read by whoever is on the way. Loopback addresses are left out.'

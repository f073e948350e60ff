import { discoveryUrl, flowEndpoints, protocolOf } from '../address.ts'
import type { Rule } from '../rule.ts'

/** Services are reached over https. */
export const urlScheme: Rule = {
  meta: {
    id: 'url-scheme',
    section: 'flows',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { scheme: '{field} must be an https URL' },
  },
  scheme(scheme, report) {
    const url = discoveryUrl(scheme)
    if (url !== undefined && isOther(url)) report(`${scheme.pointer}/openIdConnectUrl`, 'scheme', { field: 'openIdConnectUrl' })
  },
  flow(flow, report) {
    for (const { field, address } of flowEndpoints(flow)) if (isOther(address)) report(`${flow.pointer}/${field}`, 'scheme', { field })
  },
}

function isOther(address: string): boolean {
  const scheme = protocolOf(address)
  return scheme !== undefined && scheme !== 'https' && scheme !== 'http'
}

/** Why the rule exists, for its page. */
export const docs = 'Addresses like javascript: or file: are never opened because a catalog says so.'

import { discoveryUrl, protocolOf } from '../address.ts'
import type { Rule } from '../rule.ts'

/** The address is that of the discovery document. */
export const openidDiscoveryUrl: Rule = {
  meta: {
    id: 'openid-discovery-url',
    section: 'schemes',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { issuer: 'this looks like an issuer, not a discovery document' },
    fix: 'suggestion',
  },
  scheme(scheme, report) {
    const url = discoveryUrl(scheme)
    if (url === undefined || !protocolOf(url)?.startsWith('http') || url.includes('/.well-known/openid-configuration')) return
    report(`${scheme.pointer}/openIdConnectUrl`, 'issuer')
  },
}

/** Why the rule exists, for its page. */
export const docs =
  'Clients read openIdConnectUrl as it stands. The discovery document is at /.well-known/openid-configuration below the issuer.'

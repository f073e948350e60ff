import { protocolOf } from '../address.ts'
import type { Rule } from '../rule.ts'

/** At least one of the schemes can be applied to the address. */
export const schemeHrefMismatch: Rule = {
  meta: {
    id: 'scheme-href-mismatch',
    section: 'references',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { mismatch: '{types} cannot authorize {scheme}: addresses' },
  },
  target(target, report) {
    if (!target.refs?.length || target.href === undefined) return
    const scheme = protocolOf(target.href)
    if (scheme !== 's3' && scheme !== 'file') return
    const { types } = target
    if (types.length === 0 || !types.every((type) => scheme === 'file' || HTTP_ONLY.has(type))) return
    report(`${target.pointer}/auth:refs`, 'mismatch', { types: [...new Set(types)].join(', '), scheme })
  },
}

const HTTP_ONLY = new Set(['http', 'apiKey', 'openIdConnect'])

/** Why the rule exists, for its page. */
export const docs =
  'An HTTP header means nothing to the protocol of s3:, and nothing authorizes a local file. A gs: URL stands for an https URL.'

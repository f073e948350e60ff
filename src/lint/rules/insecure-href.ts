import { isInsecure } from '../address.ts'
import type { Rule } from '../rule.ts'

/** Credentials travel over https. */
export const insecureHref: Rule = {
  meta: {
    id: 'insecure-href',
    section: 'references',
    severity: { recommended: 'warn', strict: 'error', schema: 'off' },
    messages: { insecure: 'credentials would travel unencrypted' },
  },
  target(target, report) {
    if (!target.refs?.length || target.href === undefined || !isInsecure(target.href)) return
    if (target.types.some((type) => SENT.has(type))) report(`${target.pointer}/href`, 'insecure')
  },
}

const SENT = new Set(['http', 'apiKey', 'oauth2', 'openIdConnect'])

/** Why the rule exists, for its page. */
export const docs = 'Whoever is on the way reads keys and tokens sent over plain http. Loopback addresses are left out.'
